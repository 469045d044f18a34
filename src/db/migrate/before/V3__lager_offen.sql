-- What positions have booked and no counterpart has met yet (D8). A new document reads what is open of its
-- partner and articles instead of all they ever had; a change forms the pairs anew and writes this anew.
create table lager_offen (
  tenant_id  integer not null references tenant (id),
  kunde_id   blob not null,
  artikel_id blob not null,
  beleg_typ  text not null check (beleg_typ in ('LS', 'RE', 'EL', 'ER')),
  beleg_id   blob not null,
  position   integer not null,
  teil       integer not null,                     -- from 0, in the order in which it is met
  charge_id  blob,                                 -- null: article without batches
  menge      integer not null check (menge > 0),   -- in the article's unit
  primary key (tenant_id, kunde_id, artikel_id, beleg_typ, beleg_id, position, teil),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict, without rowid;

-- Partners and articles whose pairs are older than the table above: the next document forms them anew.
create table lager_neu_bilden (
  tenant_id  integer not null references tenant (id),
  kunde_id   blob not null,
  artikel_id blob not null,
  einkauf    integer not null check (einkauf in (0, 1)), -- purchases (EL, ER) or sales (LS, RE)
  primary key (tenant_id, kunde_id, artikel_id, einkauf)
) strict, without rowid;

insert into lager_neu_bilden (tenant_id, kunde_id, artikel_id, einkauf)
  select distinct b.tenant_id, b.kunde_id, p.artikel_id, b.beleg_typ in ('EL', 'ER')
  from beleg b join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
  where b.beleg_typ in ('LS', 'RE', 'EL', 'ER') and p.lager_buchen = 1 and p.artikel_id is not null;
