-- The documents that may become final when their day is over: looked for every minute and at each start, among all
-- that a company ever wrote.
create index beleg_offen on beleg (tenant_id, beleg_typ, angelegt_am, id) where status = 'offen';
