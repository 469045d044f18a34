-- By type first: whether anything at all is open that a new document could meet is one look instead of one for
-- each of its articles. No foreign keys: it follows from documents, which are never deleted, and `check` compares
-- it with them; each row looked both of its references up.
create table lager_offen_nach_typ (
  tenant_id  integer not null,
  kunde_id   blob not null,
  beleg_typ  text not null check (beleg_typ = 'LS' or beleg_typ = 'RE' or beleg_typ = 'EL' or beleg_typ = 'ER'),
  artikel_id blob not null,
  beleg_id   blob not null,
  position   integer not null,
  teil       integer not null,                     -- from 0, in the order in which it is met
  charge_id  blob,                                 -- null: article without batches
  menge      integer not null check (menge > 0),   -- in the article's unit
  primary key (tenant_id, kunde_id, beleg_typ, artikel_id, beleg_id, position, teil)
) strict, without rowid;

insert into lager_offen_nach_typ
  select tenant_id, kunde_id, beleg_typ, artikel_id, beleg_id, position, teil, charge_id, menge from lager_offen
  order by tenant_id, kunde_id, beleg_typ, artikel_id, beleg_id, position, teil;
drop table lager_offen;
alter table lager_offen_nach_typ rename to lager_offen;
