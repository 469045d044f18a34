-- Seals: MACs with a secret that stands in a file beside the database and never in it. Whoever recomputes checksums
-- after a change cannot make the seals anew.

-- Each time sealing began, from 1: a new installation, an upgrade, another secret (a restore on another machine).
-- What is older than the newest beginning is proved by checksums alone.
create table siegel_beginn (
  nr         integer primary key,
  am         integer not null,
  geheimnis  blob not null check (length(geheimnis) = 8), -- which secret: its public id
  anlass     text not null check (anlass in ('neu', 'umstellung', 'geheimnis')),
  mac        blob not null check (length(mac) = 32)       -- over this row and the mac of the row before
) strict;

-- Rows of the log name who acted, and say in which form their content is in the checksum: a further column is a
-- further form. At most one of key_id, person and befehl is set.
alter table audit add column form integer not null default 1;
alter table audit add column person text;   -- id of the person who acted with a browser
alter table audit add column befehl text;   -- command of the command line that acted, and by which account
alter table audit add column mac blob;      -- over day, number and checksum; null: not sealed

-- A head is sealed again only where its seal before held: what was altered stays without one.
alter table audit_tag add column mac_ab_nr integer not null default 0; -- rows up to this one are older than the seals
alter table audit_tag add column mac blob;
alter table audit_kopf add column mac blob;

-- In a backup alone: where the log of each day ended when it was copied. Behind that the backup took in what waited in
-- the journal, in an order of its own.
create table audit_kopie (
  tag        integer primary key,
  letzte_nr  integer not null,
  pruefsumme blob not null
) strict;

-- What must never be lost beside the log: final documents, each version of their history, archived PDFs, attachments,
-- in the order in which they came. Not tenant data: one chain for the file.
create table nachweis (
  nr         integer primary key,             -- from 1, without a gap
  tenant_id  integer not null,
  art        text not null check (art in ('beleg', 'verlauf', 'pdf', 'anhang')),
  id         blob not null,                   -- of the document, of the PDF, of the attachment
  beleg_id   blob,                            -- the document of a PDF
  version    integer,                         -- the version of a document in its history
  form       integer not null,                -- which columns are in sha256
  sha256     blob not null check (length(sha256) = 32), -- of what the row in its own table holds
  pruefsumme blob not null check (length(pruefsumme) = 32), -- sha256(the one before, this row)
  mac        blob                             -- over number and checksum; null: not sealed
) strict;
create index nachweis_von on nachweis (tenant_id, id, version);

create table nachweis_kopf (
  id         integer primary key check (id = 1),
  letzte_nr  integer not null,
  pruefsumme blob not null,
  mac_ab_nr  integer not null,                -- rows up to this one are older than the seals
  mac        blob
) strict;
insert into nachweis_kopf (id, letzte_nr, pruefsumme, mac_ab_nr) values (1, 0, zeroblob(32), 0);
