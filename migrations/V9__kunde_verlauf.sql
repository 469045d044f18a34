-- What changed in the master data of partners, when, and who changed it.

-- The fields of a partner that a change touched. Append-only, never pruned. The chain of evidence has the sha256, not
-- the text: what is erased for a person one day leaves the chain whole.
create table kunde_verlauf (
  tenant_id integer not null,
  kunde_id  blob not null,
  version   integer not null check (version > 1), -- the version that the change made
  am        integer not null,
  key_id    text,                                 -- or `person` and a number; null: the command line
  felder    text not null,                        -- JSON: a list of {feld, alt, neu}
  sha256    blob not null check (length(sha256) = 32), -- of felder
  primary key (tenant_id, kunde_id, version),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id)
) strict, without rowid;
create trigger kunde_verlauf_nie_aendern before update on kunde_verlauf
  begin select raise(abort, 'kunde_verlauf is append-only'); end;
create trigger kunde_verlauf_nie_loeschen before delete on kunde_verlauf
  begin select raise(abort, 'kunde_verlauf is append-only'); end;

-- A check cannot be changed, so its text is; no row is touched.
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql, '''anhang'')', '''anhang'', ''kunde'')')
  where type = 'table' and name = 'nachweis';
-- Reads the schema anew.
pragma writable_schema = reset;
