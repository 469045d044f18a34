-- The positions of a document in its history (D4), stored once for all versions that have the same ones: those of a
-- version are the ones with the largest version up to it. A version that was kept before this table was there has its
-- positions in beleg_verlauf.beleg, and none here up to it. Never pruned.
create table beleg_verlauf_positionen (
  tenant_id  integer not null,
  beleg_id   blob not null,
  version    integer not null,                 -- the first one that has them
  positionen text not null,                    -- JSON
  primary key (tenant_id, beleg_id, version),
  foreign key (tenant_id, beleg_id, version) references beleg_verlauf (tenant_id, beleg_id, version)
) strict;

create trigger beleg_verlauf_positionen_nie_aendern before update on beleg_verlauf_positionen
  begin select raise(abort, 'beleg_verlauf_positionen is append-only'); end;
create trigger beleg_verlauf_positionen_nie_loeschen before delete on beleg_verlauf_positionen
  begin select raise(abort, 'beleg_verlauf_positionen is append-only'); end;
