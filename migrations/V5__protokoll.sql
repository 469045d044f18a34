-- The log names the refusal that a request met (D19).

-- Error code of the answer; null: it was no refusal, or the row is older than this column.
alter table audit add column code text;
-- That of the first request of a flood.
alter table audit_flut add column code text;

-- What was changed by the command line (D27) is kept when the other rows of its day are dropped: the row as it was, with
-- the checksum before it, so that it can still be proved.
create table audit_bleibt (
  nr             integer primary key check (nr > 0), -- from 1, without a gap
  tag            integer not null,
  lfd_nr         integer not null,
  am             integer not null,
  request_id     blob not null check (length(request_id) = 16),
  key_id         text,
  tenant_id      integer,
  adresse        text not null,
  methode        text not null,
  route_id       integer references route (id),
  pfad           text not null,
  status         integer not null,
  dauer_us       integer not null,
  bytes_ein      integer not null,
  bytes_aus      integer not null,
  subjekt        blob,
  anzahl         integer not null,
  person         text,
  befehl         text,
  code           text,
  form           integer not null,
  vor_pruefsumme blob not null,               -- what the row was chained to
  pruefsumme     blob not null,
  mac            blob,                        -- over nr, day, number and checksum; null: not sealed
  unique (tag, lfd_nr)
) strict;
create trigger audit_bleibt_nie_aendern
  before update of nr, tag, lfd_nr, am, tenant_id, pfad, person, befehl, vor_pruefsumme, pruefsumme on audit_bleibt
  begin select raise(abort, 'audit_bleibt is append-only'); end;
create trigger audit_bleibt_nie_loeschen before delete on audit_bleibt
  begin select raise(abort, 'audit_bleibt is append-only'); end;
-- How many rows are kept; sealed with the head of the log where there are any.
alter table audit_kopf add column bleibend integer not null default 0;
