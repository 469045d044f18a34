-- E-invoices of suppliers that were read (D28).

-- The file that a document was made of is an attachment of it. A check and a foreign key cannot be added to a table, so
-- their text changes; no row is touched.
alter table anhang add column beleg_id blob;
pragma writable_schema = on;
update sqlite_schema set sql = replace(replace(sql,
    'check ((kunde_id is null) <> (artikel_id is null))',
    'check ((kunde_id is not null) + (artikel_id is not null) + (beleg_id is not null) = 1)'),
    'foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)',
    'foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)')
  where type = 'table' and name = 'anhang';
-- Reads the schema anew.
pragma writable_schema = reset;
create index anhang_beleg on anhang (tenant_id, beleg_id) where beleg_id is not null;
-- The same file again is the same document.
create index anhang_original on anhang (tenant_id, sha256) where beleg_id is not null;

-- What the lines of a file call their articles, until the document is final and confirms which of ours they are.
create table beleg_lieferanten_nr (
  tenant_id integer not null,
  beleg_id  blob not null,
  position  integer not null check (position > 0),
  nummer    text not null,                -- of the article with the supplier, in lower case
  netto     integer not null,             -- cents: total of the line; a position with another one is another line
  primary key (tenant_id, beleg_id, position),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict, without rowid;

-- Which of our articles a supplier means by a number of his; the last document that confirms one counts.
create table artikel_lieferant (
  tenant_id  integer not null,
  kunde_id   blob not null,
  nummer     text not null,               -- in lower case
  artikel_id blob not null,
  primary key (tenant_id, kunde_id, nummer),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;

-- An invoice names its sender by these; people write them with and without blanks, hyphens and slashes.
create index kunde_ust_id on kunde (tenant_id, replace(upper(ust_id), ' ', '')) where ust_id is not null;
create index kunde_steuernummer on kunde
  (tenant_id, replace(replace(replace(steuernummer, '/', ''), '-', ''), ' ', '')) where steuernummer is not null;
create index kunde_iban on kunde (tenant_id, replace(upper(iban), ' ', '')) where iban is not null;
