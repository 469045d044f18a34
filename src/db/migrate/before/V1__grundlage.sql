-- The whole schema of the first version. It reads as a document, from the outside in:
-- the installation, companies and keys, the audit log, master data, batches and stock,
-- weighings, documents, the cash register.
--
-- Conventions
--   * Every business table begins with tenant_id, and its key is (tenant_id, id): a link across
--     companies is refused by the foreign key itself.
--   * id is a uuid of version 7 as 16 bytes: ids grow in the order of creation.
--   * Money is an integer of cents. Quantities, weights, unit prices and percentages are
--     integers of millionths: 12.5 is 12500000.
--   * Instants (…_am, ts_…) are integers of milliseconds since 1970-01-01T00:00Z.
--     Calendar days are texts 'YYYY-MM-DD', days in Berlin.
--   * Booleans are 0 and 1. NULL means: not known, not sent.
--   * …_key columns hold the folded text that makes a number or a name unique; such_text is
--     what a search looks in; …_sort is the natural order of a number.

------------------------------------------------------------------------------------------------
-- The installation
------------------------------------------------------------------------------------------------

create table installation (
  id          integer primary key check (id = 1),
  mac_secret  blob not null check (length(mac_secret) = 32), -- keys end in a MAC made with this
  angelegt_am integer not null
) strict;

------------------------------------------------------------------------------------------------
-- Companies and keys
------------------------------------------------------------------------------------------------

-- A company, and its settings, a column each. `partnerd tenant set` changes them.
create table tenant (
  id           integer primary key,
  name         text not null unique,
  angelegt_am  integer not null,
  -- D7: sales abroad are free of tax by themselves
  steuer_ausland_automatik integer not null default 0 check (steuer_ausland_automatik in (0, 1)),
  -- D8: purchase orders of batch-tracked articles need no batch information
  bestellung_ohne_charge   integer not null default 0 check (bestellung_ohne_charge in (0, 1)),
  -- D8: 'lieferung': invoices never move stock
  lagerbuchung             text not null default 'beleg' check (lagerbuchung in ('beleg', 'lieferung')),
  -- D8: 'fefo': sales items without a batch take those that expire first
  charge_automatik         text not null default 'aus' check (charge_automatik in ('aus', 'fefo')),
  -- D8: what happens when more of a batch is sold than there is
  negativbestand           text not null default 'hinweis' check (negativbestand in ('hinweis', 'ablehnen')),
  -- D4: documents dated up to this day are neither created nor changed
  gesperrt_bis             text,
  -- D4: types that are finalised when they are created, separated by blanks
  abschluss_bei_anlage     text not null default '',
  -- D4: types that are finalised at the end of the Berlin day on which they were created
  abschluss_tagesende      text not null default 'RE',
  -- D18: what happens to parameters and fields that nobody knows
  unbekannte_parameter     text not null default 'ablehnen' check (unbekannte_parameter in ('ablehnen', 'ignorieren')),
  unbekannte_felder        text not null default 'hinweis' check (unbekannte_felder in ('hinweis', 'ablehnen'))
) strict;

-- An API key. The secret itself is stored nowhere.
create table api_key (
  id            text primary key,             -- the public part: ak_<id>_<secret>
  tenant_id     integer not null references tenant (id),
  bezeichnung   text not null,
  scopes        text not null,                -- separated by blanks
  hash          text not null,                -- argon2id of the whole key, PHC format
  aktiv         integer not null default 1 check (aktiv in (0, 1)),
  gueltig_bis   text,                         -- last day (UTC) on which it is accepted
  tageslimit    integer check (tageslimit > 0), -- requests per UTC day; null: 10,000 (D20)
  angelegt_am   integer not null
) strict, without rowid;

-- What a key was last used for, for `key list`; the limit itself is counted from the audit log.
create table api_key_nutzung (
  key_id        text primary key references api_key (id),
  tag           integer not null,             -- the UTC day, in days since 1970
  anfragen      integer not null,             -- requests on that day
  zuletzt_am    integer not null
) strict, without rowid;

-- Answers to POSTs with an Idempotency-Key (D19), kept for 7 days.
create table idempotenz (
  tenant_id      integer not null references tenant (id),
  key_id         text not null references api_key (id),
  schluessel     text not null,               -- the Idempotency-Key
  anfrage_sha256 blob not null check (length(anfrage_sha256) = 32), -- path and body
  status         integer not null,
  subjekt        blob,
  am             integer not null,
  antwort        blob not null                -- last: what stands behind a blob is read through it
) strict;
create unique index idempotenz_schluessel on idempotenz (tenant_id, key_id, schluessel);
create index idempotenz_alter on idempotenz (tenant_id, am);

-- Business numbers: the last one given, per series and year (D5).
create table nummernkreis (
  tenant_id  integer not null references tenant (id),
  reihe      text not null,                   -- AN AU LS RE BS EL ER WS CH PA AS
  jahr       integer not null,
  letzte     integer not null check (letzte > 0),
  primary key (tenant_id, reihe, jahr)
) strict, without rowid;

------------------------------------------------------------------------------------------------
-- The audit log: one row for every answered request. Not tenant data: it is the operator's.
-- Rows are only added, and dropped from the oldest on after 90 days.
------------------------------------------------------------------------------------------------

-- Routes by number, so that a row of the log stays small.
create table route (
  id       integer primary key,
  methode  text not null,
  muster   text not null,                     -- /api/v1/kunden/{id}
  unique (methode, muster)
) strict;

create table audit (
  tag            integer not null,            -- day since 1970-01-01, UTC
  lfd_nr         integer not null,            -- from 1 on each day
  am             integer not null,            -- when the request arrived
  request_id     blob not null check (length(request_id) = 16),
  key_id         text,                        -- null: no valid key
  tenant_id      integer,
  adresse        text not null,
  methode        text not null,
  route_id       integer references route (id), -- null: no such path
  pfad           text not null,               -- without the query: nothing secret
  status         integer not null,
  dauer_us       integer not null,
  bytes_ein      integer not null,
  bytes_aus      integer not null,
  subjekt        blob,                        -- id of the record that was written or read
  anzahl         integer not null,            -- requests that the row stands for: more than 1 for a flood
  pruefsumme     blob not null,               -- sha256(that of the row before on this day, content)
  primary key (tag, lfd_nr)
) strict, without rowid;

-- The head of each day's chain of checksums.
create table audit_tag (
  tag            integer primary key,
  vortag         integer,                     -- the day that was begun before this one; null: the first
  letzte_nr      integer not null,
  pruefsumme     blob not null,               -- that of the last row
  ab_nr          integer not null,            -- last row that was dropped; 0: none
  ab_pruefsumme  blob not null                -- what the first row that is left is chained to
) strict;

create table audit_kopf (
  id             integer primary key check (id = 1),
  letzter_tag    integer not null,            -- the day that was begun last
  geloescht_bis  integer                      -- days up to this one were dropped
) strict;

-- Refused requests of addresses and keys that send too many, in a minute that is not over: one row
-- each then goes into the log.
create table audit_flut (
  adresse        text not null,               -- or the network of IPv6 addresses
  key_id         text not null,               -- blank: no valid key
  tenant_id      integer,
  minute         integer not null,            -- minutes since 1970
  anzahl         integer not null,
  am             integer not null,            -- of the first
  request_id     blob not null,
  methode        text not null,
  pfad           text not null,
  status         integer not null,
  primary key (adresse, key_id, minute)
) strict, without rowid;

-- Rows of reads wait in journal files beside the database; this is the last one taken in.
create table audit_journal (
  id              integer primary key check (id = 1),
  letztes_segment integer not null
) strict;

------------------------------------------------------------------------------------------------
-- Master data
------------------------------------------------------------------------------------------------

-- Tax rates by date as the law has them; a new company gets a copy it can extend.
create table steuersatz_vorlage (
  schluessel   text not null,                 -- normal, ermaessigt, pauschal_24, frei
  gueltig_von  text not null,
  gueltig_bis  text,                          -- last day; null: until further notice
  bezeichnung  text not null,
  satz         integer not null check (satz between 0 and 100000000),
  kategorie    text not null,                 -- UNCL5305: S, Z, E …
  primary key (schluessel, gueltig_von)
) strict, without rowid;

-- UStG §12 (1) and (2); second half of 2020: Zweites Corona-Steuerhilfegesetz, art. 3.
-- Flat rate of farmers: UStG §24 (1) no. 3 as amended; the start in 1990 was not verified.
insert into steuersatz_vorlage values
  ('normal',      '2007-01-01', '2020-06-30', 'Normalsatz',                    19000000, 'S'),
  ('normal',      '2020-07-01', '2020-12-31', 'Normalsatz (2. Halbjahr 2020)', 16000000, 'S'),
  ('normal',      '2021-01-01', null,         'Normalsatz',                    19000000, 'S'),
  ('ermaessigt',  '1983-07-01', '2020-06-30', 'Ermäßigter Satz',                7000000, 'S'),
  ('ermaessigt',  '2020-07-01', '2020-12-31', 'Ermäßigter Satz (2. Halbjahr 2020)', 5000000, 'S'),
  ('ermaessigt',  '2021-01-01', null,         'Ermäßigter Satz',                7000000, 'S'),
  ('pauschal_24', '1990-01-01', '2021-12-31', 'Durchschnittssatz §24 UStG',    10700000, 'S'),
  ('pauschal_24', '2022-01-01', '2022-12-31', 'Durchschnittssatz §24 UStG',     9500000, 'S'),
  ('pauschal_24', '2023-01-01', '2024-12-05', 'Durchschnittssatz §24 UStG',     9000000, 'S'),
  ('pauschal_24', '2024-12-06', '2024-12-31', 'Durchschnittssatz §24 UStG',     8400000, 'S'),
  ('pauschal_24', '2025-01-01', null,         'Durchschnittssatz §24 UStG',     7800000, 'S'),
  ('frei',        '1968-01-01', null,         'Steuerfrei',                           0, 'E');

create table steuersatz (
  tenant_id    integer not null references tenant (id),
  schluessel   text not null,
  gueltig_von  text not null,
  gueltig_bis  text,
  bezeichnung  text not null,
  satz         integer not null check (satz between 0 and 100000000),
  kategorie    text not null,
  primary key (tenant_id, schluessel, gueltig_von)
) strict, without rowid;

create table artikelgruppe (
  tenant_id  integer not null references tenant (id),
  id         integer not null,
  name       text not null,
  kuerzel    text,
  nummer     integer,
  mwst_satz  integer check (mwst_satz between 0 and 100000000),
  name_key   text not null,
  kuerzel_key text,
  primary key (tenant_id, id)
) strict, without rowid;
create unique index artikelgruppe_kuerzel on artikelgruppe (tenant_id, kuerzel_key) where kuerzel_key is not null;

create table artikel (
  tenant_id        integer not null references tenant (id),
  id               blob not null check (length(id) = 16),
  artikelnummer    text not null,
  artikelnr        text,                      -- second, short number
  bezeichnung      text not null,
  bezeichnung2     text,
  langtext         text,
  einheit          text,
  preis            integer,                   -- net sales price per einheit
  ep_netto         integer,                   -- net purchase price per einheit
  mwst_satz        integer check (mwst_satz between 0 and 100000000),
  ean              text,
  artikelgruppe_id integer,
  status           text not null check (status in ('aktiv', 'auslauf', 'inaktiv')),
  chargenpflichtig integer not null default 0 check (chargenpflichtig in (0, 1)),
  artikelnummer_key  text not null,
  artikelnummer_sort text not null,
  artikelnr_key      text,
  such_text          text not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, artikelgruppe_id) references artikelgruppe (tenant_id, id)
) strict, without rowid;
create unique index artikel_nummer on artikel (tenant_id, artikelnummer_key);
create index artikel_nr on artikel (tenant_id, artikelnr_key) where artikelnr_key is not null;
create index artikel_ordnung on artikel (tenant_id, status, artikelnummer_sort, id);
create index artikel_gruppe on artikel (tenant_id, artikelgruppe_id);
create index artikel_ean on artikel (tenant_id, ean) where ean is not null;

create table staffelpreis (
  tenant_id  integer not null,
  artikel_id blob not null,
  ab_menge   integer not null check (ab_menge >= 0), -- in the article's unit
  preis      integer not null,
  aktiv      integer not null default 1 check (aktiv in (0, 1)),
  primary key (tenant_id, artikel_id, ab_menge),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;

create table vertriebler (
  tenant_id  integer not null references tenant (id),
  id         integer not null,
  name          text not null,
  name_spelled  text not null,                -- folded, ä as ae
  name_stripped text not null,                -- folded, ä as a
  primary key (tenant_id, id)
) strict, without rowid;
create index vertriebler_spelled on vertriebler (tenant_id, name_spelled);
create index vertriebler_stripped on vertriebler (tenant_id, name_stripped);

create table kunde (
  tenant_id         integer not null references tenant (id),
  id                blob not null check (length(id) = 16),
  kunden_id         integer not null,          -- D1: never changes
  kundennr          text not null,
  name              text not null,
  nachname_firma    text not null,
  anrede            text check (anrede in ('Herr', 'Frau', 'Firma')),
  vorname           text,
  email             text,
  telefon           text,
  telefon2          text,
  strasse           text,
  plz               text,
  ort               text,
  staat             text not null,             -- ISO 3166-1 alpha-2
  status            text not null check (status in ('aktiv', 'gesperrt', 'inaktiv')),
  ist_kunde         integer not null check (ist_kunde in (0, 1)),
  ist_lieferant     integer not null check (ist_lieferant in (0, 1)),
  ist_spediteur     integer not null check (ist_spediteur in (0, 1)),
  steuerart         text check (steuerart in ('regel', 'pauschal_24', 'kleinunternehmer')),
  zahlungsziel_tage integer,
  skonto_tage       integer,
  skonto_prozent    integer,
  steuernummer      text,
  ust_id            text,
  betriebsnummer    text,
  iban              text,
  bic               text,
  vb_id             integer,                   -- sales representative
  notizen           text,
  version           integer not null default 1, -- grows with each change: If-Match compares it
  angelegt_am       integer not null,
  geaendert_am      integer not null,
  kundennr_key      text not null,
  kundennr_sort     text not null,
  such_text         text not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, vb_id) references vertriebler (tenant_id, id)
) strict, without rowid;
create unique index kunde_nummer on kunde (tenant_id, kundennr_key);
create unique index kunde_kunden_id on kunde (tenant_id, kunden_id);
create index kunde_ordnung on kunde (tenant_id, kundennr_sort, id);
create index kunde_name on kunde (tenant_id, nachname_firma);
create index kunde_vertriebler on kunde (tenant_id, vb_id) where vb_id is not null;

-- Attachments of customers and articles. The content never changes.
create table anhang (
  tenant_id    integer not null,
  id           blob not null check (length(id) = 16),
  kunde_id     blob,
  artikel_id   blob,
  dateiname    text not null,
  beschreibung text,
  mime_type    text not null,
  sha256       blob not null check (length(sha256) = 32),
  erstellt_am  integer not null,
  inhalt       blob not null,                 -- last: what stands behind a blob is read through it
  check ((kunde_id is null) <> (artikel_id is null)),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict;
create unique index anhang_id on anhang (tenant_id, id);
create index anhang_kunde on anhang (tenant_id, kunde_id) where kunde_id is not null;
create index anhang_artikel on anhang (tenant_id, artikel_id) where artikel_id is not null;

-- Organic certificates of suppliers.
create table biozertifikat (
  tenant_id      integer not null references tenant (id),
  id             integer not null,
  nummer         text not null,
  kontrollstelle text,
  partner_id     blob,
  gueltig_bis    text,
  primary key (tenant_id, id),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id)
) strict, without rowid;
create index biozertifikat_partner on biozertifikat (tenant_id, partner_id) where partner_id is not null;

create table kontrakt (
  tenant_id           integer not null references tenant (id),
  id                  blob not null check (length(id) = 16),
  kontrakt_nr         text not null,
  kontrakt_typ        text,
  partner_id          blob,
  gueltig_von         text,
  gueltig_bis         text,
  erfassungsdatum     text,
  gesamtmenge         integer,
  gesamtmenge_einheit text,
  mengenart           text,
  paritat             text,
  zahlungsbedingung   text,
  erntejahr           integer,
  erledigt            integer not null default 0 check (erledigt in (0, 1)),
  notizen             text,
  referenz            text,
  such_text           text not null,
  primary key (tenant_id, id),
  unique (tenant_id, kontrakt_nr),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id)
) strict, without rowid;
create index kontrakt_partner on kontrakt (tenant_id, partner_id);

create table kontrakt_position (
  tenant_id    integer not null,
  id           blob not null check (length(id) = 16),
  kontrakt_id  blob not null,
  position     integer not null,
  artikel_id   blob,
  menge        integer,
  preis        integer,
  primary key (tenant_id, id),
  unique (tenant_id, kontrakt_id, id),         -- so that others can refer to both at once
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;
create index kontrakt_position_artikel on kontrakt_position (tenant_id, artikel_id);

------------------------------------------------------------------------------------------------
-- Batches and stock
------------------------------------------------------------------------------------------------

create table charge (
  tenant_id         integer not null references tenant (id),
  id                blob not null check (length(id) = 16),
  charge_nr         text not null,
  artikel_id        blob not null,
  partner_id        blob,                      -- supplier
  fremde_charge_nr  text,                      -- the supplier's number
  mhd               text,                      -- best before
  herkunftsland     text,                      -- ISO 3166-1 alpha-2
  biozertifikat_id  integer,
  einheit           text,
  eingang_menge     integer,                   -- in the article's unit: sum of its receipts (D8), or as sent
  eingang_ep        integer,                   -- per unit of the article: of the first receipt, or as sent
  eingang_quelle    text not null check (eingang_quelle in ('beleg', 'produktion', 'manuell')),
  eingang_beleg_id  blob,                      -- the first receipt
  niederlassung_id  integer,
  lagerhalle_id     integer,
  bestand           integer not null default 0, -- sum of its movements, kept with each of them
  eroeffnung        integer,                   -- opening stock as imported, for the comparison of a second import
  angelegt_am       integer not null,
  charge_nr_key     text not null,
  fremde_charge_key text,
  primary key (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id),
  foreign key (tenant_id, biozertifikat_id) references biozertifikat (tenant_id, id),
  foreign key (tenant_id, eingang_beleg_id) references beleg (tenant_id, id)
) strict, without rowid;
create unique index charge_nummer on charge (tenant_id, artikel_id, charge_nr_key);
create index charge_fremd on charge (tenant_id, artikel_id, partner_id, fremde_charge_key) where fremde_charge_key is not null;
create index charge_partner on charge (tenant_id, partner_id);
create index charge_zertifikat on charge (tenant_id, biozertifikat_id) where biozertifikat_id is not null;
create index charge_beleg on charge (tenant_id, eingang_beleg_id) where eingang_beleg_id is not null;

-- Movements of stock. Rows are only ever added: a correction is a movement of its own.
create table lagerbewegung (
  tenant_id   integer not null,
  id          blob not null check (length(id) = 16),
  artikel_id  blob not null,
  charge_id   blob,                            -- null: article without batches
  beleg_id    blob,                            -- the document, or
  pa_id       blob,                            -- the production order; neither: opening stock
  menge       integer not null check (menge <> 0), -- signed, in the article's unit
  am          integer not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id),
  check (beleg_id is null or pa_id is null),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, pa_id) references produktionsauftrag (tenant_id, id)
) strict, without rowid;
create index lagerbewegung_auftrag on lagerbewegung (tenant_id, pa_id) where pa_id is not null;
create index lagerbewegung_beleg on lagerbewegung (tenant_id, beleg_id, artikel_id, charge_id, menge);
create index lagerbewegung_charge on lagerbewegung (tenant_id, charge_id, menge);
create index lagerbewegung_artikel on lagerbewegung (tenant_id, artikel_id);

create trigger lagerbewegung_nie_aendern before update on lagerbewegung
  begin select raise(abort, 'lagerbewegung is append-only'); end;
create trigger lagerbewegung_nie_loeschen before delete on lagerbewegung
  begin select raise(abort, 'lagerbewegung is append-only'); end;

------------------------------------------------------------------------------------------------
-- Weighings
------------------------------------------------------------------------------------------------

create table wiegung (
  tenant_id           integer not null references tenant (id),
  id                  blob not null check (length(id) = 16),
  wiegeschein_nr      text not null,
  status              text not null check (status in ('offen', 'fertig', 'storno')),
  richtung            text check (richtung in ('eingang', 'ausgang')),
  kennzeichen         text,
  fahrer              text,
  gewicht_erst_kg     integer not null check (gewicht_erst_kg between 1 and 200000000000),
  gewicht_zweit_kg    integer check (gewicht_zweit_kg between 0 and 200000000000),
  gewicht_netto_kg    integer,
  ts_erst             integer not null,
  ts_zweit            integer,
  waage_id            integer not null,
  partner_id          blob not null,
  artikel_id          blob,
  charge_id           blob,
  kontrakt_id         blob,
  kontrakt_position_id blob,
  niederlassung_id    integer,
  lagerhalle_id       integer,
  fremdwiegung        integer not null default 0 check (fremdwiegung in (0, 1)),
  bemerkung           text,
  storno_grund        text,
  version             integer not null default 1,
  primary key (tenant_id, id),
  unique (tenant_id, wiegeschein_nr),
  check ((status = 'fertig') <= (gewicht_netto_kg is not null and richtung is not null)),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id),
  foreign key (tenant_id, kontrakt_id, kontrakt_position_id) references kontrakt_position (tenant_id, kontrakt_id, id)
) strict, without rowid;
create index wiegung_ordnung on wiegung (tenant_id, ts_erst desc, id desc);
create index wiegung_status on wiegung (tenant_id, status, ts_erst desc, id desc);
create index wiegung_partner on wiegung (tenant_id, partner_id, ts_erst desc, id desc);
create index wiegung_artikel on wiegung (tenant_id, artikel_id) where artikel_id is not null;
create index wiegung_charge on wiegung (tenant_id, charge_id) where charge_id is not null;
create index wiegung_kontrakt on wiegung (tenant_id, kontrakt_id) where kontrakt_id is not null;

create trigger wiegung_gewichte_bleiben before update on wiegung
  when new.gewicht_erst_kg <> old.gewicht_erst_kg
    or (old.gewicht_zweit_kg is not null and new.gewicht_zweit_kg is not old.gewicht_zweit_kg)
    or (old.gewicht_netto_kg is not null and new.gewicht_netto_kg is not old.gewicht_netto_kg)
  begin select raise(abort, 'weights never change'); end;

------------------------------------------------------------------------------------------------
-- Production
------------------------------------------------------------------------------------------------

-- A version of a recipe. Versions of one recipe share the id.
create table rezeptur (
  tenant_id       integer not null references tenant (id),
  id              integer not null,
  version         integer not null check (version > 0),
  bezeichnung     text not null,
  typ             text,
  aktiv           integer not null default 1 check (aktiv in (0, 1)),
  bezeichnung_key text not null,
  primary key (tenant_id, id, version)
) strict, without rowid;
create index rezeptur_bezeichnung on rezeptur (tenant_id, bezeichnung_key);

create table rezeptur_zeile (
  tenant_id   integer not null,
  rezeptur_id integer not null,
  version     integer not null,
  art         text not null check (art in ('input', 'output')),
  position    integer not null,                -- from 1, among the lines of its kind
  artikel_id  blob not null,
  menge       integer not null check (menge > 0),
  einheit     text,
  bemerkung   text,
  primary key (tenant_id, rezeptur_id, version, art, position),
  foreign key (tenant_id, rezeptur_id, version) references rezeptur (tenant_id, id, version),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;
create index rezeptur_zeile_artikel on rezeptur_zeile (tenant_id, artikel_id);

-- A production order holds a copy of its recipe: what changes later does not change it (D13).
create table produktionsauftrag (
  tenant_id        integer not null references tenant (id),
  id               blob not null check (length(id) = 16),
  pa_nummer        text not null,
  status           text not null check (status in ('schwebend', 'geplant', 'in_bearbeitung', 'erledigt', 'storniert')),
  rezeptur_id      integer,
  rezeptur_version integer,
  rezeptur_bezeichnung text,
  rezeptur_typ     text,
  faktor           integer not null check (faktor > 0),
  produktions_datum text,
  niederlassung_id integer,
  lagerhalle_id    integer,
  zugewiesen_an    integer,
  bezeichnung      text,
  bemerkung        text,
  geplant_am       integer,
  gestartet_am     integer,
  erledigt_am      integer,
  angelegt_am      integer not null,
  version          integer not null default 1,
  primary key (tenant_id, id),
  unique (tenant_id, pa_nummer),
  foreign key (tenant_id, rezeptur_id, rezeptur_version) references rezeptur (tenant_id, id, version)
) strict, without rowid;
create index produktionsauftrag_ordnung on produktionsauftrag (tenant_id, produktions_datum desc, id);
create index produktionsauftrag_status on produktionsauftrag (tenant_id, status, produktions_datum desc, id);
create index produktionsauftrag_rezeptur on produktionsauftrag (tenant_id, rezeptur_id, rezeptur_version) where rezeptur_id is not null;

-- What goes into an order and what comes out. The movements of an order that is done are its
-- genealogy: each batch that went in is in each batch that came out.
create table pa_input (
  tenant_id  integer not null,
  id         integer not null,
  pa_id      blob not null,
  position   integer not null,                 -- parts of one line share it
  artikel_id blob not null,
  charge_id  blob,
  soll_menge integer not null check (soll_menge >= 0), -- in einheit; of parts the first has it all
  ist_menge  integer check (ist_menge >= 0),
  einheit    text,
  bemerkung  text,
  primary key (tenant_id, id),
  foreign key (tenant_id, pa_id) references produktionsauftrag (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id)
) strict, without rowid;
create index pa_input_auftrag on pa_input (tenant_id, pa_id, position);
create index pa_input_artikel on pa_input (tenant_id, artikel_id, pa_id);
create index pa_input_charge on pa_input (tenant_id, charge_id, pa_id) where charge_id is not null;

create table pa_output (
  tenant_id  integer not null,
  id         integer not null,
  pa_id      blob not null,
  position   integer not null,
  artikel_id blob not null,
  charge_id  blob,                             -- the batch that was made
  charge_nr  text,                             -- the number it is to have; null: the next of ours
  mhd        text,
  soll_menge integer not null check (soll_menge >= 0),
  ist_menge  integer check (ist_menge >= 0),
  einheit    text,
  bemerkung  text,
  primary key (tenant_id, id),
  foreign key (tenant_id, pa_id) references produktionsauftrag (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id)
) strict, without rowid;
create index pa_output_auftrag on pa_output (tenant_id, pa_id, position);
create index pa_output_artikel on pa_output (tenant_id, artikel_id, pa_id);
create index pa_output_charge on pa_output (tenant_id, charge_id, pa_id) where charge_id is not null;

create trigger produktionsauftrag_erledigt before update on produktionsauftrag
  when old.status in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger produktionsauftrag_nie_loeschen before delete on produktionsauftrag
  begin select raise(abort, 'production orders are never deleted'); end;
create trigger pa_input_neu before insert on pa_input
  when (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id) in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_input_aendern before update on pa_input
  when (select status from produktionsauftrag where tenant_id = old.tenant_id and id = old.pa_id) in ('erledigt', 'storniert')
    or (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id) in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_input_loeschen before delete on pa_input
  when (select status from produktionsauftrag where tenant_id = old.tenant_id and id = old.pa_id) in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_output_neu before insert on pa_output
  when (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id) in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_output_aendern before update on pa_output
  when (select status from produktionsauftrag where tenant_id = old.tenant_id and id = old.pa_id) in ('erledigt', 'storniert')
    or (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id) in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_output_loeschen before delete on pa_output
  when (select status from produktionsauftrag where tenant_id = old.tenant_id and id = old.pa_id) in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;

------------------------------------------------------------------------------------------------
-- Documents
------------------------------------------------------------------------------------------------

create table beleg (
  tenant_id         integer not null references tenant (id),
  id                blob not null check (length(id) = 16),
  beleg_nummer      text not null,
  beleg_typ         text not null check (beleg_typ in ('AN', 'AU', 'LS', 'RE', 'BS', 'EL', 'ER')),
  status            text not null check (status in ('offen', 'abgeschlossen', 'erledigt', 'storniert')),
  beleg_datum       text not null,
  lieferdatum       text,
  leistung_von      text,
  leistung_bis      text,
  liefertermin      text,
  kunde_id          blob not null,
  kunden_name       text,                      -- copy of the partner, made when finalised
  kunden_strasse    text,
  kunden_plz        text,
  kunden_ort        text,
  kunden_staat      text,
  kunden_ust_id     text,
  summe_netto       integer not null,
  summe_mwst        integer not null,
  summe_brutto      integer not null,
  ist_gutschrift    integer not null check (ist_gutschrift in (0, 1)),
  notizen           text,
  zahlungsziel_tage integer,
  zahlungsbedingung text,
  skonto_tage       integer,
  skonto_prozent    integer,
  external_ref      text,
  anfrage_sha256    blob,                      -- the creating request, normalised: a repeat is compared with it
  fremdbelegnummer  text,
  kontaktperson     text,
  niederlassung_id  integer,
  lagerhalle_id     integer,
  vb_id             integer,
  storno_von_beleg_id blob,                    -- this is the counter document of that one
  kette_nr          integer,                   -- place in the company's chain of checksums, from 1; null: not final
  pruefsumme        blob check (length(pruefsumme) = 32), -- sha256(the one before, content)
  ereignis_am       integer,                   -- last event since it was finalised (D11); grows strictly per company
  storno_grund      text,
  version           integer not null default 1,
  angelegt_am       integer not null,
  geaendert_am      integer not null,
  primary key (tenant_id, id),
  unique (tenant_id, beleg_nummer),
  check (summe_brutto = summe_netto + summe_mwst),
  check ((kette_nr is null) = (pruefsumme is null)),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, vb_id) references vertriebler (tenant_id, id),
  foreign key (tenant_id, storno_von_beleg_id) references beleg (tenant_id, id)
) strict, without rowid;
create unique index beleg_external_ref on beleg (tenant_id, external_ref) where external_ref is not null;
create unique index beleg_ereignis on beleg (tenant_id, ereignis_am) where ereignis_am is not null;
create unique index beleg_kette on beleg (tenant_id, kette_nr) where kette_nr is not null;
create index beleg_ordnung on beleg (tenant_id, beleg_datum desc, angelegt_am desc, id desc);
create index beleg_typ on beleg (tenant_id, beleg_typ, beleg_datum desc, angelegt_am desc, id desc);
create index beleg_status on beleg (tenant_id, status, beleg_datum desc, angelegt_am desc, id desc);
create index beleg_kunde on beleg (tenant_id, kunde_id, beleg_datum desc, angelegt_am desc, id desc);
create index beleg_fremd on beleg (tenant_id, kunde_id, fremdbelegnummer) where fremdbelegnummer is not null;
create unique index beleg_storno on beleg (tenant_id, storno_von_beleg_id) where storno_von_beleg_id is not null;
create index beleg_vertriebler on beleg (tenant_id, vb_id) where vb_id is not null;

create table beleg_position (
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
  unique (tenant_id, id),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id),
  foreign key (tenant_id, biozertifikat_id) references biozertifikat (tenant_id, id),
  foreign key (tenant_id, bezug_beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, wiegung_id) references wiegung (tenant_id, id),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id),
  foreign key (tenant_id, kontrakt_id, kontrakt_position_id) references kontrakt_position (tenant_id, kontrakt_id, id)
) strict, without rowid;
create index beleg_position_artikel on beleg_position (tenant_id, artikel_id) where artikel_id is not null;
create index beleg_position_charge on beleg_position (tenant_id, charge_id) where charge_id is not null;
create index beleg_position_wiegung on beleg_position (tenant_id, wiegung_id) where wiegung_id is not null;
create index beleg_position_bezug on beleg_position (tenant_id, bezug_beleg_id) where bezug_beleg_id is not null;
create index beleg_position_kontrakt on beleg_position (tenant_id, kontrakt_id) where kontrakt_id is not null;

-- A finalised document never changes (D4): only its state, its events and why it was cancelled.
create trigger beleg_abgeschlossen before update on beleg
  when old.status <> 'offen' and (
    old.status = 'storniert' and new.status <> 'storniert'
    or new.status = 'offen'
    or old.kette_nr is not null and (new.kette_nr is not old.kette_nr or new.pruefsumme is not old.pruefsumme)
    or new.tenant_id <> old.tenant_id or new.id <> old.id
    or new.beleg_nummer <> old.beleg_nummer or new.beleg_typ <> old.beleg_typ
    or new.beleg_datum <> old.beleg_datum or new.lieferdatum is not old.lieferdatum
    or new.leistung_von is not old.leistung_von or new.leistung_bis is not old.leistung_bis
    or new.liefertermin is not old.liefertermin or new.kunde_id <> old.kunde_id
    or new.kunden_name is not old.kunden_name or new.kunden_strasse is not old.kunden_strasse
    or new.kunden_plz is not old.kunden_plz or new.kunden_ort is not old.kunden_ort
    or new.kunden_staat is not old.kunden_staat or new.kunden_ust_id is not old.kunden_ust_id
    or new.summe_netto <> old.summe_netto or new.summe_mwst <> old.summe_mwst
    or new.summe_brutto <> old.summe_brutto or new.ist_gutschrift <> old.ist_gutschrift
    or new.notizen is not old.notizen or new.zahlungsziel_tage is not old.zahlungsziel_tage
    or new.zahlungsbedingung is not old.zahlungsbedingung or new.skonto_tage is not old.skonto_tage
    or new.skonto_prozent is not old.skonto_prozent or new.external_ref is not old.external_ref
    or new.anfrage_sha256 is not old.anfrage_sha256 or new.fremdbelegnummer is not old.fremdbelegnummer
    or new.kontaktperson is not old.kontaktperson or new.niederlassung_id is not old.niederlassung_id
    or new.lagerhalle_id is not old.lagerhalle_id or new.vb_id is not old.vb_id
    or new.storno_von_beleg_id is not old.storno_von_beleg_id or new.angelegt_am <> old.angelegt_am)
  begin select raise(abort, 'a finalised document never changes'); end;
-- Nor is a document ever deleted: its number would be missing.
create trigger beleg_nie_loeschen before delete on beleg
  begin select raise(abort, 'documents are never deleted'); end;

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

-- The version of a document before each change (D4). Never pruned.
create table beleg_verlauf (
  tenant_id  integer not null,
  beleg_id   blob not null,
  version    integer not null,                 -- from 1
  am         integer not null,
  key_id     text,                             -- null: the command line
  aktion     text not null check (aktion in ('aendern', 'abschliessen', 'storno', 'erledigen')),
  beleg      text not null,                    -- JSON of the document as it was
  primary key (tenant_id, beleg_id, version),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict;

create trigger beleg_verlauf_nie_aendern before update on beleg_verlauf
  begin select raise(abort, 'beleg_verlauf is append-only'); end;
create trigger beleg_verlauf_nie_loeschen before delete on beleg_verlauf
  begin select raise(abort, 'beleg_verlauf is append-only'); end;

-- The PDF archive of documents; the newest is the one that is served.
create table beleg_pdf (
  tenant_id   integer not null,
  id          blob not null check (length(id) = 16),
  beleg_id    blob not null,
  dateiname   text not null,
  sha256      blob not null check (length(sha256) = 32),
  erstellt_am integer not null,
  inhalt      blob not null,                   -- last: what stands behind a blob is read through it
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict;
create unique index beleg_pdf_id on beleg_pdf (tenant_id, beleg_id, id);

create trigger beleg_pdf_nie_aendern before update on beleg_pdf
  begin select raise(abort, 'beleg_pdf is append-only'); end;
create trigger beleg_pdf_nie_loeschen before delete on beleg_pdf
  begin select raise(abort, 'beleg_pdf is append-only'); end;

------------------------------------------------------------------------------------------------
-- Goods-receipt notes
------------------------------------------------------------------------------------------------

-- What a lorry brought and what is paid for (D21a, D23). A note moves no stock; its EL does.
create table annahmeschein (
  tenant_id            integer not null references tenant (id),
  id                   blob not null check (length(id) = 16),
  belegnummer          text not null,
  status               text not null check (status in ('offen', 'abgerechnet', 'storniert')),
  lieferdatum          text,
  partner_id           blob,
  artikel_id           blob,
  wiegung_id           blob,
  anliefermenge_kg     integer check (anliefermenge_kg > 0),
  feuchte_prozent      integer check (feuchte_prozent between 0 and 100000000),
  basisfeuchte_prozent integer check (basisfeuchte_prozent between 0 and 100000000), -- null: no deduction
  schwundfaktor        integer not null check (schwundfaktor >= 0),
  besatz_prozent       integer check (besatz_prozent between 0 and 100000000),
  basisbesatz_prozent  integer check (basisbesatz_prozent between 0 and 100000000), -- null: no deduction
  sonstige_abzuege_kg  integer not null check (sonstige_abzuege_kg >= 0),
  preis_je_t           integer check (preis_je_t >= 0),
  netto_menge_kg       integer check (netto_menge_kg >= 0),
  netto_betrag         integer,
  kontrakt_id          blob,
  fremde_charge_nr     text,
  herkunftsland        text,
  biozertifikat_id     integer,
  bemerkung            text,
  external_ref         text,
  anfrage_sha256       blob,                   -- the creating request, normalised; null: imported
  el_beleg_id          blob,                   -- the EL that was made with it
  storno_grund         text,
  angelegt_am          integer not null,
  primary key (tenant_id, id),
  unique (tenant_id, belegnummer),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, wiegung_id) references wiegung (tenant_id, id),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id),
  foreign key (tenant_id, biozertifikat_id) references biozertifikat (tenant_id, id),
  foreign key (tenant_id, el_beleg_id) references beleg (tenant_id, id)
) strict, without rowid;
create unique index annahmeschein_external_ref on annahmeschein (tenant_id, external_ref) where external_ref is not null;
create index annahmeschein_ordnung on annahmeschein (tenant_id, lieferdatum desc, id);
create index annahmeschein_status on annahmeschein (tenant_id, status, lieferdatum desc, id);
create index annahmeschein_partner on annahmeschein (tenant_id, partner_id) where partner_id is not null;
create index annahmeschein_artikel on annahmeschein (tenant_id, artikel_id) where artikel_id is not null;
create index annahmeschein_wiegung on annahmeschein (tenant_id, wiegung_id) where wiegung_id is not null;
create index annahmeschein_kontrakt on annahmeschein (tenant_id, kontrakt_id) where kontrakt_id is not null;
create index annahmeschein_zertifikat on annahmeschein (tenant_id, biozertifikat_id) where biozertifikat_id is not null;
create index annahmeschein_el on annahmeschein (tenant_id, el_beleg_id) where el_beleg_id is not null;

------------------------------------------------------------------------------------------------
-- Cash register
------------------------------------------------------------------------------------------------

-- A receipt. It comes by import and is never numbered here.
create table bon (
  tenant_id    integer not null references tenant (id),
  id           blob not null check (length(id) = 16),
  bon_nr       text not null,
  bon_nr_sort  text not null,
  kasse_id     blob check (length(kasse_id) = 16), -- the register; there is no master data of them
  kassiert_am  integer not null,
  datum        text not null,                 -- cash day: the day of kassiert_am in Berlin
  art          text not null check (art in ('verkauf', 'storno')),
  storniert    integer not null default 0 check (storniert in (0, 1)), -- its reversals add up to the whole of it
  storno_von_bon_id blob check (length(storno_von_bon_id) = 16), -- what it reverses; may be older than our history
  zahlart      text,
  kunde_id     blob,
  zeilen       integer not null default 0 check (zeilen >= 0), -- number of its lines: a list counts without reading them
  primary key (tenant_id, id),
  check (storno_von_bon_id is null or art = 'storno'),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id)
) strict, without rowid;
create index bon_ordnung on bon (tenant_id, datum, bon_nr_sort, id, art, zeilen);
create index bon_zahlart on bon (tenant_id, zahlart, datum, bon_nr_sort, id, art, zeilen);
create index bon_kasse on bon (tenant_id, kasse_id, datum, bon_nr_sort, id, art, zeilen);
create index bon_nummer on bon (tenant_id, bon_nr, datum);
create index bon_storno on bon (tenant_id, storno_von_bon_id) where storno_von_bon_id is not null;
create index bon_kunde on bon (tenant_id, kunde_id) where kunde_id is not null;

-- A line of a receipt, as printed: gross, with the tax contained in it.
create table barverkauf (
  tenant_id     integer not null,
  id            integer not null check (id between 1 and 2147483647),
  bon_id        blob not null,
  position      integer not null check (position >= 1), -- from 1 in the receipt, without gaps
  artikel_id    blob,                          -- null: no article, or none that we know
  artikelnummer text,                          -- as sent
  bezeichnung   text not null,
  ean           text,                          -- as sent; null: that of the article holds
  menge         integer not null,
  einheit       text,
  einzelpreis   integer not null,              -- gross
  mwst_satz     integer not null check (mwst_satz between 0 and 100000000),
  gesamt        integer not null,              -- gross
  steuer        integer not null,              -- contained in gesamt
  primary key (tenant_id, bon_id, position),   -- the lines of a receipt lie together
  unique (tenant_id, id),
  foreign key (tenant_id, bon_id) references bon (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;
create index barverkauf_artikel on barverkauf (tenant_id, artikel_id) where artikel_id is not null;
