-- A wrong supplier's number, best-before date or origin of a batch is corrected (D8). Grows with each correction:
-- If-Match compares it.
alter table charge add column version integer not null default 1;

-- The version of a batch before each correction, and what it was found by then: it still is. Never pruned.
create table charge_verlauf (
  tenant_id         integer not null,
  charge_id         blob not null,
  version           integer not null,          -- from 1
  am                integer not null,
  key_id            text,                      -- null: the command line
  artikel_id        blob not null,
  partner_id        blob,
  fremde_charge_key text,
  mhd               text,
  charge            text not null,             -- JSON of the batch as it was
  primary key (tenant_id, charge_id, version),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id)
) strict;
create index charge_verlauf_fremd on charge_verlauf (tenant_id, artikel_id, partner_id, fremde_charge_key)
  where fremde_charge_key is not null;

create trigger charge_verlauf_nie_aendern before update on charge_verlauf
  begin select raise(abort, 'charge_verlauf is append-only'); end;
create trigger charge_verlauf_nie_loeschen before delete on charge_verlauf
  begin select raise(abort, 'charge_verlauf is append-only'); end;
