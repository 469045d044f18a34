-- Who was named once is found when they ask to be forgotten (D27), and is forgotten however often they were changed.

-- Documents that had another partner before a change: their history names it.
create table beleg_frueherer_kunde (
  tenant_id integer not null,
  kunde_id  blob not null,                    -- the partner before
  beleg_id  blob not null,
  primary key (tenant_id, kunde_id, beleg_id),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict, without rowid;
insert into beleg_frueherer_kunde (tenant_id, kunde_id, beleg_id)
  select distinct v.tenant_id, unhex(replace(v.beleg ->> 'kunde_id', '-', '')), v.beleg_id
  from beleg_verlauf v join beleg b on b.tenant_id = v.tenant_id and b.id = v.beleg_id
  where unhex(replace(v.beleg ->> 'kunde_id', '-', '')) <> b.kunde_id;

-- The batches that a partner had once.
create index charge_verlauf_partner on charge_verlauf (tenant_id, partner_id) where partner_id is not null;

-- Of the changes after an erased one only the newest is looked at: it is the one that forgets.
drop trigger kunde_verlauf_nie_aendern;
create trigger kunde_verlauf_nie_aendern before update on kunde_verlauf
  when new.felder <> '[]'
    or (new.tenant_id, new.kunde_id, new.version, new.am, new.key_id, new.sha256)
      is not (old.tenant_id, old.kunde_id, old.version, old.am, old.key_id, old.sha256)
    or not exists (select 1 from kunde_verlauf v, json_each(v.felder) f
      where v.tenant_id = old.tenant_id and v.kunde_id = old.kunde_id and v.version > old.version
        and v.version = (select max(n.version) from kunde_verlauf n
          where n.tenant_id = old.tenant_id and n.kunde_id = old.kunde_id)
        and f.value ->> 'feld' = 'anhaenge')
  begin select raise(abort, 'kunde_verlauf is append-only'); end;
