-- What lists of weighings and documents are filtered by.

-- Plates are compared in upper case without blanks and hyphens: M-AB 12 is mab12.
create index wiegung_kennzeichen on wiegung (tenant_id,
    replace(replace(replace(replace(replace(upper(kennzeichen), ' ', ''), '-', ''), 'ä', 'Ä'), 'ö', 'Ö'), 'ü', 'Ü'),
    ts_erst desc, id desc)
  where kennzeichen is not null;
drop index wiegung_artikel;
create index wiegung_artikel on wiegung (tenant_id, artikel_id, ts_erst desc, id desc) where artikel_id is not null;

-- Number, external_ref and fremdbelegnummer, folded. What an older version wrote is folded as far as SQL can.
alter table beleg add column such_text text not null default '';
update beleg set such_text = lower(beleg_nummer || coalesce(char(10) || external_ref, '')
  || coalesce(char(10) || fremdbelegnummer, ''));
-- The order of the list with what is searched in beside it: a list that is searched reads nothing else.
drop index beleg_ordnung;
create index beleg_ordnung
  on beleg (tenant_id, beleg_datum desc, angelegt_am desc, id desc, kunde_id, such_text);
