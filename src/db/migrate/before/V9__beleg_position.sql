-- Nothing looks a position up by its id: it is found by its document and its number. The ids are random enough to be
-- unique, and to see to it cost a document of five positions five entries and six pages of every commit.
create table beleg_position_neu (
  tenant_id        integer not null,
  id               blob not null check (length(id) = 16),
  beleg_id         blob not null,
  position         integer not null,           -- from 1
  artikel_id       blob,
  bezeichnung      text,
  bezeichnung2     text,
  langtext         text,
  menge            integer not null,           -- in einheit
  einheit          text,
  ep_netto         integer not null,           -- net unit price before discount
  rabatt_prozent   integer not null check (rabatt_prozent between 0 and 100000000),
  mwst_satz        integer not null check (mwst_satz between 0 and 100000000),
  satz_gesendet    integer not null check (satz_gesendet in (0, 1)), -- the request named the rate
  gesamtpreis      integer not null,
  charge_id        blob,                       -- the one batch that covers it
  charge_gesendet  integer not null check (charge_gesendet in (0, 1)), -- charge_id was named, not inherited
  fremde_charge_nr text,                       -- batch information as sent, purchase only
  mhd              text,
  herkunftsland    text,
  biozertifikat_id integer,
  lager_buchen     integer not null check (lager_buchen in (0, 1)), -- takes part in the stock
  lager_menge      integer,                    -- menge in the article's unit; null without article
  bezug_beleg_id   blob,                       -- pairs with this document alone
  wiegung_id       blob,
  kontrakt_id      blob,
  kontrakt_position_id blob,
  kostenstelle     text,
  niederlassung_id integer,
  lagerhalle_id    integer,
  primary key (tenant_id, beleg_id, position), -- the positions of a document lie together
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id),
  foreign key (tenant_id, biozertifikat_id) references biozertifikat (tenant_id, id),
  foreign key (tenant_id, bezug_beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, wiegung_id) references wiegung (tenant_id, id),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id),
  foreign key (tenant_id, kontrakt_id, kontrakt_position_id) references kontrakt_position (tenant_id, kontrakt_id, id)
) strict, without rowid;

insert into beleg_position_neu
  select * from beleg_position order by tenant_id, beleg_id, position;
drop table beleg_position;
alter table beleg_position_neu rename to beleg_position;

create index beleg_position_charge on beleg_position (tenant_id, charge_id) where charge_id is not null;
create index beleg_position_wiegung on beleg_position (tenant_id, wiegung_id) where wiegung_id is not null;
create index beleg_position_bezug on beleg_position (tenant_id, bezug_beleg_id) where bezug_beleg_id is not null;
create index beleg_position_kontrakt on beleg_position (tenant_id, kontrakt_id) where kontrakt_id is not null;

create trigger beleg_position_neu before insert on beleg_position
  when (select status from beleg where tenant_id = new.tenant_id and id = new.beleg_id) <> 'offen'
  begin select raise(abort, 'a finalised document never changes'); end;
create trigger beleg_position_aendern before update on beleg_position
  when (select status from beleg where tenant_id = old.tenant_id and id = old.beleg_id) <> 'offen'
    or (select status from beleg where tenant_id = new.tenant_id and id = new.beleg_id) <> 'offen'
  begin select raise(abort, 'a finalised document never changes'); end;
create trigger beleg_position_loeschen before delete on beleg_position
  when (select status from beleg where tenant_id = old.tenant_id and id = old.beleg_id) <> 'offen'
  begin select raise(abort, 'a finalised document never changes'); end;
