-- Batches of an article with stock and those without, each in the order in which they leave (D8, fefo): whoever looks
-- for stock does not walk over what was sold long ago.
create index charge_vorrat on charge (tenant_id, artikel_id, bestand > 0, mhd is null, mhd, id);
