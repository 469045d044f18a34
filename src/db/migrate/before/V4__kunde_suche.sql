-- What customers are searched in, 64 to a row: to look through a hundred thousand of them, or to count them, is to
-- read 1,600 rows.
create table kunde_suche (
  tenant_id integer not null references tenant (id),
  block     integer not null,                  -- kunden_id / 64
  anzahl    integer not null check (anzahl between 1 and 64),
  texte     text not null,                     -- of each customer: kunden_id, U+001F, such_text, U+001E
  primary key (tenant_id, block)
) strict;

-- (The order comes from a subquery: Debian's sqlite3 could not read a schema with group_concat(… order by …).)
insert into kunde_suche (tenant_id, block, anzahl, texte)
  select b.tenant_id, b.block, b.anzahl,
    (select group_concat(text, '') from
       (select kunden_id || char(31) || such_text || char(30) as text from kunde
        where tenant_id = b.tenant_id and kunden_id between b.block * 64 and b.block * 64 + 63 order by kunden_id))
  from (select tenant_id, kunden_id / 64 as block, count(*) as anzahl from kunde group by 1, 2) b;

create trigger kunde_suche_neu after insert on kunde begin
  insert into kunde_suche (tenant_id, block, anzahl, texte)
    values (new.tenant_id, new.kunden_id / 64, 1, new.kunden_id || char(31) || new.such_text || char(30))
    on conflict (tenant_id, block) do update set anzahl = anzahl + 1, texte = texte || excluded.texte;
end;
create trigger kunde_suche_aendern after update of such_text on kunde when new.such_text <> old.such_text begin
  update kunde_suche set texte =
    (select group_concat(text, '') from
       (select kunden_id || char(31) || such_text || char(30) as text from kunde
        where tenant_id = new.tenant_id
          and kunden_id between new.kunden_id / 64 * 64 and new.kunden_id / 64 * 64 + 63 order by kunden_id))
    where tenant_id = new.tenant_id and block = new.kunden_id / 64;
end;

-- The order of the list with what is searched in beside it: a list that is searched reads nothing else.
drop index kunde_ordnung;
create index kunde_ordnung on kunde (tenant_id, kundennr_sort, id, such_text);
drop index artikel_ordnung;
create index artikel_ordnung on artikel (tenant_id, status, artikelnummer_sort, id, such_text);
