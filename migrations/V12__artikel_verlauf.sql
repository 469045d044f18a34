-- What changed in articles and their tiers, when, and who changed it. Imports alone change them (D22).

-- The fields that a change touched. Append-only, never pruned.
create table artikel_verlauf (
  tenant_id  integer not null,
  artikel_id blob not null,
  nr         integer not null check (nr > 0), -- of the change, from 1 for each article
  am         integer not null,
  key_id     text,                            -- `person` and a number; null: the command line
  felder     text not null,                   -- JSON: a list of {feld, alt, neu}
  primary key (tenant_id, artikel_id, nr),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;
create trigger artikel_verlauf_nie_aendern before update on artikel_verlauf
  begin select raise(abort, 'artikel_verlauf is append-only'); end;
create trigger artikel_verlauf_nie_loeschen before delete on artikel_verlauf
  begin select raise(abort, 'artikel_verlauf is append-only'); end;
