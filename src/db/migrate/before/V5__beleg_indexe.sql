-- The documents that may become final when their day is over: looked for every minute and at each start, among all
-- that a company ever wrote.
create index beleg_offen on beleg (tenant_id, beleg_typ, angelegt_am, id) where status = 'offen';

-- Nothing is looked for in these, and articles are never deleted: a document of five articles wrote ten pages more
-- for them. Of movements without a batch nobody looks for the batch.
drop index beleg_position_artikel;
drop index lagerbewegung_artikel;
drop index lagerbewegung_charge;
create index lagerbewegung_charge on lagerbewegung (tenant_id, charge_id, menge) where charge_id is not null;
