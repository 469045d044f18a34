-- Test companies: what they make is marked, and they can be emptied. A company is one from its creation on, or never.

alter table tenant add column test integer not null default 0 check (test in (0, 1));
-- The seal that says so: of a company without it nothing may be missing. Null: not sealed, or no test company.
alter table tenant add column test_mac blob;
create trigger tenant_test_bleibt before update of id, test on tenant
  when new.test <> old.test or new.id <> old.id
  begin select raise(abort, 'a company is a test company from its creation on, or never'); end;
create trigger tenant_nie_loeschen before delete on tenant
  begin select raise(abort, 'companies are never deleted'); end;
