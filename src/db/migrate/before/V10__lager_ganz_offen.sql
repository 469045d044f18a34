-- Documents of which everything is open, each with what its positions say. One row for a document instead of one for
-- each position in lager_offen, where a document of five positions changed three pages: most of what is open is never
-- met. When something comes that could meet it, it is spread over lager_offen.
create table lager_ganz_offen (
  tenant_id integer not null,
  kunde_id  blob not null,
  beleg_typ text not null check (beleg_typ = 'LS' or beleg_typ = 'RE' or beleg_typ = 'EL' or beleg_typ = 'ER'),
  beleg_id  blob not null,
  primary key (tenant_id, kunde_id, beleg_typ, beleg_id)
) strict, without rowid;
