-- The feed of changes (D28): what integrators follow instead of reading all lists again and again.

-- What changed, in the order of commits. Numbers are those of a company, from 1 and without a gap; the newest row of
-- each company is kept, so that no number is given twice.
create table aenderung (
  tenant_id integer not null references tenant (id),
  nr        integer not null check (nr > 0),
  art       text not null,                    -- kind of the record, and its table
  id        blob not null,                    -- of the record
  nummer    text,                             -- its number then
  aktion    text not null,                    -- what happened, or the state that it came to
  am        integer not null,                 -- milliseconds since 1970
  version   integer,                          -- null: records of this kind have none
  primary key (tenant_id, nr)
) strict, without rowid;

-- Tells this database from the one before a restore, in cursors; without a row there was no restore.
create table aenderung_epoche (
  id     integer primary key check (id = 1),
  epoche integer not null
) strict;
