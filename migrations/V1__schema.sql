-- The schema of partnerd. It reads as a document: what every table holds, in which units, and why its indexes and
-- triggers are there. The tables stand in the order of the slices in src/lib.rs; references may lead to one further down.
--
-- Conventions
--   * A table of a company begins with tenant_id, and its key is (tenant_id, id) or begins with it: a reference to
--     another company's row is refused by the foreign key itself.
--   * id is a uuid of version 7 as 16 bytes: ids grow in the order of creation. Where id is an integer it is small and
--     shown to people, from 1 for each company.
--   * Money is an integer of cents. Quantities, weights (in kg), unit prices (in euros) and percentages are integers of
--     millionths: 12.5 is 12500000. Quantities are in the unit that stands beside them (einheit), or in the article's
--     unit where the comment says so.
--   * Instants (…_am, am, ts_…) are integers of milliseconds since 1970-01-01T00:00Z. Days are texts 'YYYY-MM-DD' in
--     Berlin. Durations (…_tage) are days.
--   * Booleans are 0 and 1. Null means: not known, not sent.
--   * …_key holds the folded text that makes a number or a name unique, …_sort the natural order of a number, such_text
--     what a search looks in.
--   * niederlassung_id, lagerhalle_id, waage_id, zugewiesen_an and kostenstelle are kept as they were sent: their master
--     data are in other programs.
--   * version grows with each change of a row: If-Match compares it (D11).
--   * Checks of more than two values are spelled out with `or` in tables that are written often: for a list in `in (…)`
--     SQLite builds a temporary table each time it checks a row.
--   * An index without a comment has the columns of a reference and serves it: without the index SQLite would read the
--     whole table before it lets go of a row that is referred to.
--
-- A new database gets this schema and then the migrations that follow it (V2, V3 …).

------------------------------------------------------------------------------------------------------------------------
-- db: the installation, numbers, the chain of evidence, changes
------------------------------------------------------------------------------------------------------------------------

-- The one row of the installation.
create table installation (
  id          integer primary key check (id = 1),
  mac_secret  blob not null check (length(mac_secret) = 32), -- keys end in a MAC made with this
  angelegt_am integer not null
) strict;

-- Business numbers: the last one given in each series and year, without gaps (D5): the row is changed in the
-- transaction that uses the number.
create table nummernkreis (
  tenant_id  integer not null references tenant (id),
  reihe      text not null,                   -- AN AU LS RE BS EL ER WS CH PA AS
  jahr       integer not null,
  letzte     integer not null check (letzte > 0),
  primary key (tenant_id, reihe, jahr)
) strict, without rowid;

-- What must never be lost beside the log of requests: final documents, each version of their history, archived PDFs,
-- attachments, changes of partners, in the order in which they came. Not data of one company: it is one chain for the
-- file.
create table nachweis (
  nr         integer primary key,             -- from 1, without a gap
  tenant_id  integer not null references tenant (id),
  art        text not null check (art in ('beleg', 'verlauf', 'pdf', 'anhang', 'kunde')),
  id         blob not null,                   -- of the document, the PDF, the attachment, the partner
  beleg_id   blob,                            -- the document of a PDF
  version    integer,                         -- of a document or a partner in its history
  sha256     blob not null check (length(sha256) = 32), -- of what the row in its own table holds
  pruefsumme blob not null check (length(pruefsumme) = 32), -- sha256(the one before, this row)
  mac        blob                             -- over number and checksum; null: not sealed
) strict;
-- Whether a record has its evidence.
create index nachweis_von on nachweis (tenant_id, id, version);

-- The heads of the chains: of the log of requests, the administration log and the evidence. They are there from the
-- beginning. A head is sealed again only where its seal before held: what was altered stays without.
create table kette (
  name          text primary key,             -- the table of its rows
  letzte_nr     integer not null,
  pruefsumme    blob not null,                -- that of the last row
  ab_nr         integer not null,             -- last row that was dropped; 0: none
  ab_pruefsumme blob not null,                -- what the first row that is left is chained to
  ab_tag        integer,                      -- the UTC day before whose end the dropped rows came, since 1970
  mac_ab_nr     integer not null,             -- rows up to this one have no seal, or that of an earlier secret
  mac           blob
) strict, without rowid;
insert into kette (name, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, mac_ab_nr) values
  ('audit', 0, zeroblob(32), 0, zeroblob(32), 0),
  ('nachweis', 0, zeroblob(32), 0, zeroblob(32), 0),
  ('verwaltung', 0, zeroblob(32), 0, zeroblob(32), 0);

-- In a backup alone: where the chains ended when it was copied. Behind that the backup took in what waited in the
-- journal, in an order of its own.
create table kette_kopie (
  name       text primary key,
  letzte_nr  integer not null,
  pruefsumme blob not null
) strict, without rowid;

-- What changed, for integrators who follow it instead of reading all lists again and again (D28), in the order of
-- commits. Numbers are those of a company, from 1 and without a gap; the newest row of each company is kept, so that no
-- number is given twice.
create table aenderung (
  tenant_id integer not null references tenant (id),
  nr        integer not null check (nr > 0),
  art       text not null,                    -- kind of the record, and its table
  id        blob not null,                    -- of the record
  nummer    text,                             -- its number then
  aktion    text not null,                    -- what happened, or the state that it came to
  am        integer not null,                 -- milliseconds since 1970
  version   integer,                          -- null: records of this kind have none
  primary key (tenant_id, nr)
) strict, without rowid;

-- Tells this database from the one before a restore, in cursors; without a row there was no restore.
create table aenderung_epoche (
  id     integer primary key check (id = 1),
  epoche integer not null
) strict;

------------------------------------------------------------------------------------------------------------------------
-- gate: keys, repeated requests, the log of all requests
------------------------------------------------------------------------------------------------------------------------

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

-- What a key was last used for, for `key list`; the limit itself is counted from the log of requests.
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
  status         integer not null,            -- of the answer
  subjekt        blob,                        -- id of the record that was made
  am             integer not null,
  antwort        blob not null                -- last: what stands behind a blob is read through it
) strict;
-- A repeated request finds its answer, and there is one.
create unique index idempotenz_schluessel on idempotenz (tenant_id, key_id, schluessel);
-- Those older than 7 days are dropped, the oldest first.
create index idempotenz_alter on idempotenz (tenant_id, am);

-- The log of all requests: one row for every answered request (P12). Not data of one company: it is the operator's.
-- Rows are only added, and dropped from the oldest on after 90 days.

-- Routes by number, so that a row of the log stays small.
create table route (
  id       integer primary key,
  methode  text not null,
  muster   text not null,                     -- /api/v1/kunden/{id}
  unique (methode, muster)
) strict;

-- The rows, in the order in which they came in: those of reads and refusals come from the journal, a second after those
-- of writes. At most one of key_id and person is set: who acted.
create table audit (
  nr             integer primary key,         -- from 1, without a gap
  am             integer not null,            -- when the request arrived
  tag            integer not null as (am / 86400000), -- the UTC day, in days since 1970
  request_id     blob not null check (length(request_id) = 16),
  key_id         text,                        -- null: no valid key
  tenant_id      integer,
  adresse        text not null,
  methode        text not null,
  route_id       integer references route (id), -- null: no such path
  pfad           text not null,               -- without the query: nothing secret
  status         integer not null,
  code           text,                        -- error code of the answer; null: no refusal
  dauer_us       integer not null,            -- microseconds
  bytes_ein      integer not null,
  bytes_aus      integer not null,
  subjekt        blob,                        -- id of the record that was written or read
  anzahl         integer not null,            -- requests that the row stands for: more than 1 for a flood
  person         integer,                     -- who acted with a browser
  pruefsumme     blob not null,               -- sha256(the one before, this row and the name of its route)
  mac            blob                         -- over number and checksum; null: not sealed
) strict;
-- Which rows are of a day: the log is shown, counted and dropped by days.
create index audit_tag on audit (tag);

-- Refused requests of addresses and keys that send too many, in a minute that is not over: one row each then goes into
-- the log (D20).
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
  code           text,                        -- as in audit: of the first
  primary key (adresse, key_id, minute)
) strict, without rowid;

-- Rows of reads and refusals wait in journal files beside the database; this is the last one taken in.
create table audit_journal (
  id              integer primary key check (id = 1),
  letztes_segment integer not null
) strict;

-- The administration log (D27): what people and the command line did, kept ten years. It holds no secrets and no values of
-- partners' fields, whose own history can be erased. Rows are only added, and dropped from the oldest on.
create table verwaltung (
  nr         integer primary key,             -- from 1, without a gap
  am         integer not null,
  akteur     text not null check (json_valid(akteur)),     -- {"person": 3}, {"schluessel": "…"}, {"befehl": {"name": …, "konto": …}}
  tat        text not null,                   -- angelegt, geaendert, gesperrt …
  gegenstand text not null check (json_valid(gegenstand)), -- {"art": "schluessel", "id": …, "name": …, "firma": 1}
  vorher     text check (json_valid(vorher)), -- {"scopes": …}: fields with another value than before; null: none had one
  nachher    text check (json_valid(nachher)),
  pruefsumme blob not null check (length(pruefsumme) = 32), -- sha256(the one before, this row)
  mac        blob                             -- over number and checksum; null: not sealed
) strict;
create trigger verwaltung_nie_aendern before update on verwaltung
  begin select raise(abort, 'verwaltung is append-only'); end;
create trigger verwaltung_nie_loeschen before delete on verwaltung
  when old.nr > (select ab_nr from kette where name = 'verwaltung')
  begin select raise(abort, 'verwaltung is append-only'); end;

-- Seals are MACs with a secret that stands in a file beside the database and never in it: whoever recomputes checksums
-- after a change cannot make the seals anew. Each time sealing began is a row, from 1: a new installation, another secret
-- (a restore on another machine). What is older than the newest is proved by checksums alone.
create table siegel_beginn (
  nr         integer primary key,
  am         integer not null,
  geheimnis  blob not null check (length(geheimnis) = 8), -- which secret: its public id
  anlass     text not null check (anlass in ('neu', 'geheimnis')),
  mac        blob not null check (length(mac) = 32)       -- over this row and the mac of the row before
) strict;

------------------------------------------------------------------------------------------------------------------------
-- steuersaetze
------------------------------------------------------------------------------------------------------------------------

-- Tax rates by date as the law has them (D7, D21e); a new company gets a copy.
create table steuersatz_vorlage (
  schluessel   text not null,                 -- normal, ermaessigt, pauschal_24, frei
  gueltig_von  text not null,
  gueltig_bis  text,                          -- last day; null: until further notice
  bezeichnung  text not null,
  satz         integer not null check (satz between 0 and 100000000), -- percent
  kategorie    text not null,                 -- UNCL5305: S, Z, E …
  primary key (schluessel, gueltig_von)
) strict, without rowid;

-- UStG §12 (1) and (2); second half of 2020: Zweites Corona-Steuerhilfegesetz, art. 3.
-- Flat rate of farmers: UStG §24 (1) no. 3 as amended, since the first day that a document can have (D5).
insert into steuersatz_vorlage values
  ('normal',      '1983-07-01', '1992-12-31', 'Normalsatz',                    14000000, 'S'),
  ('normal',      '1993-01-01', '1998-03-31', 'Normalsatz',                    15000000, 'S'),
  ('normal',      '1998-04-01', '2006-12-31', 'Normalsatz',                    16000000, 'S'),
  ('normal',      '2007-01-01', '2020-06-30', 'Normalsatz',                    19000000, 'S'),
  ('normal',      '2020-07-01', '2020-12-31', 'Normalsatz (2. Halbjahr 2020)', 16000000, 'S'),
  ('normal',      '2021-01-01', null,         'Normalsatz',                    19000000, 'S'),
  ('ermaessigt',  '1983-07-01', '2020-06-30', 'Ermäßigter Satz',                7000000, 'S'),
  ('ermaessigt',  '2020-07-01', '2020-12-31', 'Ermäßigter Satz (2. Halbjahr 2020)', 5000000, 'S'),
  ('ermaessigt',  '2021-01-01', null,         'Ermäßigter Satz',                7000000, 'S'),
  ('pauschal_24', '2000-01-01', '2006-12-31', 'Durchschnittssatz §24 UStG',     9000000, 'S'),
  ('pauschal_24', '2007-01-01', '2021-12-31', 'Durchschnittssatz §24 UStG',    10700000, 'S'),
  ('pauschal_24', '2022-01-01', '2022-12-31', 'Durchschnittssatz §24 UStG',     9500000, 'S'),
  ('pauschal_24', '2023-01-01', '2024-12-05', 'Durchschnittssatz §24 UStG',     9000000, 'S'),
  ('pauschal_24', '2024-12-06', '2024-12-31', 'Durchschnittssatz §24 UStG',     8400000, 'S'),
  ('pauschal_24', '2025-01-01', null,         'Durchschnittssatz §24 UStG',     7800000, 'S'),
  ('frei',        '1968-01-01', null,         'Steuerfrei',                           0, 'E');

-- The rates of a company, which imports may extend (D22).
create table steuersatz (
  tenant_id    integer not null references tenant (id),
  schluessel   text not null,
  gueltig_von  text not null,
  gueltig_bis  text,
  bezeichnung  text not null,
  satz         integer not null check (satz between 0 and 100000000), -- percent
  kategorie    text not null,
  primary key (tenant_id, schluessel, gueltig_von)
) strict, without rowid;

------------------------------------------------------------------------------------------------------------------------
-- tenants
------------------------------------------------------------------------------------------------------------------------

-- A company, and its settings, a column each. `partnerd tenant set` changes them. What test companies make is marked, and
-- they can be emptied.
create table tenant (
  id           integer primary key,
  name         text not null unique,
  angelegt_am  integer not null,
  test         integer not null default 0 check (test in (0, 1)),
  test_mac     blob, -- seals that it is a test company: of one without it nothing may be missing; null: not sealed, or none
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
  paarung_monate           integer not null default 12 check (paarung_monate between 0 and 1200), -- D8
  kontrakt_toleranz_prozent integer not null default 5 check (kontrakt_toleranz_prozent between 0 and 100), -- D21g
  -- D4: documents dated up to this day are neither created nor changed
  gesperrt_bis             text,
  -- D4: types that are finalised when they are created, separated by blanks
  abschluss_bei_anlage     text not null default '',
  -- D4: types that are finalised at the end of the Berlin day on which they were created
  abschluss_tagesende      text not null default 'RE GS',
  -- D18: what happens to parameters and fields that nobody knows
  unbekannte_parameter     text not null default 'ablehnen' check (unbekannte_parameter in ('ablehnen', 'ignorieren')),
  unbekannte_felder        text not null default 'hinweis' check (unbekannte_felder in ('hinweis', 'ablehnen')),
  -- D24: what happens where an e-invoice cannot be made
  e_rechnung               text not null default 'hinweis' check (e_rechnung in ('aus', 'hinweis', 'pflicht')),
  -- UStG § 19
  kleinunternehmer         integer not null default 0 check (kleinunternehmer in (0, 1)),
  -- D29: days, separated by blanks, on each of which the company became or ceased to be one; it is what kleinunternehmer
  -- says from the last of them on
  kleinunternehmer_ab      text not null default '',
  -- D31, D32
  datev_berater            integer check (datev_berater between 1001 and 9999999),
  datev_mandant            integer check (datev_mandant between 1 and 99999),
  datev_ab                 text,                     -- the first day whose invoices are handed over
  datev_wj_beginn          text not null default '01-01', -- the fiscal year begins, month and day
  datev_rahmen             text not null default '03' check (datev_rahmen in ('03', '04', 'keiner')),
  datev_sachkontenlaenge   integer not null default 4 check (datev_sachkontenlaenge between 4 and 8),
  datev_festschreibung     integer not null default 0 check (datev_festschreibung in (0, 1)),
  datev_aufteilung         text not null default 'exakt' check (datev_aufteilung in ('exakt', 'brutto'))
) strict;
create trigger tenant_test_bleibt before update of id, test on tenant
  when new.test <> old.test or new.id <> old.id
  begin select raise(abort, 'a company is a test company from its creation on, or never'); end;
create trigger tenant_nie_loeschen before delete on tenant
  begin select raise(abort, 'companies are never deleted'); end;

-- A picture that stands on the documents of a company; documents drawn before it was replaced keep theirs.
create table firma_logo (
  tenant_id integer not null references tenant (id),
  sha256    blob not null check (length(sha256) = 32),
  inhalt    blob not null check (length(inhalt) <= 204800), -- PNG or JPEG
  primary key (tenant_id, sha256)
) strict;
create trigger firma_logo_nie_aendern before update on firma_logo
  begin select raise(abort, 'firma_logo is append-only'); end;
create trigger firma_logo_nie_loeschen before delete on firma_logo
  begin select raise(abort, 'firma_logo is append-only'); end;

-- The master data of a company (D24), one row for each state of them: the highest number holds now, and a final document
-- refers to the state that held then.
create table firma (
  tenant_id           integer not null references tenant (id),
  nr                  integer not null check (nr > 0),
  seit                integer not null,        -- milliseconds since 1970
  firma               text,                    -- legal name
  strasse             text,
  plz                 text,
  ort                 text,
  staat               text not null default 'DE', -- ISO 3166-1 alpha-2
  ust_id              text,
  steuernummer        text,
  registernummer      text,
  rechnungstext       text,                    -- register court, managing directors
  email               text,
  kontakt_name        text,
  kontakt_telefon     text,
  kontakt_email       text,
  iban                text,
  bic                 text,
  kontoinhaber        text,
  oeko_kontrollstelle text,
  logo_mit_name       text not null default 'nein' check (logo_mit_name in ('ja', 'nein')), -- the name is not printed beside it
  anrede              text default 'Sehr geehrte Damen und Herren,',
  gruss               text default 'Mit freundlichen Grüßen',
  -- own texts before and behind the items, by type of document
  text_vor_an         text,
  text_nach_an        text,
  text_vor_au         text,
  text_nach_au        text,
  text_vor_ls         text,
  text_nach_ls        text,
  text_vor_re         text,
  text_nach_re        text,
  text_vor_bs         text,
  text_nach_bs        text,
  text_vor_el         text,
  text_nach_el        text,
  text_vor_gs         text,
  text_nach_gs        text,
  logo                blob,
  primary key (tenant_id, nr),
  foreign key (tenant_id, logo) references firma_logo (tenant_id, sha256)
) strict;
create trigger firma_nie_aendern before update on firma
  begin select raise(abort, 'firma is append-only'); end;
create trigger firma_nie_loeschen before delete on firma
  begin select raise(abort, 'firma is append-only'); end;

------------------------------------------------------------------------------------------------------------------------
-- vertriebler
------------------------------------------------------------------------------------------------------------------------

-- Sales representatives. Documents and customers name one by id or by name (D9).
create table vertriebler (
  tenant_id  integer not null references tenant (id),
  id         integer not null,
  name          text not null,
  name_spelled  text not null,                -- folded, ä as ae
  name_stripped text not null,                -- folded, ä as a
  primary key (tenant_id, id)
) strict, without rowid;
-- A name is looked for in either spelling.
create index vertriebler_spelled on vertriebler (tenant_id, name_spelled);
create index vertriebler_stripped on vertriebler (tenant_id, name_stripped);

------------------------------------------------------------------------------------------------------------------------
-- anhaenge
------------------------------------------------------------------------------------------------------------------------

-- Attachments of customers and articles (D21f), and the files that documents were made of (D28). The content never
-- changes.
create table anhang (
  tenant_id    integer not null,
  id           blob not null check (length(id) = 16),
  kunde_id     blob,
  artikel_id   blob,
  beleg_id     blob,                          -- the document that was made of it
  dateiname    text not null,
  beschreibung text,
  mime_type    text not null,
  sha256       blob not null check (length(sha256) = 32), -- of inhalt
  erstellt_am  integer not null,
  inhalt       blob not null,                 -- last: what stands behind a blob is read through it
  check ((kunde_id is not null) + (artikel_id is not null) + (beleg_id is not null) = 1),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict;
-- The key; a table without rowid would keep the contents in its tree.
create unique index anhang_id on anhang (tenant_id, id);
-- The attachments of one customer, of one article, of one document.
create index anhang_kunde on anhang (tenant_id, kunde_id) where kunde_id is not null;
create index anhang_artikel on anhang (tenant_id, artikel_id) where artikel_id is not null;
create index anhang_beleg on anhang (tenant_id, beleg_id) where beleg_id is not null;
-- The same file again is the same document.
create index anhang_original on anhang (tenant_id, sha256) where beleg_id is not null;
create trigger anhang_nie_aendern before update on anhang
  begin select raise(abort, 'attachments never change'); end;
-- Those of customers go when they ask to be forgotten (D27).
create trigger anhang_beleg_bleibt before delete on anhang when old.beleg_id is not null
  begin select raise(abort, 'what a document was made of is never deleted'); end;

------------------------------------------------------------------------------------------------------------------------
-- artikel
------------------------------------------------------------------------------------------------------------------------

-- Groups of articles.
create table artikelgruppe (
  tenant_id  integer not null references tenant (id),
  id         integer not null,
  name       text not null,
  kuerzel    text,
  nummer     integer,
  mwst_satz  integer check (mwst_satz between 0 and 100000000), -- percent; holds for articles that have none (D7)
  name_key   text not null,
  kuerzel_key text,
  primary key (tenant_id, id)
) strict, without rowid;
-- The key of an import (D22).
create unique index artikelgruppe_kuerzel on artikelgruppe (tenant_id, kuerzel_key) where kuerzel_key is not null;

-- Articles.
create table artikel (
  tenant_id        integer not null references tenant (id),
  id               blob not null check (length(id) = 16),
  artikelnummer    text not null,
  artikelnr        text,                      -- second, short number
  bezeichnung      text not null,
  bezeichnung2     text,
  langtext         text,
  einheit          text,                      -- the article's unit: that of its stock and its prices
  preis            integer,                   -- net sales price per einheit
  ep_netto         integer,                   -- net purchase price per einheit
  mwst_satz        integer check (mwst_satz between 0 and 100000000), -- percent
  ean              text,
  artikelgruppe_id integer,
  status           text not null check (status in ('aktiv', 'auslauf', 'inaktiv')), -- D3
  chargenpflichtig integer not null default 0 check (chargenpflichtig in (0, 1)), -- goods move in batches (D8)
  artikelnummer_key  text not null,
  artikelnummer_sort text not null,
  artikelnr_key      text,
  such_text          text not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, artikelgruppe_id) references artikelgruppe (tenant_id, id)
) strict, without rowid;
-- An article is named by either number (D6); several may share the second.
create unique index artikel_nummer on artikel (tenant_id, artikelnummer_key);
create index artikel_nr on artikel (tenant_id, artikelnr_key) where artikelnr_key is not null;
-- The list of one group.
create index artikel_gruppe on artikel (tenant_id, artikelgruppe_id);
-- The line of a receipt finds its article (D22).
create index artikel_ean on artikel (tenant_id, ean) where ean is not null;
-- The order of the list, with what is searched in beside it: a list that is searched reads nothing else.
create index artikel_ordnung on artikel (tenant_id, status, artikelnummer_sort, id, such_text);

-- Tiered prices of an article (D6).
create table staffelpreis (
  tenant_id  integer not null,
  artikel_id blob not null,
  ab_menge   integer not null check (ab_menge >= 0), -- in the article's unit
  preis      integer not null,                -- net, per unit of the article
  aktiv      integer not null default 1 check (aktiv in (0, 1)),
  primary key (tenant_id, artikel_id, ab_menge),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;

-- What changed in articles and their tiers, when, and who changed it (D22). Never pruned.
create table artikel_verlauf (
  tenant_id  integer not null,
  artikel_id blob not null,
  nr         integer not null check (nr > 0), -- of the change, from 1 for each article
  am         integer not null,
  key_id     text,                            -- `person` and a number; null: the command line
  felder     text not null,                   -- JSON: a list of {feld, alt, neu}
  primary key (tenant_id, artikel_id, nr),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;
create trigger artikel_verlauf_nie_aendern before update on artikel_verlauf
  begin select raise(abort, 'artikel_verlauf is append-only'); end;
create trigger artikel_verlauf_nie_loeschen before delete on artikel_verlauf
  begin select raise(abort, 'artikel_verlauf is append-only'); end;

------------------------------------------------------------------------------------------------------------------------
-- kunden
------------------------------------------------------------------------------------------------------------------------

-- Partners: customers, suppliers, carriers, in any mixture.
create table kunde (
  tenant_id         integer not null references tenant (id),
  id                blob not null check (length(id) = 16),
  kunden_id         integer not null,          -- D1: never changes
  kundennr          text not null,             -- D2
  name              text not null,             -- as it is shown and printed
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
  status            text not null check (status in ('aktiv', 'gesperrt', 'inaktiv')), -- D3
  ist_kunde         integer not null check (ist_kunde in (0, 1)),
  ist_lieferant     integer not null check (ist_lieferant in (0, 1)),
  ist_spediteur     integer not null check (ist_spediteur in (0, 1)),
  -- D29: JSON, [{ab, steuerart}] by day; of the first, which holds for all days before the next, ab is null
  besteuerungen     text not null default '[]' check (json_valid(besteuerungen)),
  zahlungsziel_tage integer,
  skonto_tage       integer,
  skonto_prozent    integer,
  steuernummer      text,
  ust_id            text,
  betriebsnummer    text,
  iban              text,
  bic               text,
  -- D24: as what the partner gets its e-invoices
  e_rechnung        text not null default 'zugferd'
    check (e_rechnung = 'zugferd' or e_rechnung = 'xrechnung' or e_rechnung = 'aus'),
  kaeuferreferenz   text,                      -- what it wants to recognise an invoice by: of an authority its Leitweg-ID
  e_adresse         text,                      -- where e-invoices go; null: its e-mail address
  gutschrift_vereinbart_am text,               -- day on which it agreed that we write the credit notes (UStG § 14 (2))
  debitor_konto     integer check (debitor_konto > 0),     -- D34: accounts in the adviser's books; given once, never changed
  kreditor_konto    integer check (kreditor_konto > 0),
  vb_id             integer,                   -- sales representative (D9)
  notizen           text,
  version           integer not null default 1,
  angelegt_am       integer not null,
  geaendert_am      integer not null,
  kundennr_key      text not null,
  kundennr_sort     text not null,
  such_text         text not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, vb_id) references vertriebler (tenant_id, id)
) strict, without rowid;
-- A partner is named by number or by integer id (D1), and both are unique.
create unique index kunde_nummer on kunde (tenant_id, kundennr_key);
create unique index kunde_kunden_id on kunde (tenant_id, kunden_id);
create unique index kunde_debitor on kunde (tenant_id, debitor_konto) where debitor_konto is not null;
create unique index kunde_kreditor on kunde (tenant_id, kreditor_konto) where kreditor_konto is not null;
create trigger kunde_konto_bleibt before update of debitor_konto, kreditor_konto on kunde
  when old.debitor_konto is not null and new.debitor_konto is not old.debitor_konto
    or old.kreditor_konto is not null and new.kreditor_konto is not old.kreditor_konto
  begin select raise(abort, 'the account of a partner never changes'); end;
create index kunde_vertriebler on kunde (tenant_id, vb_id) where vb_id is not null;
-- The order of the list, with what is searched in beside it: a list that is searched reads nothing else.
create index kunde_ordnung on kunde (tenant_id, kundennr_sort, id, such_text);
-- A partner with the same name and place is looked for whenever one is added (D18), and is the key of an import without
-- numbers (D22). Without regard to the case of A to Z: SQLite folds no more.
create index kunde_name on kunde (tenant_id, nachname_firma collate nocase, ort collate nocase);
-- An invoice names its sender by these (D28); people write them with and without blanks, hyphens and slashes.
create index kunde_ust_id on kunde (tenant_id, ust_id) where ust_id is not null;
create index kunde_steuernummer on kunde (tenant_id, steuernummer) where steuernummer is not null;
create index kunde_iban on kunde (tenant_id, iban) where iban is not null;

-- What changed in the master data of a partner, when, and who changed it. Never pruned. The chain of evidence has the
-- sha256, not the text: what is erased for a person one day leaves the chain whole.
create table kunde_verlauf (
  tenant_id integer not null,
  kunde_id  blob not null,
  version   integer not null check (version > 1), -- the version that the change made
  am        integer not null,
  key_id    text,                              -- or `person` and a number; null: the command line
  felder    text not null,                     -- JSON: a list of {feld, alt, neu}
  sha256    blob not null check (length(sha256) = 32), -- of felder
  primary key (tenant_id, kunde_id, version),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id)
) strict, without rowid;
-- A partner can be forgotten (GDPR art. 17, D27): what changes of its master data said is erased then, and nothing else.
-- Erased is only what stands before the newest change, which says that the partner was forgotten: it names the erased
-- attachments.
create trigger kunde_verlauf_nie_aendern before update on kunde_verlauf
  when new.felder <> '[]'
    or (new.tenant_id, new.kunde_id, new.version, new.am, new.key_id, new.sha256)
      is not (old.tenant_id, old.kunde_id, old.version, old.am, old.key_id, old.sha256)
    or not exists (select 1 from kunde_verlauf v, json_each(v.felder) f
      where v.tenant_id = old.tenant_id and v.kunde_id = old.kunde_id and v.version > old.version
        and v.version = (select max(n.version) from kunde_verlauf n
          where n.tenant_id = old.tenant_id and n.kunde_id = old.kunde_id)
        and f.value ->> 'feld' = 'anhaenge')
  begin select raise(abort, 'kunde_verlauf is append-only'); end;
create trigger kunde_verlauf_nie_loeschen before delete on kunde_verlauf
  begin select raise(abort, 'kunde_verlauf is append-only'); end;

-- What partners are searched in (D17), 64 to a row: to look through a hundred thousand of them, or to count them, is to
-- read 1,600 rows. The triggers below keep it.
create table kunde_suche (
  tenant_id integer not null references tenant (id),
  block     integer not null,                  -- kunden_id / 64
  anzahl    integer not null check (anzahl between 1 and 64),
  texte     text not null,                     -- of each customer: kunden_id, U+001F, such_text, U+001E
  primary key (tenant_id, block)
) strict;
-- To count partners without reading their texts.
create index kunde_suche_anzahl on kunde_suche (tenant_id, anzahl);

create trigger kunde_suche_neu after insert on kunde begin
  insert into kunde_suche (tenant_id, block, anzahl, texte)
    values (new.tenant_id, new.kunden_id / 64, 1, new.kunden_id || char(31) || new.such_text || char(30))
    on conflict (tenant_id, block) do update set anzahl = anzahl + 1, texte = texte || excluded.texte;
  -- An import may bring a kunden_id that is below others.
  update kunde_suche set texte =
    (select group_concat(text, '') from
       (select kunden_id || char(31) || such_text || char(30) as text from kunde
        where tenant_id = new.tenant_id
          and kunden_id between new.kunden_id / 64 * 64 and new.kunden_id / 64 * 64 + 63 order by kunden_id))
    where tenant_id = new.tenant_id and block = new.kunden_id / 64
      and exists (select 1 from kunde where tenant_id = new.tenant_id
        and kunden_id between new.kunden_id + 1 and new.kunden_id / 64 * 64 + 63);
end;
-- (The order comes from a subquery: Debian's sqlite3 could not read a schema with group_concat(… order by …).)
create trigger kunde_suche_aendern after update of such_text on kunde when new.such_text <> old.such_text begin
  update kunde_suche set texte =
    (select group_concat(text, '') from
       (select kunden_id || char(31) || such_text || char(30) as text from kunde
        where tenant_id = new.tenant_id
          and kunden_id between new.kunden_id / 64 * 64 and new.kunden_id / 64 * 64 + 63 order by kunden_id))
    where tenant_id = new.tenant_id and block = new.kunden_id / 64;
end;

-- An import that is taken back deletes partners that nothing refers to (D22).
create trigger kunde_suche_loeschen after delete on kunde begin
  delete from kunde_suche where tenant_id = old.tenant_id and block = old.kunden_id / 64 and anzahl = 1;
  update kunde_suche set anzahl = anzahl - 1, texte =
    (select group_concat(text, '') from
       (select kunden_id || char(31) || such_text || char(30) as text from kunde
        where tenant_id = old.tenant_id
          and kunden_id between old.kunden_id / 64 * 64 and old.kunden_id / 64 * 64 + 63 order by kunden_id))
    where tenant_id = old.tenant_id and block = old.kunden_id / 64;
end;

------------------------------------------------------------------------------------------------------------------------
-- biozertifikate
------------------------------------------------------------------------------------------------------------------------

-- Organic certificates of suppliers, to which batches, positions and goods-receipt notes refer.
create table biozertifikat (
  tenant_id      integer not null references tenant (id),
  id             integer not null,
  nummer         text not null,
  kontrollstelle text,
  partner_id     blob,
  gueltig_bis    text,                         -- last day
  primary key (tenant_id, id),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id)
) strict, without rowid;
create index biozertifikat_partner on biozertifikat (tenant_id, partner_id) where partner_id is not null;

------------------------------------------------------------------------------------------------------------------------
-- kontrakte
------------------------------------------------------------------------------------------------------------------------

-- Contracts with partners (D21g). They come by import (D22).
create table kontrakt (
  tenant_id           integer not null references tenant (id),
  id                  blob not null check (length(id) = 16),
  kontrakt_nr         text not null,
  kontrakt_typ        text,
  partner_id          blob,
  gueltig_von         text,
  gueltig_bis         text,
  erfassungsdatum     text,
  gesamtmenge         integer,                 -- in gesamtmenge_einheit
  gesamtmenge_einheit text,
  mengenart           text,
  paritat             text,
  zahlungsbedingung   text,
  erntejahr           integer,
  erledigt            integer not null default 0 check (erledigt in (0, 1)),
  notizen             text,
  referenz            text,
  schema_id           blob,                    -- how its goods are settled (D29b); null: it names no scheme
  such_text           text not null,
  primary key (tenant_id, id),
  unique (tenant_id, kontrakt_nr),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id),
  foreign key (tenant_id, schema_id) references abrechnungsschema (tenant_id, id)
) strict, without rowid;
-- The list of one partner.
create index kontrakt_partner on kontrakt (tenant_id, partner_id);
-- The hint of goods that name none (D21g): those that end first.
create index kontrakt_partner_offen on kontrakt (tenant_id, partner_id, gueltig_bis, id) where erledigt = 0;
create index kontrakt_schema on kontrakt (tenant_id, schema_id) where schema_id is not null;
-- D27: those that may become full, for the first page of the Leitstand.
create index kontrakt_offen on kontrakt (tenant_id, gueltig_bis desc, id) where erledigt = 0;

-- What a contract is about. None is deleted once anything refers to its contract.
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
create index kontrakt_position_artikel on kontrakt_position (tenant_id, artikel_id, kontrakt_id);

-- What changed in contracts and their positions, when, and who changed it (D22). Never pruned.
create table kontrakt_verlauf (
  tenant_id   integer not null,
  kontrakt_id blob not null,
  nr          integer not null check (nr > 0), -- of the change, from 1 for each contract
  am          integer not null,
  key_id      text,                            -- `person` and a number; null: the command line
  felder      text not null,                   -- JSON: a list of {feld, alt, neu}
  primary key (tenant_id, kontrakt_id, nr),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id)
) strict, without rowid;
create trigger kontrakt_verlauf_nie_aendern before update on kontrakt_verlauf
  begin select raise(abort, 'kontrakt_verlauf is append-only'); end;
create trigger kontrakt_verlauf_nie_loeschen before delete on kontrakt_verlauf
  begin select raise(abort, 'kontrakt_verlauf is append-only'); end;

------------------------------------------------------------------------------------------------------------------------
-- abrechnungsschemata
------------------------------------------------------------------------------------------------------------------------

-- What a company measures besides what the program knows (D29a). Unit and decimals stay, because values were rounded to them.
create table merkmal (
  tenant_id   integer not null references tenant (id),
  code        text not null,
  bezeichnung text not null,
  einheit     text not null,
  stellen     integer not null check (stellen between 0 and 3),
  mittel      text not null check (mittel = 'gewogen' or mittel = 'maximum' or mittel = 'keins'),
  primary key (tenant_id, code)
) strict, without rowid;
create trigger merkmal_bleibt before update on merkmal
  when (new.tenant_id, new.code, new.einheit, new.stellen) is not (old.tenant_id, old.code, old.einheit, old.stellen)
  begin select raise(abort, 'unit and decimals of a merkmal stay'); end;

-- How goods are settled (D29b).
create table abrechnungsschema (
  tenant_id integer not null references tenant (id),
  id        blob not null check (length(id) = 16),
  nummer    text not null,
  primary key (tenant_id, id),
  unique (tenant_id, nummer)
) strict, without rowid;

-- What a scheme says, from which day on. A change is a new version; what a version says stays.
create table abrechnungsschema_version (
  tenant_id   integer not null,
  schema_id   blob not null,
  version     integer not null check (version > 0),
  bezeichnung text not null,
  erntejahr   integer,
  gueltig_von text not null,
  gueltig_bis text,                            -- last day; null: until the next version begins
  inhalt      text not null,                   -- JSON: rules::settlement::Schema
  sha256      blob not null check (length(sha256) = 32), -- of nummer, version and all that it says
  angelegt_am integer not null,
  key_id      text,                            -- `person` and a number; null: the command line
  primary key (tenant_id, schema_id, version),
  foreign key (tenant_id, schema_id) references abrechnungsschema (tenant_id, id)
) strict, without rowid;
create trigger abrechnungsschema_version_bleibt before update on abrechnungsschema_version
  when new.gueltig_bis is null or new.gueltig_bis >= old.gueltig_bis
    or (new.tenant_id, new.schema_id, new.version, new.bezeichnung, new.erntejahr, new.gueltig_von, new.inhalt, new.sha256,
        new.angelegt_am, new.key_id)
      is not (old.tenant_id, old.schema_id, old.version, old.bezeichnung, old.erntejahr, old.gueltig_von, old.inhalt,
        old.sha256, old.angelegt_am, old.key_id)
  begin select raise(abort, 'a version of a scheme stays; it may end sooner'); end;
create trigger abrechnungsschema_version_nie_loeschen before delete on abrechnungsschema_version
  begin select raise(abort, 'a version of a scheme is never deleted'); end;

-- The articles that a version is for.
create table abrechnungsschema_artikel (
  tenant_id  integer not null,
  schema_id  blob not null,
  version    integer not null,
  artikel_id blob not null,
  primary key (tenant_id, schema_id, version, artikel_id),
  foreign key (tenant_id, schema_id, version) references abrechnungsschema_version (tenant_id, schema_id, version),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;
create index abrechnungsschema_artikel_artikel on abrechnungsschema_artikel (tenant_id, artikel_id);
create trigger abrechnungsschema_artikel_bleibt before update on abrechnungsschema_artikel
  begin select raise(abort, 'a version of a scheme stays'); end;
create trigger abrechnungsschema_artikel_nie_loeschen before delete on abrechnungsschema_artikel
  begin select raise(abort, 'a version of a scheme is never deleted'); end;

------------------------------------------------------------------------------------------------------------------------
-- chargen: batches and stock
------------------------------------------------------------------------------------------------------------------------

-- A batch of an article (D8). Its stock is the sum of its movements.
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
  eingang_quelle    text not null
    check (eingang_quelle = 'beleg' or eingang_quelle = 'produktion' or eingang_quelle = 'manuell'),
  eingang_beleg_id  blob,                      -- the first receipt
  niederlassung_id  integer,
  lagerhalle_id     integer,
  bestand           integer not null default 0, -- sum of its movements in the article's unit, kept with each of them
  eroeffnung        integer,                   -- opening stock as imported, for the comparison of a second import
  inventur_id       blob,                      -- its last stocktaking
  gesperrt          integer not null default 0 check (gesperrt = 0 or gesperrt = 1), -- nothing leaves it (D8)
  sperrgrund        text,
  angelegt_am       integer not null,
  charge_nr_key     text not null,
  fremde_charge_key text,
  version           integer not null default 1,
  primary key (tenant_id, id),
  check ((gesperrt = 1) = (sperrgrund is not null)),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id),
  foreign key (tenant_id, biozertifikat_id) references biozertifikat (tenant_id, id),
  foreign key (tenant_id, eingang_beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, inventur_id) references inventur (tenant_id, id)
) strict, without rowid;
-- D8: a number is unique for its article, and finds its batch.
create unique index charge_nummer on charge (tenant_id, artikel_id, charge_nr_key);
-- D8: goods with the supplier's number of a batch that is there belong to it.
create index charge_fremd on charge (tenant_id, artikel_id, partner_id, fremde_charge_key)
  where fremde_charge_key is not null;
-- The list of one supplier.
create index charge_partner on charge (tenant_id, partner_id);
create index charge_zertifikat on charge (tenant_id, biozertifikat_id) where biozertifikat_id is not null;
create index charge_beleg on charge (tenant_id, eingang_beleg_id) where eingang_beleg_id is not null;
-- Batches of an article with stock and those without, each in the order in which they leave (D8, fefo): whoever looks
-- for stock does not walk over what was sold long ago.
create index charge_vorrat on charge (tenant_id, artikel_id, bestand > 0, mhd is null, mhd, id);
-- D27: what is in stock and expires, whatever its article.
create index charge_mhd on charge (tenant_id, mhd) where bestand > 0;

-- The version of a batch before each correction, and what it was found by then: it still is (D8). Never pruned.
create table charge_verlauf (
  tenant_id         integer not null,
  charge_id         blob not null,
  version           integer not null,          -- from 1
  am                integer not null,
  key_id            text,                      -- null: the command line
  artikel_id        blob not null,
  partner_id        blob,
  fremde_charge_key text,
  mhd               text,
  charge            text not null,             -- JSON of the batch as it was
  primary key (tenant_id, charge_id, version),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id)
) strict;
-- A supplier's number that was corrected finds its batch.
create index charge_verlauf_fremd on charge_verlauf (tenant_id, artikel_id, partner_id, fremde_charge_key)
  where fremde_charge_key is not null;
-- The batches that a partner had once.
create index charge_verlauf_partner on charge_verlauf (tenant_id, partner_id) where partner_id is not null;
-- History is only added to.
create trigger charge_verlauf_nie_aendern before update on charge_verlauf
  begin select raise(abort, 'charge_verlauf is append-only'); end;
create trigger charge_verlauf_nie_loeschen before delete on charge_verlauf
  begin select raise(abort, 'charge_verlauf is append-only'); end;

-- A stocktaking (D8): what was counted of a batch, or of an article without batches, and what its movements came to
-- before. The difference is a movement; one of 0 has none. Never pruned.
create table inventur (
  tenant_id      integer not null references tenant (id),
  id             blob not null check (length(id) = 16),
  artikel_id     blob not null,
  charge_id      blob,                         -- null: article without batches
  bestand_vorher integer not null,             -- in the article's unit
  bestand        integer not null check (bestand >= 0), -- as counted, in the article's unit
  grund          text not null,
  external_ref   text,
  am             integer not null,
  key_id         text,                         -- null: the command line
  primary key (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id)
) strict, without rowid;
create unique index inventur_external_ref on inventur (tenant_id, external_ref) where external_ref is not null;
create trigger inventur_nie_aendern before update on inventur
  begin select raise(abort, 'inventur is append-only'); end;
create trigger inventur_nie_loeschen before delete on inventur
  begin select raise(abort, 'inventur is append-only'); end;

-- Movements of stock. Rows are only ever added: a correction is a movement of its own (D8).
create table lagerbewegung (
  tenant_id   integer not null,
  id          blob not null check (length(id) = 16),
  artikel_id  blob not null,
  charge_id   blob,                            -- null: article without batches
  beleg_id    blob,                            -- the document, or
  pa_id       blob,                            -- the production order, or
  inventur_id blob,                            -- the stocktaking; none of them: opening stock
  menge       integer not null check (menge <> 0), -- signed, in the article's unit
  am          integer not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id),
  check (beleg_id is null or pa_id is null),
  check (inventur_id is null or beleg_id is null and pa_id is null),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, pa_id) references produktionsauftrag (tenant_id, id),
  foreign key (tenant_id, inventur_id) references inventur (tenant_id, id)
) strict, without rowid;
-- What went into an order and what came out: the way of a batch (D21d).
create index lagerbewegung_auftrag on lagerbewegung (tenant_id, pa_id) where pa_id is not null;
create index lagerbewegung_inventur on lagerbewegung (tenant_id, inventur_id, menge) where inventur_id is not null;
-- What a document has moved, without reading its movements.
create index lagerbewegung_beleg on lagerbewegung (tenant_id, beleg_id, artikel_id, charge_id, menge);
-- The movements of a batch. There is none for articles: each document would pay for what nobody looks for.
create index lagerbewegung_charge on lagerbewegung (tenant_id, charge_id, menge) where charge_id is not null;
create trigger lagerbewegung_nie_aendern before update on lagerbewegung
  begin select raise(abort, 'lagerbewegung is append-only'); end;
create trigger lagerbewegung_nie_loeschen before delete on lagerbewegung
  begin select raise(abort, 'lagerbewegung is append-only'); end;

-- The stock of each article: the sum of its movements, with and without a batch, kept with each of them. To add them up
-- is to walk the history of the article. It stands apart from artikel, which the writer remembers (wall 8).
create table artikel_bestand (
  tenant_id   integer not null,
  artikel_id  blob not null,
  bestand     integer not null,                -- in the article's unit
  inventur_id blob,                            -- its last stocktaking; of articles without batches alone
  primary key (tenant_id, artikel_id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, inventur_id) references inventur (tenant_id, id)
) strict, without rowid;

------------------------------------------------------------------------------------------------------------------------
-- waage
------------------------------------------------------------------------------------------------------------------------

-- A weighing: the first weight, then the second (D12). It books no stock.
create table wiegung (
  tenant_id           integer not null references tenant (id),
  id                  blob not null check (length(id) = 16),
  wiegeschein_nr      text not null,           -- D5
  status              text not null check (status = 'offen' or status = 'fertig' or status = 'storno'),
  richtung            text check (richtung in ('eingang', 'ausgang')),
  kennzeichen         text,                    -- plate of the lorry
  fahrer              text,
  gewicht_erst_kg     integer not null check (gewicht_erst_kg between 1 and 200000000000), -- up to 200 t
  gewicht_zweit_kg    integer check (gewicht_zweit_kg between 0 and 200000000000), -- 0: fremdwiegung alone
  gewicht_netto_kg    integer check (gewicht_netto_kg is abs(gewicht_erst_kg - gewicht_zweit_kg)),
  ts_erst             integer not null,        -- time of the server
  ts_zweit            integer,
  waage_id            integer not null,
  partner_id          blob not null,
  artikel_id          blob,
  charge_id           blob,
  kontrakt_id         blob,
  kontrakt_position_id blob,
  niederlassung_id    integer,
  lagerhalle_id       integer,
  fremdwiegung        integer not null default 0 check (fremdwiegung in (0, 1)), -- weighed on another's scale
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
-- The order of the list, alone and behind each of its filters.
create index wiegung_ordnung on wiegung (tenant_id, ts_erst desc, id desc);
create index wiegung_status on wiegung (tenant_id, status, ts_erst desc, id desc);
create index wiegung_partner on wiegung (tenant_id, partner_id, ts_erst desc, id desc);
create index wiegung_charge on wiegung (tenant_id, charge_id) where charge_id is not null;
create index wiegung_kontrakt on wiegung (tenant_id, kontrakt_id) where kontrakt_id is not null;
-- Plates are compared in upper case without blanks and hyphens: m-ab 12 is MAB12.
create index wiegung_kennzeichen on wiegung (tenant_id,
    replace(replace(replace(replace(replace(upper(kennzeichen), ' ', ''), '-', ''), 'ä', 'Ä'), 'ö', 'Ö'), 'ü', 'Ü'),
    ts_erst desc, id desc)
  where kennzeichen is not null;
create index wiegung_artikel on wiegung (tenant_id, artikel_id, ts_erst desc, id desc) where artikel_id is not null;

-- D12: a weight that is stored never changes.
create trigger wiegung_gewichte_bleiben before update on wiegung
  when new.gewicht_erst_kg <> old.gewicht_erst_kg
    or (old.gewicht_zweit_kg is not null and new.gewicht_zweit_kg is not old.gewicht_zweit_kg)
    or (old.gewicht_netto_kg is not null and new.gewicht_netto_kg is not old.gewicht_netto_kg)
  begin select raise(abort, 'weights never change'); end;

------------------------------------------------------------------------------------------------------------------------
-- produktion
------------------------------------------------------------------------------------------------------------------------

-- A version of a recipe. Versions of one recipe share the id.
create table rezeptur (
  tenant_id       integer not null references tenant (id),
  id              integer not null,
  version         integer not null check (version > 0),
  bezeichnung     text not null,
  typ             text,
  aktiv           integer not null default 1 check (aktiv in (0, 1)), -- orders take the newest active version
  bezeichnung_key text not null,
  primary key (tenant_id, id, version)
) strict, without rowid;
-- The key of an import without ids (D22).
create index rezeptur_bezeichnung on rezeptur (tenant_id, bezeichnung_key);

-- What goes into a recipe and what comes out, for a faktor of 1.
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
  pa_nummer        text not null,              -- D5
  status           text not null check (status in ('schwebend', 'geplant', 'in_bearbeitung', 'erledigt', 'storniert')),
  rezeptur_id      integer,
  rezeptur_version integer,
  rezeptur_bezeichnung text,
  rezeptur_typ     text,
  faktor           integer not null check (faktor > 0), -- in millionths: quantities of the recipe times this
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
-- The order of the list, alone and behind its filter.
create index produktionsauftrag_ordnung on produktionsauftrag (tenant_id, produktions_datum desc, id);
create index produktionsauftrag_status on produktionsauftrag (tenant_id, status, produktions_datum desc, id);
create index produktionsauftrag_rezeptur on produktionsauftrag (tenant_id, rezeptur_id, rezeptur_version)
  where rezeptur_id is not null;

-- What goes into an order. The movements of an order that is done are its genealogy: each batch that went in is in each
-- batch that came out (D21d).
create table pa_input (
  tenant_id  integer not null,
  id         integer not null,
  pa_id      blob not null,
  position   integer not null,                 -- parts of one line share it
  artikel_id blob not null,
  charge_id  blob,
  soll_menge integer not null check (soll_menge >= 0), -- in einheit; of parts the first has it all
  ist_menge  integer check (ist_menge >= 0),   -- in einheit
  einheit    text,
  bemerkung  text,
  primary key (tenant_id, id),
  foreign key (tenant_id, pa_id) references produktionsauftrag (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id)
) strict, without rowid;
-- The lines of an order.
create index pa_input_auftrag on pa_input (tenant_id, pa_id, position);
-- The orders of an article.
create index pa_input_artikel on pa_input (tenant_id, artikel_id, pa_id);
create index pa_input_charge on pa_input (tenant_id, charge_id, pa_id) where charge_id is not null;

-- The highest id of a line that was deleted, because other parts took its place: none up to it is used again, for a
-- program may still name the old line.
create table pa_input_geloescht (
  tenant_id  integer primary key references tenant (id),
  bis        integer not null
) strict;
create trigger pa_input_geloescht after delete on pa_input
  begin
    insert into pa_input_geloescht (tenant_id, bis) values (old.tenant_id, old.id)
      on conflict (tenant_id) do update set bis = max(bis, excluded.bis);
  end;
create trigger pa_input_neue_id before insert on pa_input
  when new.id <= (select bis from pa_input_geloescht where tenant_id = new.tenant_id)
  begin select raise(abort, 'the id of a line that was deleted is never used again'); end;

-- What comes out of an order.
create table pa_output (
  tenant_id  integer not null,
  id         integer not null,
  pa_id      blob not null,
  position   integer not null,
  artikel_id blob not null,
  charge_id  blob,                             -- the batch that was made
  charge_nr  text,                             -- the number it is to have; null: the next of ours
  mhd        text,
  biozertifikat_id integer,                    -- the organic certificate it is to have
  soll_menge integer not null check (soll_menge >= 0), -- in einheit
  ist_menge  integer check (ist_menge >= 0),   -- in einheit
  einheit    text,
  bemerkung  text,
  primary key (tenant_id, id),
  foreign key (tenant_id, pa_id) references produktionsauftrag (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, charge_id) references charge (tenant_id, id),
  foreign key (tenant_id, biozertifikat_id) references biozertifikat (tenant_id, id)
) strict, without rowid;
-- As of what goes in.
create index pa_output_auftrag on pa_output (tenant_id, pa_id, position);
create index pa_output_artikel on pa_output (tenant_id, artikel_id, pa_id);
create index pa_output_charge on pa_output (tenant_id, charge_id, pa_id) where charge_id is not null;
create index pa_output_zertifikat on pa_output (tenant_id, biozertifikat_id) where biozertifikat_id is not null;

-- D13: an order that is done or cancelled never changes, nor do its lines, but that one that is done can be cancelled;
-- none is deleted, for its number would be missing.
create trigger produktionsauftrag_erledigt before update on produktionsauftrag
  when old.status in ('erledigt', 'storniert')
    and (old.status <> 'erledigt' or new.status <> 'storniert' or new.version <> old.version + 1
      or (new.tenant_id, new.id, new.pa_nummer, new.rezeptur_id, new.rezeptur_version, new.rezeptur_bezeichnung,
          new.rezeptur_typ, new.faktor, new.produktions_datum, new.niederlassung_id, new.lagerhalle_id,
          new.zugewiesen_an, new.bezeichnung, new.bemerkung, new.geplant_am, new.gestartet_am, new.erledigt_am,
          new.angelegt_am)
        is not (old.tenant_id, old.id, old.pa_nummer, old.rezeptur_id, old.rezeptur_version, old.rezeptur_bezeichnung,
          old.rezeptur_typ, old.faktor, old.produktions_datum, old.niederlassung_id, old.lagerhalle_id,
          old.zugewiesen_an, old.bezeichnung, old.bemerkung, old.geplant_am, old.gestartet_am, old.erledigt_am,
          old.angelegt_am))
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger produktionsauftrag_nie_loeschen before delete on produktionsauftrag
  begin select raise(abort, 'production orders are never deleted'); end;
create trigger pa_input_neu before insert on pa_input
  when (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id)
    in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_input_aendern before update on pa_input
  when (select status from produktionsauftrag where tenant_id = old.tenant_id and id = old.pa_id)
    in ('erledigt', 'storniert')
    or (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id)
    in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_input_loeschen before delete on pa_input
  when (select status from produktionsauftrag where tenant_id = old.tenant_id and id = old.pa_id)
    in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_output_neu before insert on pa_output
  when (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id)
    in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_output_aendern before update on pa_output
  when (select status from produktionsauftrag where tenant_id = old.tenant_id and id = old.pa_id)
    in ('erledigt', 'storniert')
    or (select status from produktionsauftrag where tenant_id = new.tenant_id and id = new.pa_id)
    in ('erledigt', 'storniert')
  begin select raise(abort, 'a production order that is over never changes'); end;
create trigger pa_output_nie_loeschen before delete on pa_output
  begin select raise(abort, 'what comes out of a production order is never deleted'); end;

------------------------------------------------------------------------------------------------------------------------
-- kasse
------------------------------------------------------------------------------------------------------------------------

-- A receipt of a cash register. It comes by import (D22) and is never numbered here.
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
-- The order of the list, alone and behind two of its filters; art and zeilen let it count without reading receipts.
create index bon_ordnung on bon (tenant_id, datum, bon_nr_sort, id, art, zeilen);
create index bon_zahlart on bon (tenant_id, zahlart, datum, bon_nr_sort, id, art, zeilen);
create index bon_kasse on bon (tenant_id, kasse_id, datum, bon_nr_sort, id, art, zeilen);
-- A receipt by its number, which several registers may have.
create index bon_nummer on bon (tenant_id, bon_nr, datum);
-- The reversals of a receipt (D22).
create index bon_storno on bon (tenant_id, storno_von_bon_id) where storno_von_bon_id is not null;
create index bon_kunde on bon (tenant_id, kunde_id) where kunde_id is not null;

-- A line of a receipt, as printed: gross, with the tax contained in it (D7).
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
  mwst_satz     integer not null check (mwst_satz between 0 and 100000000), -- percent
  gesamt        integer not null,              -- gross
  steuer        integer not null,              -- contained in gesamt
  primary key (tenant_id, bon_id, position),   -- the lines of a receipt lie together
  unique (tenant_id, id),
  foreign key (tenant_id, bon_id) references bon (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;
create index barverkauf_artikel on barverkauf (tenant_id, artikel_id) where artikel_id is not null;

-- The export of a register as it came (D22); an auditor gets it (D36). Deleted once the law no longer wants it.
create table kassendatei (
  tenant_id   integer not null references tenant (id),
  id          blob not null check (length(id) = 16),
  dateiname   text not null,
  von         text not null,                   -- the first cash day
  bis         text not null,                   -- the last one
  sha256      blob not null check (length(sha256) = 32), -- of inhalt
  erhalten_am integer not null,
  inhalt      blob not null                    -- a zip; last: what stands behind a blob is read through it
) strict;
-- The same file again is nothing new.
create unique index kassendatei_einmal on kassendatei (tenant_id, sha256);
create index kassendatei_tage on kassendatei (tenant_id, bis, von);
create trigger kassendatei_nie_aendern before update on kassendatei
  begin select raise(abort, 'files of registers never change'); end;

-- The lines of each cash day, which the triggers keep: a list of ten million lines counts them and finds its way to a
-- late page by days instead of by lines.
create table kassentag (
  tenant_id integer not null references tenant (id),
  datum     text not null,                        -- cash day in Berlin
  art       text not null check (art in ('verkauf', 'storno')),
  zeilen    integer not null check (zeilen >= 0), -- lines of all receipts of this day and kind
  primary key (tenant_id, datum, art)
) strict, without rowid;

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

------------------------------------------------------------------------------------------------------------------------
-- belege: documents, from the quotation to the invoice
------------------------------------------------------------------------------------------------------------------------

-- The types of documents; `BelegTyp` in the program says the same.
create table belegtyp (
  typ        text primary key,
  seite      text not null check (seite in ('verkauf', 'einkauf')),
  lagerrolle text check (lagerrolle in ('lieferung', 'rechnung')), -- null: it moves no goods
  lagertyp   text unique check (lagertyp is iif(lagerrolle is null, null, typ)), -- what tells of goods refers to it
  unique (seite, lagerrolle)                   -- each role has one type on its side (D8)
) strict, without rowid;
insert into belegtyp (typ, seite, lagerrolle, lagertyp) values
  ('AN', 'verkauf', null,        null),        -- quote
  ('AU', 'verkauf', null,        null),        -- order
  ('LS', 'verkauf', 'lieferung', 'LS'),        -- delivery note
  ('RE', 'verkauf', 'rechnung',  'RE'),        -- invoice
  ('BS', 'einkauf', null,        null),        -- purchase order
  ('EL', 'einkauf', 'lieferung', 'EL'),        -- purchase delivery note
  ('ER', 'einkauf', 'rechnung',  'ER');        -- purchase invoice

-- The head of a document (D4). Its sums follow from its positions.
create table beleg (
  tenant_id         integer not null references tenant (id),
  id                blob not null check (length(id) = 16),
  beleg_nummer      text not null,             -- D5
  beleg_typ         text not null references belegtyp (typ),
  status            text not null
    check (status = 'offen' or status = 'abgeschlossen' or status = 'erledigt' or status = 'storniert'),
  beleg_datum       text not null,
  lieferdatum       text,
  leistung_von      text,
  leistung_bis      text,
  liefertermin      text,
  gueltig_bis       text,                          -- of an offer
  kunde_id          blob not null,             -- the partner: customer or supplier
  kunden_name       text,                      -- copy of the partner, made when finalised
  kunden_strasse    text,
  kunden_plz        text,
  kunden_ort        text,
  kunden_staat      text,
  kunden_ust_id     text,
  kunden_kundennr   text,
  kunden_steuernummer text,
  kunden_email      text,
  kunden_iban       text,
  kunden_bic        text,
  kunden_kaeuferreferenz text,
  kunden_e_adresse  text,
  firma_nr          integer,                   -- the state of our master data that held then; null: there was none
  blatt_am          integer,                   -- when its sheet came to be; null: it has none
  erechnung_fehlt   text,                      -- JSON array: what was missing for the e-invoice that it should have had
  summe_netto       integer not null,
  summe_mwst        integer not null,
  summe_brutto      integer not null,
  steuergruppen     text check (json_valid(steuergruppen)), -- [{mwst_satz, basis, steuer}] as the supplier printed them (D18);
                                               -- the sums are theirs; null: computed of the positions
  rechnungsart      text                       -- 'gutschrift': an ER that we write for the supplier (UStG § 14 (2))
    check (rechnungsart = 'rechnung' or rechnungsart = 'gutschrift' and beleg_typ = 'ER'),
  notizen           text,
  zahlungsziel_tage integer,
  zahlungsbedingung text,
  skonto_tage       integer,
  skonto_prozent    integer,
  external_ref      text,                      -- the client's own key of the document
  anfrage_sha256    blob,                      -- the creating request, normalised: a repeat is compared with it
  fremdbelegnummer  text,                      -- the supplier's number
  fremdbeleg_key    text,                      -- the same, letters and digits alone, folded: however it is typed
  kontaktperson     text,
  niederlassung_id  integer,
  lagerhalle_id     integer,
  vb_id             integer,                   -- sales representative (D9)
  storno_von_beleg_id blob,                    -- this is the counter document of that one
  vorgaenger_beleg_id blob,                    -- what it was made from: an order from a quote (D8)
  ohne_gegenbeleg   integer not null default 0 check (ohne_gegenbeleg = 0 or ohne_gegenbeleg = 1), -- none will come (D8)
  -- whether something of an AN, AU, BS, LS or EL is left to go on with (D38); null: a request changed what it is tied to,
  -- and says so before it ends
  hat_rest          integer check (hat_rest = 0 or hat_rest = 1),
  ereignis_am       integer,                   -- last event since it was finalised (D11); grows strictly per company;
                                               -- null: it never was, so that nachweis has nothing of it
  storno_grund      text,
  version           integer not null default 1,
  angelegt_am       integer not null,
  geaendert_am      integer not null,
  such_text         text not null default '',  -- number, external_ref and fremdbelegnummer, folded
  primary key (tenant_id, id),
  unique (tenant_id, beleg_nummer),
  check (summe_brutto = summe_netto + summe_mwst),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, firma_nr) references firma (tenant_id, nr),
  foreign key (tenant_id, vb_id) references vertriebler (tenant_id, id),
  foreign key (tenant_id, storno_von_beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, vorgaenger_beleg_id) references beleg (tenant_id, id)
) strict, without rowid;
-- A repeated request finds the document that the first one made (D19).
create unique index beleg_external_ref on beleg (tenant_id, external_ref) where external_ref is not null;
-- Polling goes on behind the last instant that it saw (D11), so no two documents share one.
create unique index beleg_ereignis on beleg (tenant_id, ereignis_am) where ereignis_am is not null;
-- The order of the list behind its filters.
create index beleg_typ on beleg (tenant_id, beleg_typ, beleg_datum desc, angelegt_am desc, id desc);
create index beleg_status on beleg (tenant_id, status, beleg_datum desc, angelegt_am desc, id desc);
create index beleg_kunde on beleg (tenant_id, kunde_id, beleg_datum desc, angelegt_am desc, id desc);
-- D5: whether the supplier's number was there before.
create index beleg_fremd on beleg (tenant_id, kunde_id, fremdbeleg_key) where fremdbeleg_key is not null;
-- D4: a document has one counter document at most.
create unique index beleg_storno on beleg (tenant_id, storno_von_beleg_id) where storno_von_beleg_id is not null;
-- What was made from a document.
create index beleg_nachfolger on beleg (tenant_id, vorgaenger_beleg_id) where vorgaenger_beleg_id is not null;
create index beleg_vertriebler on beleg (tenant_id, vb_id) where vb_id is not null;
-- D4: documents that may become final when their day is over are looked for every minute and at each start, among all
-- that a company ever wrote.
create index beleg_offen on beleg (tenant_id, beleg_typ, rechnungsart, angelegt_am, id) where status = 'offen';
-- D4: what became final without the e-invoice that it should have had, for the first page of the Leitstand.
create index beleg_ohne_erechnung on beleg (tenant_id, beleg_datum desc, angelegt_am desc, id desc)
  where erechnung_fehlt is not null and status = 'abgeschlossen';
-- D27: invoices that nobody has paid yet, by the day on which they are due, with all by which they are summed: SQLite
-- reads the row, too, where a column of the condition or of the expression is not among those of the index.
create index beleg_unbezahlt
  on beleg (tenant_id, date(beleg_datum, coalesce(zahlungsziel_tage, 0) || ' days'), id, beleg_typ, kunde_id, summe_brutto,
    beleg_datum, zahlungsziel_tage, status, rechnungsart, storno_von_beleg_id)
  where status = 'abgeschlossen' and rechnungsart is not null and storno_von_beleg_id is null;
-- D38: what is left, in the order of the list; and of what that is to be said anew, which is nothing between requests.
create index beleg_rest on beleg (tenant_id, beleg_datum desc, angelegt_am desc, id desc)
  where hat_rest = 1 and ohne_gegenbeleg = 0 and status <> 'storniert';
create index beleg_rest_unklar on beleg (tenant_id, id) where hat_rest is null;
-- The order of the list, with what is searched in beside it, words and amounts: a list that is searched reads
-- nothing else.
create index beleg_ordnung
  on beleg (tenant_id, beleg_datum desc, angelegt_am desc, id desc, kunde_id, such_text, summe_brutto, summe_netto);

-- A finalised document never changes (D4): only its state, its events and why it was cancelled. What is not named here
-- may change: status, ereignis_am, storno_grund, version, geaendert_am, such_text, fremdbeleg_key, hat_rest; ohne_gegenbeleg
-- may be set.
create trigger beleg_abgeschlossen before update on beleg
  when old.status <> 'offen' and (
    old.status = 'storniert' and new.status <> 'storniert'
    or new.status = 'offen'
    or new.tenant_id <> old.tenant_id or new.id <> old.id
    or new.beleg_nummer <> old.beleg_nummer or new.beleg_typ <> old.beleg_typ
    or new.beleg_datum <> old.beleg_datum or new.lieferdatum is not old.lieferdatum
    or new.leistung_von is not old.leistung_von or new.leistung_bis is not old.leistung_bis
    or new.liefertermin is not old.liefertermin or new.gueltig_bis is not old.gueltig_bis or new.kunde_id <> old.kunde_id
    or new.kunden_name is not old.kunden_name or new.kunden_strasse is not old.kunden_strasse
    or new.kunden_plz is not old.kunden_plz or new.kunden_ort is not old.kunden_ort
    or new.kunden_staat is not old.kunden_staat or new.kunden_ust_id is not old.kunden_ust_id
    or new.summe_netto <> old.summe_netto or new.summe_mwst <> old.summe_mwst
    or new.summe_brutto <> old.summe_brutto or new.steuergruppen is not old.steuergruppen
    or new.rechnungsart is not old.rechnungsart
    or new.notizen is not old.notizen or new.zahlungsziel_tage is not old.zahlungsziel_tage
    or new.zahlungsbedingung is not old.zahlungsbedingung or new.skonto_tage is not old.skonto_tage
    or new.skonto_prozent is not old.skonto_prozent or new.external_ref is not old.external_ref
    or new.anfrage_sha256 is not old.anfrage_sha256 or new.fremdbelegnummer is not old.fremdbelegnummer
    or new.kontaktperson is not old.kontaktperson or new.niederlassung_id is not old.niederlassung_id
    or new.lagerhalle_id is not old.lagerhalle_id or new.vb_id is not old.vb_id
    or new.storno_von_beleg_id is not old.storno_von_beleg_id
    or new.vorgaenger_beleg_id is not old.vorgaenger_beleg_id or new.ohne_gegenbeleg < old.ohne_gegenbeleg
    or new.angelegt_am <> old.angelegt_am
    or new.kunden_kundennr is not old.kunden_kundennr
    or new.kunden_steuernummer is not old.kunden_steuernummer or new.kunden_email is not old.kunden_email
    or new.kunden_iban is not old.kunden_iban or new.kunden_bic is not old.kunden_bic
    or new.kunden_kaeuferreferenz is not old.kunden_kaeuferreferenz
    or new.kunden_e_adresse is not old.kunden_e_adresse or new.firma_nr is not old.firma_nr
    or new.blatt_am is not old.blatt_am or new.erechnung_fehlt is not old.erechnung_fehlt)
  begin select raise(abort, 'a finalised document never changes'); end;
-- Nor is a document ever deleted: its number would be missing (D5).
create trigger beleg_nie_loeschen before delete on beleg
  begin select raise(abort, 'documents are never deleted'); end;

-- Documents that had another partner before a change, whom their history names: who was named once is found when they ask
-- to be forgotten (D27).
create table beleg_frueherer_kunde (
  tenant_id integer not null,
  kunde_id  blob not null,                    -- the partner before
  beleg_id  blob not null,
  primary key (tenant_id, kunde_id, beleg_id),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict, without rowid;

-- The positions of a document.
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
  preis_fehlt      integer not null check (preis_fehlt in (0, 1)), -- it is 0 because nobody knew one
  rabatt_prozent   integer not null check (rabatt_prozent between 0 and 100000000),
  mwst_satz        integer not null check (mwst_satz between 0 and 100000000), -- percent
  satz_gesendet    integer not null check (satz_gesendet in (0, 1)), -- the request named the rate
  satz_datum       text not null,              -- D7: the day whose rates and Besteuerung hold
  -- why it is taxed or not, a code of UNCL5305
  steuer_kategorie text not null
    check ((steuer_kategorie = 'S' or steuer_kategorie = 'Z' or steuer_kategorie = 'E' or steuer_kategorie = 'AE'
      or steuer_kategorie = 'K' or steuer_kategorie = 'G' or steuer_kategorie = 'O')
      and (steuer_kategorie = 'S') = (mwst_satz > 0)),
  gesamtpreis      integer not null,           -- net, after discount
  charge_id        blob,                       -- the one batch that covers it
  charge_gesendet  integer not null check (charge_gesendet in (0, 1)), -- charge_id was named, not inherited
  fremde_charge_nr text,                       -- batch information as sent, purchase only
  mhd              text,
  herkunftsland    text,
  biozertifikat_id integer,
  lager_buchen     integer not null check (lager_buchen in (0, 1)), -- takes part in the stock
  lager_menge      integer,                    -- menge in the article's unit; null without article
  bezug_beleg_id   blob,                       -- the document that the item names (D38)
  bezug_position_id blob,                      -- its position, where one was named; it may be gone
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
  check (bezug_position_id is null or bezug_beleg_id is not null),
  foreign key (tenant_id, wiegung_id) references wiegung (tenant_id, id),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id),
  foreign key (tenant_id, kontrakt_id, kontrakt_position_id) references kontrakt_position (tenant_id, kontrakt_id, id)
) strict, without rowid;
-- Who names a position knows its id alone (D38). Ids grow with time, so the index is written at its end.
create unique index beleg_position_id on beleg_position (tenant_id, id);
-- There is none by article: a document of five articles wrote ten pages more for indexes in which nothing was looked for.
-- The receipts of a batch, for the oldest that stands (D8).
create index beleg_position_charge on beleg_position (tenant_id, charge_id) where charge_id is not null;
-- The documents of a weighing (D12).
create index beleg_position_wiegung on beleg_position (tenant_id, wiegung_id) where wiegung_id is not null;
create index beleg_position_bezug on beleg_position (tenant_id, bezug_beleg_id) where bezug_beleg_id is not null;
-- What was delivered on a contract (D21g).
create index beleg_position_kontrakt on beleg_position (tenant_id, kontrakt_id) where kontrakt_id is not null;

-- Which quantity a position names of another where no goods are paired over it (D38): of an order or quote, and by
-- what takes no part in the stock. What is paired stands in lager_paar. As there, no foreign keys.
create table beleg_fluss (
  tenant_id       integer not null,
  von_beleg_id    blob not null,               -- what is named
  von_position_id blob not null,
  beleg_id        blob not null,               -- who names it
  position_id     blob not null,
  -- In the article's unit; without an article in that of what is named. 0: a PUT of what is named left none of it.
  menge           integer not null check (menge >= 0),
  primary key (tenant_id, beleg_id, position_id, von_position_id)
) strict, without rowid;
create index beleg_fluss_von on beleg_fluss (tenant_id, von_beleg_id, von_position_id);

-- D38: whatever ties or unties a position has its document say anew whether something of it is left; so has what is paired
-- of a delivery, for the delivery and for the orders that it names.
create trigger beleg_position_rest after delete on beleg_position
  begin update beleg set hat_rest = null
    where tenant_id = old.tenant_id and id = old.beleg_id and hat_rest is not null; end;
create trigger beleg_fluss_rest_neu after insert on beleg_fluss
  begin update beleg set hat_rest = null
    where tenant_id = new.tenant_id and id = new.von_beleg_id and hat_rest is not null; end;
create trigger beleg_fluss_rest_weg after delete on beleg_fluss
  begin update beleg set hat_rest = null
    where tenant_id = old.tenant_id and id = old.von_beleg_id and hat_rest is not null; end;

-- D4: the positions of a finalised document stay as they are.
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

-- What leaves the house of a final document, frozen with it: its sheet and its e-invoice (D24, D25, D26).
create table ausfertigung (
  tenant_id  integer not null,
  beleg_id   blob not null,
  angaben    text not null,                    -- JSON of what the sheet says that lies in other tables
  profil     text check (profil = 'zugferd' or profil = 'xrechnung'),
  ausgabe    text,                             -- edition whose rules the e-invoice obeys
  sha256     blob check (length(sha256) = 32), -- of the e-invoice, unpacked
  grund      text,                             -- why there is no e-invoice
  erechnung  blob,                             -- XML, deflated (RFC 1951); last: what stands behind a blob is read through it
  check ((erechnung is null) = (sha256 is null) and (erechnung is null) = (profil is null)
    and (erechnung is null) = (ausgabe is null) and (erechnung is null) = (grund is not null)),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict;
create unique index ausfertigung_beleg on ausfertigung (tenant_id, beleg_id);
create trigger ausfertigung_neu before insert on ausfertigung
  when (select ereignis_am from beleg where tenant_id = new.tenant_id and id = new.beleg_id) is not null
  begin select raise(abort, 'a finalised document never changes'); end;
create trigger ausfertigung_nie_aendern before update on ausfertigung
  begin select raise(abort, 'ausfertigung is append-only'); end;
create trigger ausfertigung_nie_loeschen before delete on ausfertigung
  begin select raise(abort, 'ausfertigung is append-only'); end;

-- The version of a document before each change (D4). Never pruned.
create table beleg_verlauf (
  tenant_id  integer not null,
  beleg_id   blob not null,
  version    integer not null,                 -- from 1
  am         integer not null,
  key_id     text,                             -- null: the command line
  aktion     text not null
    check (aktion = 'aendern' or aktion = 'abschliessen' or aktion = 'storno' or aktion = 'erledigen'
      or aktion = 'folgen'),
  beleg      text not null,                    -- JSON of the document as it was
  primary key (tenant_id, beleg_id, version),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict;
create trigger beleg_verlauf_nie_aendern before update on beleg_verlauf
  begin select raise(abort, 'beleg_verlauf is append-only'); end;
create trigger beleg_verlauf_nie_loeschen before delete on beleg_verlauf
  begin select raise(abort, 'beleg_verlauf is append-only'); end;

-- The positions of a document in its history, stored once for all versions that have the same ones: those of a version
-- are the ones with the largest version up to it. Never pruned.
create table beleg_verlauf_positionen (
  tenant_id  integer not null,
  beleg_id   blob not null,
  version    integer not null,                 -- the first one that has them
  positionen any not null,                     -- JSON; above 64 KiB deflated (RFC 1951), a blob
  primary key (tenant_id, beleg_id, version),
  foreign key (tenant_id, beleg_id, version) references beleg_verlauf (tenant_id, beleg_id, version)
) strict;
create trigger beleg_verlauf_positionen_nie_aendern before update on beleg_verlauf_positionen
  begin select raise(abort, 'beleg_verlauf_positionen is append-only'); end;
create trigger beleg_verlauf_positionen_nie_loeschen before delete on beleg_verlauf_positionen
  begin select raise(abort, 'beleg_verlauf_positionen is append-only'); end;

-- The PDF archive of documents (D21c); the newest is the one that is served.
create table beleg_pdf (
  tenant_id   integer not null,
  id          blob not null check (length(id) = 16),
  beleg_id    blob not null,
  dateiname   text not null,
  sha256      blob not null check (length(sha256) = 32), -- of inhalt
  erstellt_am integer not null,
  inhalt      blob not null,                   -- last: what stands behind a blob is read through it
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict;
-- The PDFs of a document in the order in which they came.
create unique index beleg_pdf_id on beleg_pdf (tenant_id, beleg_id, id);
create trigger beleg_pdf_nie_aendern before update on beleg_pdf
  begin select raise(abort, 'beleg_pdf is append-only'); end;
create trigger beleg_pdf_nie_loeschen before delete on beleg_pdf
  begin select raise(abort, 'beleg_pdf is append-only'); end;

-- The mail server of a company (D27). Its password stands here as it is, for the mail server wants it: whoever reads the file
-- or a backup has it, and no page, route, log or history shows it.
create table postausgang (
  tenant_id        integer primary key references tenant (id),
  server           text not null,
  port             integer not null check (port between 1 and 65535),
  verschluesselung text not null check (verschluesselung in ('starttls', 'tls', 'keine')),
  benutzer         text,
  passwort         text,
  absender         text not null,
  antwort_an       text,
  zertifikat       text,                       -- PEM; trusted beside the public ones
  betreff          text not null,
  text             text not null,
  check ((benutzer is null) = (passwort is null))
) strict;

-- E-mails that people sent with documents (D27).
create table versand (
  tenant_id integer not null,
  id        blob not null check (length(id) = 16),
  beleg_id  blob not null,
  kunde_id  blob not null,                     -- whom it is about
  am        integer not null,
  key_id    text,                              -- `person 3`
  an        text,                              -- addresses; null, as the words, once the partner is forgotten
  betreff   text,
  text      text,
  anlagen   text not null,                     -- names of the files
  ergebnis  text check (ergebnis = 'gesendet' or ergebnis = 'nicht_gesendet' or ergebnis = 'ungewiss'), -- null: on its way
  meldung   text,                              -- why it was not sent
  primary key (tenant_id, id),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict;
create index versand_beleg on versand (tenant_id, beleg_id, id);
create index versand_kunde on versand (tenant_id, kunde_id);

-- What the lines of an invoice that was read in (D28) call their articles, until the document is final and confirms which
-- of ours they are.
create table beleg_lieferanten_nr (
  tenant_id integer not null,
  beleg_id  blob not null,
  position  integer not null check (position > 0),
  nummer    text not null,                     -- of the article with the supplier, in lower case
  netto     integer not null,                  -- total of the line: a position with another one is another line
  primary key (tenant_id, beleg_id, position),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict, without rowid;

-- Which of our articles a supplier means by a number of his; the last document that confirms one counts.
create table artikel_lieferant (
  tenant_id  integer not null,
  kunde_id   blob not null,
  nummer     text not null,                    -- in lower case
  artikel_id blob not null,
  primary key (tenant_id, kunde_id, nummer),
  foreign key (tenant_id, kunde_id) references kunde (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id)
) strict, without rowid;

-- The pairing of goods (D8). Pairs are facts: what a request paired stays until one of the positions is withdrawn.
-- These two tables have no foreign keys to documents, which would cost a look at the document for each row: they
-- follow from documents, which are never deleted, and `partnerd check` compares them.

-- What a position has moved and no counterpart has met. The key is the order in which it is met.
create table lager_offen (
  tenant_id  integer not null,
  kunde_id   blob not null,
  beleg_typ  text not null references belegtyp (lagertyp),
  artikel_id blob not null,
  -- Apart, so that who names a batch walks over no other, and what is untouched comes first (D38): 1 where the position
  -- named a batch, and 2 more where part of it has been met or taken back; 4 more where an invoice that names it left at
  -- most 1 %: that is closed, and met by name or by exactly its quantity alone.
  fach       integer not null check (fach between 0 and 5),
  beleg_id   blob not null,
  position   integer not null,
  nr         integer not null,                     -- goods of one position are met in the order in which they were moved
  charge_id  blob,                                 -- null: article without batches
  genannt_id blob,                                 -- the batch that the position named; an inherited one is not named
  menge      integer not null check (menge > 0),   -- in the article's unit
  gesamt     integer not null check (gesamt >= menge), -- all of the position that is open
  primary key (tenant_id, kunde_id, beleg_typ, artikel_id, fach, beleg_id, position, nr),
  check (fach % 2 = (genannt_id is not null))
) strict, without rowid;
-- The first of which exactly a quantity is open.
create index lager_offen_gesamt
  on lager_offen (tenant_id, kunde_id, beleg_typ, artikel_id, fach, gesamt, beleg_id, position, nr);
-- The first that names a batch, and the first that lies in one.
create index lager_offen_genannt
  on lager_offen (tenant_id, kunde_id, beleg_typ, artikel_id, genannt_id, beleg_id, position, nr)
  where genannt_id is not null;
create index lager_offen_charge
  on lager_offen (tenant_id, kunde_id, beleg_typ, artikel_id, charge_id, beleg_id, position, nr)
  where charge_id is not null;

-- Goods of which several positions speak, or for which a return or a credit waits. id is the order in which they were
-- made; art follows from the positions.
create table lager_paar (
  id                   integer primary key,
  tenant_id            integer not null,
  kunde_id             blob not null,
  einkauf              integer not null check (einkauf = 0 or einkauf = 1), -- EL and ER, or LS and RE
  artikel_id           blob not null,
  art                  text not null,
  lieferung_id         blob,
  lieferung_position   integer,
  rechnung_id          blob,
  rechnung_position    integer,
  rueckgabe_id         blob,
  rueckgabe_position   integer,
  gutschrift_id        blob,
  gutschrift_position  integer,
  nr                   integer not null,           -- as in lager_offen
  charge_id            blob,                       -- null: article without batches, or a credit that has moved nothing
  genannt_id           blob,                       -- the batch that its positions named, if one did
  menge                integer not null check (menge > 0), -- in the article's unit
  bewegt_von           text check (bewegt_von = 'lieferung' or bewegt_von = 'rechnung'),   -- who moved the goods
  zurueck_von          text check (zurueck_von = 'rueckgabe' or zurueck_von = 'gutschrift'), -- who moved them back
  check ((lieferung_id is null) = (lieferung_position is null)),
  check ((rechnung_id is null) = (rechnung_position is null)),
  check ((rueckgabe_id is null) = (rueckgabe_position is null)),
  check ((gutschrift_id is null) = (gutschrift_position is null)),
  check (bewegt_von is null or iif(bewegt_von = 'lieferung', lieferung_id, rechnung_id) is not null),
  check (zurueck_von is null or iif(zurueck_von = 'rueckgabe', rueckgabe_id, gutschrift_id) is not null),
  check (art = case
    when art = 'mehr_aufgehoben' and gutschrift_id is not null and rechnung_id is not null and lieferung_id is null
        and rueckgabe_id is null and bewegt_von is null and zurueck_von is null and charge_id is null
      then 'mehr_aufgehoben'                       -- a credit took back what an invoice says beyond its delivery
    when gutschrift_id is not null and rueckgabe_id is not null then 'erledigt'       -- return and credit have met
    when gutschrift_id is not null and rechnung_id is not null and zurueck_von is null
      then 'aufgehoben'                            -- a credit took back what a delivery covered: nothing moved
    when gutschrift_id is not null then 'gutschrift'                                  -- a credit waits for its return
    when rueckgabe_id is not null and rechnung_id is not null
      then 'rechnung_zurueck'                      -- a return took back what was invoiced, and waits for its credit
    when rueckgabe_id is not null and lieferung_id is not null then 'zurueckgenommen' -- a return took back a delivery
    when rueckgabe_id is not null then 'rueckgabe'                                    -- a return waits for its credit
    when lieferung_id is null then 'mehr'          -- what an invoice says beyond the delivery that it names: nothing moved
    else 'paar' end)                               -- delivery and invoice have met
) strict;
-- What is left of a delivery follows from its pairs. It is marked alone: the orders that it names are found from there.
create trigger lager_paar_rest_neu after insert on lager_paar when new.lieferung_id is not null
  begin update beleg set hat_rest = null
    where tenant_id = new.tenant_id and id = new.lieferung_id and hat_rest is not null; end;
create trigger lager_paar_rest_weg after delete on lager_paar when old.lieferung_id is not null
  begin update beleg set hat_rest = null
    where tenant_id = old.tenant_id and id = old.lieferung_id and hat_rest is not null; end;
create trigger lager_paar_rest_anders after update on lager_paar
  when new.lieferung_id is not old.lieferung_id or new.rechnung_id is not old.rechnung_id
    or new.rueckgabe_id is not old.rueckgabe_id or new.menge <> old.menge
  begin
    update beleg set hat_rest = null
      where tenant_id = old.tenant_id and id = old.lieferung_id and hat_rest is not null;
    update beleg set hat_rest = null
      where tenant_id = new.tenant_id and id = new.lieferung_id and hat_rest is not null;
  end;
-- The first pair that could be taken back; as in lager_offen, those that name a batch stand apart, and once more by the
-- batch in which they lie.
create index lager_paar_paare
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, genannt_id is not null, rechnung_id, rechnung_position)
  where art = 'paar';
create index lager_paar_paare_charge
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, charge_id, rechnung_id, rechnung_position)
  where art = 'paar' and charge_id is not null;
-- The first return and the first credit that wait.
create index lager_paar_rueckgaben
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, rueckgabe_id, rueckgabe_position)
  where art = 'rueckgabe';
create index lager_paar_rechnungen_zurueck
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, rueckgabe_id, rueckgabe_position)
  where art = 'rechnung_zurueck';
create index lager_paar_gutschriften
  on lager_paar (tenant_id, kunde_id, einkauf, artikel_id, gutschrift_id, gutschrift_position)
  where art = 'gutschrift';
-- What a position takes part in, in each role: that is what its withdrawal sets free.
create index lager_paar_lieferung on lager_paar (tenant_id, lieferung_id, lieferung_position)
  where lieferung_id is not null;
create index lager_paar_rechnung on lager_paar (tenant_id, rechnung_id, rechnung_position)
  where rechnung_id is not null;
create index lager_paar_rueckgabe on lager_paar (tenant_id, rueckgabe_id, rueckgabe_position)
  where rueckgabe_id is not null;
create index lager_paar_gutschrift on lager_paar (tenant_id, gutschrift_id, gutschrift_position)
  where gutschrift_id is not null;

------------------------------------------------------------------------------------------------------------------------
-- annahmescheine
------------------------------------------------------------------------------------------------------------------------

-- What a lorry brought and what is paid for (D21a, D23). A note moves no stock; its EL does.
create table annahmeschein (
  tenant_id            integer not null references tenant (id),
  id                   blob not null check (length(id) = 16),
  belegnummer          text not null,          -- D5
  status               text not null check (status in ('offen', 'abgerechnet', 'storniert')), -- D3
  ist_abgerechnet      integer not null default 0 check (ist_abgerechnet in (0, 1)), -- 1: an import says so
  lieferdatum          text,
  partner_id           blob,
  artikel_id           blob,
  wiegung_id           blob,
  anliefermenge_kg     integer check (anliefermenge_kg > 0),
  feuchte_prozent      integer check (feuchte_prozent between 0 and 100000000),
  basisfeuchte_prozent integer check (basisfeuchte_prozent between 0 and 100000000), -- null: no deduction
  schwundfaktor        integer not null check (schwundfaktor >= 0), -- in millionths: loss for each percent of moisture
  besatz_prozent       integer check (besatz_prozent between 0 and 100000000),
  basisbesatz_prozent  integer check (basisbesatz_prozent between 0 and 100000000), -- null: no deduction
  sonstige_abzuege_kg  integer not null check (sonstige_abzuege_kg >= 0),
  preis_je_t           integer check (preis_je_t >= 0), -- net, per 1,000 kg
  netto_menge_kg       integer check (netto_menge_kg >= 0), -- what is paid for
  netto_betrag         integer,
  kontrakt_id          blob,
  kontrakt_position_id blob,
  fremde_charge_nr     text,
  herkunftsland        text,
  biozertifikat_id     integer,
  bemerkung            text,
  external_ref         text,
  anfrage_sha256       blob,                   -- the creating request, normalised; null: imported
  el_beleg_id          blob,                   -- the EL that was made with it
  schema_id            blob,                   -- how it is settled (D29b); null: as D23 says
  schema_version       integer,                -- the version that netto_menge_kg follows from
  sperrgruende         text,                   -- JSON: why it waits for a person (D29d); null: it does not
  ist_vorlaeufig       integer not null default 0 check (ist_vorlaeufig in (0, 1)), -- 1: the mean of a partie will hold (D29e)
  abrechnung_id        blob,                   -- its last final settlement (D29i); it lives as long as its document
  storno_grund         text,
  angelegt_am          integer not null,
  primary key (tenant_id, id),
  unique (tenant_id, belegnummer),
  foreign key (tenant_id, partner_id) references kunde (tenant_id, id),
  foreign key (tenant_id, artikel_id) references artikel (tenant_id, id),
  foreign key (tenant_id, wiegung_id) references wiegung (tenant_id, id),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id),
  foreign key (tenant_id, kontrakt_id, kontrakt_position_id)
    references kontrakt_position (tenant_id, kontrakt_id, id),
  foreign key (tenant_id, biozertifikat_id) references biozertifikat (tenant_id, id),
  foreign key (tenant_id, el_beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, schema_id, schema_version)
    references abrechnungsschema_version (tenant_id, schema_id, version),
  foreign key (tenant_id, abrechnung_id) references abrechnung (tenant_id, id)
) strict, without rowid;
-- A repeated request finds the note that the first one made (D19).
create unique index annahmeschein_external_ref on annahmeschein (tenant_id, external_ref)
  where external_ref is not null;
-- The order of the list, alone and behind its filter.
create index annahmeschein_ordnung on annahmeschein (tenant_id, lieferdatum desc, id);
create index annahmeschein_status on annahmeschein (tenant_id, status, lieferdatum desc, id);
create index annahmeschein_partner on annahmeschein (tenant_id, partner_id) where partner_id is not null;
create index annahmeschein_artikel on annahmeschein (tenant_id, artikel_id) where artikel_id is not null;
-- The note of a weighing (D12).
create index annahmeschein_wiegung on annahmeschein (tenant_id, wiegung_id) where wiegung_id is not null;
create index annahmeschein_kontrakt on annahmeschein (tenant_id, kontrakt_id) where kontrakt_id is not null;
create index annahmeschein_zertifikat on annahmeschein (tenant_id, biozertifikat_id) where biozertifikat_id is not null;
create index annahmeschein_gesperrt on annahmeschein (tenant_id, lieferdatum desc, id) where sperrgruende is not null;
create index annahmeschein_schema on annahmeschein (tenant_id, schema_id, schema_version) where schema_id is not null;
create index annahmeschein_abrechnung on annahmeschein (tenant_id, abrechnung_id) where abrechnung_id is not null;
create index annahmeschein_el on annahmeschein (tenant_id, el_beleg_id) where el_beleg_id is not null;

-- What was measured of a note (D29a), and why a person ended its lock (D29d). Nothing of it is changed or deleted.
create table annahme_analyse (
  tenant_id        integer not null,
  annahmeschein_id blob not null,
  version          integer not null check (version > 0), -- counts both, from 1
  am               integer not null,
  key_id           text,                       -- `person 3`
  quelle           text check (quelle = 'annahme' or quelle = 'labor' or quelle = 'nachanalyse'), -- null: a release
  geraet           text,                       -- with which it was measured
  probe_nr         text,
  werte            text not null,              -- JSON: [{merkmal, wert}]; the newest value of each counts
  grund            text,                       -- of a release
  sperrgruende     text,                       -- JSON: the locks that it ended
  schema_id        blob,                       -- the scheme that it named
  primary key (tenant_id, annahmeschein_id, version),
  check ((quelle is null) = (grund is not null)),
  foreign key (tenant_id, annahmeschein_id) references annahmeschein (tenant_id, id),
  foreign key (tenant_id, schema_id) references abrechnungsschema (tenant_id, id)
) strict, without rowid;
create trigger annahme_analyse_bleibt before update on annahme_analyse
  begin select raise(abort, 'annahme_analyse is append-only'); end;
create trigger annahme_analyse_nie_loeschen before delete on annahme_analyse
  begin select raise(abort, 'annahme_analyse is append-only'); end;

-- A settlement of notes (D29g): it is a Gutschrift, the document beleg_id, and lives as long as that one.
create table abrechnung (
  tenant_id   integer not null,
  id          blob not null check (length(id) = 16),
  beleg_id    blob not null,
  art         text not null check (art = 'end' or art = 'abschlag' or art = 'nachverguetung'),
  anfrage     text not null,                   -- JSON: what was asked for, so that a correction asks the same
  anfrage_sha256 blob not null,                -- of the creating request, normalised (D19)
  korrektur_von blob,                          -- the settlement whose place it takes
  angelegt_am integer not null,
  key_id      text,                            -- `person 3`; null: the command line
  primary key (tenant_id, id),
  unique (tenant_id, beleg_id),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id),
  foreign key (tenant_id, korrektur_von) references abrechnung (tenant_id, id)
) strict, without rowid;
create index abrechnung_korrektur on abrechnung (tenant_id, korrektur_von) where korrektur_von is not null;
create trigger abrechnung_bleibt before update on abrechnung
  begin select raise(abort, 'abrechnung is append-only'); end;
create trigger abrechnung_nie_loeschen before delete on abrechnung
  begin select raise(abort, 'abrechnung is append-only'); end;

-- What a settlement says of a note, as it is printed: nothing is computed again for a sheet.
create table abrechnung_annahme (
  tenant_id        integer not null,
  abrechnung_id    blob not null,
  annahmeschein_id blob not null,
  nr               integer not null check (nr > 0), -- order of the notes: by lieferdatum, then id
  position         integer not null,           -- the first item of the document that is of this note
  analyse          integer not null,           -- the version of its analyses that was used; 0: none
  netto_kg         integer not null,
  kontrakt_id      blob,
  kontrakt_teile   text not null default '[]', -- JSON: [{position, kg}], at the price of each position; kg in millionths
  mwst_satz        integer not null,           -- of its lieferdatum (D7)
  steuer_kategorie text not null,              -- why it is that one
  betrag           integer not null,           -- net, before advances
  inhalt           text not null,              -- JSON: rules::settlement::AbrechnungsPosten
  primary key (tenant_id, abrechnung_id, annahmeschein_id),
  foreign key (tenant_id, abrechnung_id) references abrechnung (tenant_id, id),
  foreign key (tenant_id, annahmeschein_id) references annahmeschein (tenant_id, id),
  foreign key (tenant_id, kontrakt_id) references kontrakt (tenant_id, id)
) strict, without rowid;
create index abrechnung_annahme_schein on abrechnung_annahme (tenant_id, annahmeschein_id);
create index abrechnung_annahme_kontrakt on abrechnung_annahme (tenant_id, kontrakt_id) where kontrakt_id is not null;
create trigger abrechnung_annahme_bleibt before update on abrechnung_annahme
  begin select raise(abort, 'abrechnung_annahme is append-only'); end;
create trigger abrechnung_annahme_nie_loeschen before delete on abrechnung_annahme
  begin select raise(abort, 'abrechnung_annahme is append-only'); end;

-- The state of a note and the one that it should have (D21a): it is settled where an import says so, while its final
-- settlement (D29i) is a final document, and while final invoices have met all goods of its EL that were not returned, and some have.
create view annahmeschein_stand as
select s.tenant_id, s.id, s.el_beleg_id, s.status, case when s.status = 'storniert' then s.status
    when s.ist_abgerechnet = 1 or exists (select 1 from abrechnung a
        join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
      where a.tenant_id = s.tenant_id and a.id = s.abrechnung_id and b.status in ('abgeschlossen', 'erledigt'))
    or s.el_beleg_id is not null
    and exists (select 1 from lager_paar l
      where l.tenant_id = s.tenant_id and l.lieferung_id = s.el_beleg_id and l.rueckgabe_id is null)
    and not exists (select 1 from lager_paar l
        left join beleg r on r.tenant_id = l.tenant_id and r.id = l.rechnung_id
      where l.tenant_id = s.tenant_id and l.lieferung_id = s.el_beleg_id and l.rueckgabe_id is null
        and coalesce(r.status, 'offen') not in ('abgeschlossen', 'erledigt'))
    -- without the temporary table that in (0, 1) would make each time
    and not exists (select 1 from (select 0 as fach union all select 1 union all select 2 union all select 3) g
        cross join beleg_position p on p.tenant_id = s.tenant_id and p.beleg_id = s.el_beleg_id
        join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
        join lager_offen o on o.tenant_id = p.tenant_id and o.kunde_id = b.kunde_id and o.beleg_typ = b.beleg_typ
          and o.artikel_id = p.artikel_id and o.fach = g.fach and o.beleg_id = p.beleg_id)
  then 'abgerechnet' else 'offen' end as stand
from annahmeschein s;

-- Whoever changes what an EL has met brings its note to the state that follows.
create trigger annahmeschein_folgt instead of insert on annahmeschein_stand begin
  update annahmeschein set status = new.status where tenant_id = new.tenant_id and id = new.id;
end;

------------------------------------------------------------------------------------------------------------------------
-- buchhaltung
------------------------------------------------------------------------------------------------------------------------

-- What DATEV computes by itself on the accounts of a range (D31). A company begins with what a grain trader needs of the
-- charts of 2026, and may add others.
create table konto_funktion (
  tenant_id integer not null references tenant (id),
  rahmen    text not null check (rahmen in ('03', '04')),
  von       integer not null check (von between 1 and 9999), -- accounts of four digits
  bis       integer not null check (bis between 1 and 9999 and bis >= von),
  ab_jahr   integer not null,
  art       text not null check (art in ('umsatzsteuer', 'vorsteuer', 'frei', 'sonder')),
  satz      integer check (satz between 0 and 100000000), -- percent
  bezeichnung text,
  primary key (tenant_id, rahmen, von, bis, ab_jahr)
) strict, without rowid;

-- What a tax key means (D31). A company begins with the common ones of DATEV, and may add others.
create table bu_schluessel (
  tenant_id integer not null references tenant (id),
  art       text not null check (art in ('umsatzsteuer', 'vorsteuer', 'ig_erwerb', 'leistung_13b', 'ig_lieferung', 'frei')),
  seite     text not null check (seite in ('verkauf', 'einkauf')),
  satz      integer not null check (satz between 0 and 100000000), -- percent
  von       text not null,
  bis       text,                              -- last day; null: until further notice
  kurz      text,                              -- one or two digits
  lang      text,                              -- three or four digits
  bezeichnung text,
  primary key (tenant_id, art, seite, satz, von),
  check (kurz is not null or lang is not null)
) strict, without rowid;

create trigger bu_schluessel_vorlage after insert on tenant begin
  insert into bu_schluessel (tenant_id, art, seite, satz, von, bis, kurz, lang)
    select new.id, column1, column2, column3, column4, column5, column6, column7 from (values
    ('umsatzsteuer', 'verkauf', 19000000, '2007-01-01', '2020-06-30', '3', '101'),
    ('umsatzsteuer', 'verkauf', 7000000, '2007-01-01', '2020-06-30', '2', '102'),
    ('umsatzsteuer', 'verkauf', 16000000, '2020-07-01', '2020-12-31', '3', '101'),
    ('umsatzsteuer', 'verkauf', 5000000, '2020-07-01', '2020-12-31', '2', '102'),
    ('umsatzsteuer', 'verkauf', 19000000, '2021-01-01', null, '3', '101'),
    ('umsatzsteuer', 'verkauf', 7000000, '2021-01-01', null, '2', '102'),
    ('vorsteuer', 'einkauf', 19000000, '2007-01-01', '2020-06-30', '9', '401'),
    ('vorsteuer', 'einkauf', 7000000, '2007-01-01', '2020-06-30', '8', '402'),
    ('vorsteuer', 'einkauf', 16000000, '2020-07-01', '2020-12-31', '9', '401'),
    ('vorsteuer', 'einkauf', 5000000, '2020-07-01', '2020-12-31', '8', '402'),
    ('vorsteuer', 'einkauf', 19000000, '2021-01-01', null, '9', '401'),
    ('vorsteuer', 'einkauf', 7000000, '2021-01-01', null, '8', '402'),
    ('ig_erwerb', 'einkauf', 19000000, '2007-01-01', '2020-06-30', '19', null),
    ('ig_erwerb', 'einkauf', 7000000, '2007-01-01', '2020-06-30', '18', null),
    ('ig_erwerb', 'einkauf', 16000000, '2020-07-01', '2020-12-31', '19', null),
    ('ig_erwerb', 'einkauf', 5000000, '2020-07-01', '2020-12-31', '18', null),
    ('ig_erwerb', 'einkauf', 19000000, '2021-01-01', null, '19', null),
    ('ig_erwerb', 'einkauf', 7000000, '2021-01-01', null, '18', null),
    ('umsatzsteuer', 'verkauf', 16000000, '2021-01-01', null, '5', null),
    ('umsatzsteuer', 'verkauf', 5000000, '2021-01-01', null, '4', null),
    ('vorsteuer', 'einkauf', 16000000, '2021-01-01', null, '7', null),
    ('vorsteuer', 'einkauf', 5000000, '2021-01-01', null, '6', null),
    ('ig_erwerb', 'einkauf', 16000000, '2021-01-01', null, '17', null),
    ('ig_erwerb', 'einkauf', 5000000, '2021-01-01', null, '16', null),
    ('leistung_13b', 'einkauf', 19000000, '2007-01-01', '2020-06-30', '94', null),
    ('leistung_13b', 'einkauf', 16000000, '2020-07-01', '2020-12-31', '94', null),
    ('leistung_13b', 'einkauf', 19000000, '2021-01-01', null, '94', null),
    ('leistung_13b', 'einkauf', 7000000, '2021-01-01', null, '91', null),
    ('leistung_13b', 'einkauf', 16000000, '2021-01-01', null, '50', null),
    ('frei', 'verkauf', 0, '2007-01-01', null, '1', null),
    ('ig_lieferung', 'verkauf', 0, '2007-01-01', null, '11', null));
end;

create trigger konto_funktion_vorlage after insert on tenant begin
  insert into konto_funktion (tenant_id, rahmen, von, bis, ab_jahr, art, satz)
    select new.id, column1, column2, column3, column4, column5, column6 from (values
    ('03', 3010, 3010, 2007, 'vorsteuer', 7000000), ('03', 3030, 3030, 2007, 'vorsteuer', 19000000),
    ('03', 3071, 3071, 2025, 'vorsteuer', 7800000), ('03', 3106, 3106, 2007, 'vorsteuer', 19000000),
    ('03', 3123, 3123, 2007, 'sonder', 19000000), ('03', 3125, 3125, 2007, 'sonder', 19000000),
    ('03', 3300, 3309, 2007, 'vorsteuer', 7000000), ('03', 3400, 3409, 2007, 'vorsteuer', 19000000),
    ('03', 3420, 3424, 2007, 'sonder', 7000000), ('03', 3425, 3429, 2007, 'sonder', 19000000),
    ('03', 3505, 3509, 2007, 'vorsteuer', 5500000), ('03', 3540, 3549, 2025, 'vorsteuer', 7800000),
    ('03', 3550, 3550, 2007, 'frei', null), ('03', 8100, 8104, 2007, 'frei', null),
    ('03', 8120, 8120, 2007, 'frei', null), ('03', 8125, 8125, 2007, 'frei', null),
    ('03', 8192, 8192, 2007, 'frei', null), ('03', 8290, 8290, 2007, 'umsatzsteuer', 0),
    ('03', 8300, 8309, 2007, 'umsatzsteuer', 7000000), ('03', 8336, 8336, 2007, 'frei', null),
    ('03', 8337, 8337, 2007, 'frei', null), ('03', 8338, 8338, 2007, 'frei', null),
    ('03', 8339, 8339, 2007, 'frei', null), ('03', 8400, 8419, 2007, 'umsatzsteuer', 19000000),
    ('04', 4100, 4104, 2007, 'frei', null), ('04', 4120, 4120, 2007, 'frei', null),
    ('04', 4125, 4125, 2007, 'frei', null), ('04', 4184, 4184, 2007, 'frei', null),
    ('04', 4290, 4290, 2007, 'umsatzsteuer', 0), ('04', 4300, 4309, 2007, 'umsatzsteuer', 7000000),
    ('04', 4336, 4336, 2007, 'frei', null), ('04', 4337, 4337, 2007, 'frei', null),
    ('04', 4338, 4338, 2007, 'frei', null), ('04', 4339, 4339, 2007, 'frei', null),
    ('04', 4400, 4419, 2007, 'umsatzsteuer', 19000000), ('04', 5110, 5110, 2007, 'vorsteuer', 7000000),
    ('04', 5130, 5130, 2007, 'vorsteuer', 19000000), ('04', 5171, 5171, 2025, 'vorsteuer', 7800000),
    ('04', 5300, 5309, 2007, 'vorsteuer', 7000000), ('04', 5400, 5409, 2007, 'vorsteuer', 19000000),
    ('04', 5420, 5424, 2007, 'sonder', 7000000), ('04', 5425, 5429, 2007, 'sonder', 19000000),
    ('04', 5505, 5509, 2007, 'vorsteuer', 5500000), ('04', 5540, 5549, 2025, 'vorsteuer', 7800000),
    ('04', 5550, 5550, 2007, 'frei', null), ('04', 5906, 5906, 2007, 'vorsteuer', 19000000),
    ('04', 5923, 5923, 2007, 'sonder', 19000000), ('04', 5925, 5925, 2007, 'sonder', 19000000));
end;

-- The account of the positions of a case, and of a rate and a group of articles where it names them (D31).
create table konto (
  tenant_id        integer not null references tenant (id),
  fall             text not null,
  satz             integer check (satz between 0 and 100000000), -- percent
  artikelgruppe_id integer,
  konto            integer not null check (konto > 0),
  bu               text,                       -- tax key
  automatik        integer not null check (automatik in (0, 1)), -- computes its tax itself, though konto_funktion does not say so
  foreign key (tenant_id, artikelgruppe_id) references artikelgruppe (tenant_id, id)
) strict;
create unique index konto_schluessel on konto (tenant_id, fall, ifnull(satz, -1), ifnull(artikelgruppe_id, -1));

-- Batches of final invoices that were handed over to the adviser's books (D32). They stay as they left the house.
create table datev_stapel (
  tenant_id       integer not null references tenant (id),
  id              blob not null check (length(id) = 16),
  nr              integer not null check (nr > 0),
  am              integer not null,
  von             text,                        -- null: from the beginning
  bis             text not null,
  belege          integer not null,
  zeilen          integer not null,
  summe           integer not null,            -- of the lines of partners, without regard to their side
  hinweise        text not null,               -- JSON
  verworfen_am    integer,
  verworfen_grund text,
  primary key (tenant_id, nr),
  check ((verworfen_am is null) = (verworfen_grund is null))
) strict, without rowid;
create unique index datev_stapel_id on datev_stapel (tenant_id, id);
create trigger datev_stapel_bleibt before update on datev_stapel
  when old.verworfen_am is not null or new.verworfen_am is null
    or (new.tenant_id, new.id, new.nr, new.am, new.von, new.bis, new.belege, new.zeilen, new.summe, new.hinweise)
      is not (old.tenant_id, old.id, old.nr, old.am, old.von, old.bis, old.belege, old.zeilen, old.summe, old.hinweise)
  begin select raise(abort, 'a batch can only be discarded'); end;
create trigger datev_stapel_nie_loeschen before delete on datev_stapel
  begin select raise(abort, 'batches are never deleted'); end;

-- The documents of a batch.
create table datev_beleg (
  tenant_id integer not null,
  stapel_nr integer not null,
  beleg_id  blob not null,
  betrag    integer not null,                  -- of its lines on the account of the partner; what increases the claim is above 0
  verworfen integer not null default 0 check (verworfen in (0, 1)), -- with its batch
  primary key (tenant_id, stapel_nr, beleg_id),
  foreign key (tenant_id, stapel_nr) references datev_stapel (tenant_id, nr),
  foreign key (tenant_id, beleg_id) references beleg (tenant_id, id)
) strict, without rowid;
-- Each document is in one batch at most (D32).
create unique index datev_beleg_einmal on datev_beleg (tenant_id, beleg_id) where verworfen = 0;
create trigger datev_beleg_bleibt before update on datev_beleg
  when (new.tenant_id, new.stapel_nr, new.beleg_id, new.betrag) is not (old.tenant_id, old.stapel_nr, old.beleg_id, old.betrag)
    or new.verworfen < old.verworfen
  begin select raise(abort, 'batches never change'); end;
create trigger datev_beleg_nie_loeschen before delete on datev_beleg
  begin select raise(abort, 'batches are never deleted'); end;

-- The files of a batch.
create table datev_datei (
  tenant_id integer not null,
  stapel_nr integer not null,
  nr        integer not null,                  -- from 1, in the order of their names
  name      text not null,
  zeilen    integer not null,                  -- records
  sha256    blob not null check (length(sha256) = 32), -- unpacked
  inhalt    blob not null,                     -- deflated (RFC 1951)
  primary key (tenant_id, stapel_nr, nr),
  foreign key (tenant_id, stapel_nr) references datev_stapel (tenant_id, nr)
) strict;
create trigger datev_datei_nie_aendern before update on datev_datei
  begin select raise(abort, 'datev_datei is append-only'); end;
create trigger datev_datei_nie_loeschen before delete on datev_datei
  begin select raise(abort, 'datev_datei is append-only'); end;

-- What was handed over of the master data of a partner: it goes again when it is another (D34).
create table datev_stamm (
  tenant_id integer not null,
  konto     integer not null,
  stapel_nr integer not null,
  sha256    blob not null check (length(sha256) = 32), -- of its record
  primary key (tenant_id, konto, stapel_nr),
  foreign key (tenant_id, stapel_nr) references datev_stapel (tenant_id, nr)
) strict, without rowid;

------------------------------------------------------------------------------------------------------------------------
-- z3
------------------------------------------------------------------------------------------------------------------------

-- Hand-overs of the data of a period to an auditor (D36): each is asked for, made beside the requests, and a file beside
-- the database then.
create table z3 (
  tenant_id   integer not null references tenant (id),
  id          blob not null check (length(id) = 16),
  von         text not null,
  bis         text not null,                   -- last day
  mit_belegen integer not null check (mit_belegen in (0, 1)), -- with the files of its documents
  angelegt_am integer not null,
  key_id      text,                            -- `person 3`
  schritt     integer not null default 0,      -- at which step it is; 0: it waits
  beendet_am  integer,                         -- null: it waits or is being made
  zeilen      integer,                         -- rows of all tables
  bytes       integer,                         -- of the file
  sha256      blob check (length(sha256) = 32), -- of the file; null: there is none
  fehler      text,                            -- why there is none
  primary key (tenant_id, id),
  check (beendet_am is null and sha256 is null and fehler is null
    or beendet_am is not null and (sha256 is null) = (fehler is not null)),
  check ((bytes is null) = (sha256 is null) and (zeilen is null) = (sha256 is null))
) strict, without rowid;
-- Those that wait, the oldest first.
create index z3_offen on z3 (tenant_id, id) where beendet_am is null;

------------------------------------------------------------------------------------------------------------------------
-- leitstand
------------------------------------------------------------------------------------------------------------------------

-- People who use the Leitstand (D27).
create table person (
  id          integer primary key,
  name        text not null collate nocase unique check (length(name) between 1 and 60),
  rolle       text not null check (rolle in ('ansehen', 'buero', 'verwalten')),
  alle_firmen integer not null check (alle_firmen in (0, 1)),
  aktiv       integer not null default 1 check (aktiv in (0, 1)),
  hash        text,                           -- argon2id, PHC format; null: no password yet
  angelegt_am integer not null
) strict;

-- The companies of a person who does not see all.
create table person_firma (
  person_id integer not null references person (id),
  firma_id  integer not null references tenant (id),
  primary key (person_id, firma_id)
) strict, without rowid;

-- The link with which a person sets a password: one at a time, spent when the password is set.
create table person_link (
  person_id integer primary key references person (id),
  digest    blob not null unique check (length(digest) = 32),
  bis       integer not null
) strict;

-- Who is logged in, by the digest of the cookie.
create table person_sitzung (
  digest    blob primary key check (length(digest) = 32),
  person_id integer not null references person (id),
  bis       integer not null
) strict, without rowid;
create index person_sitzung_person on person_sitzung (person_id, bis);
