-- What leaves the house: sheet and e-invoice of final documents (D24, D25, D26).

-- More of the partner as it was when the document became final (D24).
alter table beleg add column kunden_kundennr text;
alter table beleg add column kunden_steuernummer text;
alter table beleg add column kunden_email text;
alter table beleg add column kunden_iban text;
alter table beleg add column kunden_bic text;
alter table beleg add column kunden_kaeuferreferenz text;
alter table beleg add column kunden_e_adresse text;
-- The state of the company's master data (firma.nr) that held then; 0: there was none; null: an older document.
alter table beleg add column firma_nr integer;
-- When its sheet came to be; null: it has none.
alter table beleg add column blatt_am integer;
-- Which columns its checksum covers: 1 those of documents from before this one, 2 all.
alter table beleg add column kette_form integer not null default 1 check (kette_form in (1, 2));

-- What is frozen with a document that has a sheet.
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
  when (select kette_nr from beleg where tenant_id = new.tenant_id and id = new.beleg_id) is not null
  begin select raise(abort, 'a finalised document never changes'); end;
create trigger ausfertigung_nie_aendern before update on ausfertigung
  begin select raise(abort, 'ausfertigung is append-only'); end;
create trigger ausfertigung_nie_loeschen before delete on ausfertigung
  begin select raise(abort, 'ausfertigung is append-only'); end;

-- A finalised document never changes (D4): only its state, its events and why it was cancelled. What is not named here
-- may change: status, ereignis_am, storno_grund, version, geaendert_am, such_text.
drop trigger beleg_abgeschlossen;
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
    or new.storno_von_beleg_id is not old.storno_von_beleg_id or new.angelegt_am <> old.angelegt_am
    or new.gutschrift <> old.gutschrift or new.kunden_kundennr is not old.kunden_kundennr
    or new.kunden_steuernummer is not old.kunden_steuernummer or new.kunden_email is not old.kunden_email
    or new.kunden_iban is not old.kunden_iban or new.kunden_bic is not old.kunden_bic
    or new.kunden_kaeuferreferenz is not old.kunden_kaeuferreferenz
    or new.kunden_e_adresse is not old.kunden_e_adresse or new.firma_nr is not old.firma_nr
    or new.blatt_am is not old.blatt_am or new.kette_form <> old.kette_form)
  begin select raise(abort, 'a finalised document never changes'); end;
