-- Pairs are facts (D8): what a request paired stays until one of the positions is withdrawn. Until now the pairs of a
-- partner and an article were formed anew from all documents. Movements stay as they are; the pairs they came from are
-- written down by the program right after this migration, in the same transaction.
drop table lager_offen;
drop table lager_ganz_offen;
drop table lager_neu_bilden;

-- What a position has moved and no counterpart has met. No foreign keys here and below: it follows from documents,
-- which are never deleted, and `check` compares it with them.
create table lager_offen (
  tenant_id  integer not null,
  kunde_id   blob not null,
  beleg_typ  text not null check (beleg_typ = 'LS' or beleg_typ = 'RE' or beleg_typ = 'EL' or beleg_typ = 'ER'),
  artikel_id blob not null,
  ist_genannt integer not null,                    -- apart, so that who names a batch walks over no other
  beleg_id   blob not null,
  position   integer not null,
  nr         integer not null,                     -- goods of one position are met in the order in which they were moved
  charge_id  blob,                                 -- null: article without batches
  genannt_id blob,                                 -- the batch that the position named; an inherited one is not named
  menge      integer not null check (menge > 0),   -- in the article's unit
  primary key (tenant_id, kunde_id, beleg_typ, artikel_id, ist_genannt, beleg_id, position, nr),
  check (ist_genannt = (genannt_id is not null))
) strict, without rowid;
create index lager_offen_genannt
  on lager_offen (tenant_id, kunde_id, beleg_typ, artikel_id, genannt_id, beleg_id, position, nr)
  where genannt_id is not null;
create index lager_offen_charge
  on lager_offen (tenant_id, kunde_id, beleg_typ, artikel_id, charge_id, beleg_id, position, nr)
  where charge_id is not null;

-- New documents of which everything is open, each with what its positions say: one row for a document instead of one
-- for each position in lager_offen, for most of what is open is never met. When something comes that could meet it, or
-- when there are many lines, they are spread over lager_offen.
create table lager_neu (
  tenant_id integer not null,
  kunde_id  blob not null,
  beleg_typ text not null check (beleg_typ = 'LS' or beleg_typ = 'RE' or beleg_typ = 'EL' or beleg_typ = 'ER'),
  beleg_id  blob not null,
  zeilen    integer not null,                      -- its lines and those of the documents before it
  primary key (tenant_id, kunde_id, beleg_typ, beleg_id)
) strict, without rowid;

-- Goods of which several positions speak, or for which a return or a credit waits.
create table lager_paar (
  id                   integer primary key,
  tenant_id            integer not null,
  kunde_id             blob not null,
  einkauf              integer not null check (einkauf = 0 or einkauf = 1), -- EL and ER, or LS and RE
  artikel_id           blob not null,
  art                  text not null,
  lieferung_id         blob,
  lieferung_position   integer,
  rechnung_id          blob,
  rechnung_position    integer,
  rueckgabe_id         blob,
  rueckgabe_position   integer,
  gutschrift_id        blob,
  gutschrift_position  integer,
  nr                   integer not null,           -- as in lager_offen
  charge_id            blob,                       -- null: article without batches, or a credit that has moved nothing
  genannt_id           blob,                       -- the batch that its positions named, if one did
  menge                integer not null check (menge > 0), -- in the article's unit
  bewegt_von           text check (bewegt_von = 'lieferung' or bewegt_von = 'rechnung'),   -- who moved the goods
  zurueck_von          text check (zurueck_von = 'rueckgabe' or zurueck_von = 'gutschrift'), -- who moved them back
  check ((lieferung_id is null) = (lieferung_position is null)),
  check ((rechnung_id is null) = (rechnung_position is null)),
  check ((rueckgabe_id is null) = (rueckgabe_position is null)),
  check ((gutschrift_id is null) = (gutschrift_position is null)),
  check (bewegt_von is null or iif(bewegt_von = 'lieferung', lieferung_id, rechnung_id) is not null),
  check (zurueck_von is null or iif(zurueck_von = 'rueckgabe', rueckgabe_id, gutschrift_id) is not null),
  check (art = case
    when gutschrift_id is not null and rueckgabe_id is not null then 'erledigt'       -- return and credit have met
    when gutschrift_id is not null and rechnung_id is not null and zurueck_von is null
      then 'aufgehoben'                            -- a credit took back what a delivery covered: nothing moved
    when gutschrift_id is not null then 'gutschrift'                                  -- a credit waits for its return
    when rueckgabe_id is not null and lieferung_id is not null then 'zurueckgenommen' -- a return took back a delivery
    when rueckgabe_id is not null then 'rueckgabe'                                    -- a return waits for its credit
    else 'paar' end)                               -- delivery and invoice have met
) strict;
-- As in lager_offen, those that name a batch stand apart, and once more by their batch.
create index lager_paar_paare
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, genannt_id is not null, rechnung_id, rechnung_position)
  where art = 'paar';
create index lager_paar_paare_genannt
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, genannt_id, rechnung_id, rechnung_position)
  where art = 'paar' and genannt_id is not null;
create index lager_paar_rueckgaben
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, rueckgabe_id, rueckgabe_position)
  where art = 'rueckgabe';
create index lager_paar_gutschriften
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, gutschrift_id, gutschrift_position)
  where art = 'gutschrift';
create index lager_paar_lieferung on lager_paar (tenant_id, lieferung_id, lieferung_position)
  where lieferung_id is not null;
create index lager_paar_rechnung on lager_paar (tenant_id, rechnung_id, rechnung_position)
  where rechnung_id is not null;
create index lager_paar_rueckgabe on lager_paar (tenant_id, rueckgabe_id, rueckgabe_position)
  where rueckgabe_id is not null;
create index lager_paar_gutschrift on lager_paar (tenant_id, gutschrift_id, gutschrift_position)
  where gutschrift_id is not null;
