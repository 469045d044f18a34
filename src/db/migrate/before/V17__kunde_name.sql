-- A customer with the same name and place is looked for whenever one is added. Without regard to the case of A to Z:
-- more folding SQLite has not.
drop index kunde_name;
create index kunde_name on kunde (tenant_id, nachname_firma collate nocase, ort collate nocase);
