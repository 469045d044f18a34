-- A partner can be forgotten (GDPR art. 17, D27): what changes of its master data said is erased then, and nothing else.
-- The sha256 of an erased change stays, so that the chain of evidence stays whole. Erased is only what stands before a
-- change that says that the partner was forgotten: the one that names the erased attachments.
drop trigger kunde_verlauf_nie_aendern;
create trigger kunde_verlauf_nie_aendern before update on kunde_verlauf
  when new.felder <> '[]'
    or (new.tenant_id, new.kunde_id, new.version, new.am, new.key_id, new.sha256)
      is not (old.tenant_id, old.kunde_id, old.version, old.am, old.key_id, old.sha256)
    or not exists (select 1 from kunde_verlauf v, json_each(v.felder) f
      where v.tenant_id = old.tenant_id and v.kunde_id = old.kunde_id and v.version > old.version
        and f.value ->> 'feld' = 'anhaenge')
  begin select raise(abort, 'kunde_verlauf is append-only'); end;
