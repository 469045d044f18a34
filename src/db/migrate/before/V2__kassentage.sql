-- The lines of each cash day, kept as receipts are stored: a list of ten million lines counts them and finds
-- its way to a late page by days instead of by lines.
create table kassentag (
  tenant_id integer not null references tenant (id),
  datum     text not null,                        -- cash day in Berlin
  art       text not null check (art in ('verkauf', 'storno')),
  zeilen    integer not null check (zeilen >= 0), -- lines of all receipts of this day and kind
  primary key (tenant_id, datum, art)
) strict, without rowid;

insert into kassentag (tenant_id, datum, art, zeilen)
  select tenant_id, datum, art, sum(zeilen) from bon group by tenant_id, datum, art;

create trigger kassentag_neu after insert on bon begin
  insert into kassentag (tenant_id, datum, art, zeilen) values (new.tenant_id, new.datum, new.art, new.zeilen)
    on conflict (tenant_id, datum, art) do update set zeilen = zeilen + new.zeilen;
end;
create trigger kassentag_aendern after update of datum, art, zeilen on bon begin
  update kassentag set zeilen = zeilen - old.zeilen
    where tenant_id = old.tenant_id and datum = old.datum and art = old.art;
  insert into kassentag (tenant_id, datum, art, zeilen) values (new.tenant_id, new.datum, new.art, new.zeilen)
    on conflict (tenant_id, datum, art) do update set zeilen = zeilen + new.zeilen;
end;
create trigger kassentag_loeschen after delete on bon begin
  update kassentag set zeilen = zeilen - old.zeilen
    where tenant_id = old.tenant_id and datum = old.datum and art = old.art;
end;
