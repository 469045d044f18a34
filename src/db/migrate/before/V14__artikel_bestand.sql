-- The stock of each article: the sum of its movements, with and without a batch, kept with each of them. To add them
-- up is to walk the history of the article.
create table artikel_bestand (
  tenant_id  integer not null,
  artikel_id blob not null,
  bestand    integer not null,                 -- in the article's unit
  primary key (tenant_id, artikel_id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;

insert into artikel_bestand (tenant_id, artikel_id, bestand)
  select tenant_id, artikel_id, sum(menge) from lagerbewegung group by tenant_id, artikel_id;
