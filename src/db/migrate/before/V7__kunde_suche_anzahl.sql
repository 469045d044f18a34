-- To count customers without reading their texts.
create index kunde_suche_anzahl on kunde_suche (tenant_id, anzahl);
