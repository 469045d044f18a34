-- Master data of companies and what e-invoices need of partners (D24).

-- As what a partner gets its e-invoices: ZUGFeRD, XRechnung, or not at all.
alter table kunde add column e_rechnung text not null default 'zugferd'
  check (e_rechnung = 'zugferd' or e_rechnung = 'xrechnung' or e_rechnung = 'aus');
-- What the partner wants to recognise an invoice by: of an authority its Leitweg-ID.
alter table kunde add column kaeuferreferenz text;
-- Where e-invoices go; null: its e-mail address.
alter table kunde add column e_adresse text;
-- Day on which the supplier agreed that the company writes the credit notes (UStG § 14 (2)).
alter table kunde add column gutschrift_vereinbart_am text;

-- A picture that stands on the documents of a company; documents drawn before it was replaced keep theirs.
create table firma_logo (
  tenant_id integer not null references tenant (id),
  sha256    blob not null check (length(sha256) = 32),
  inhalt    blob not null check (length(inhalt) <= 204800), -- PNG or JPEG
  primary key (tenant_id, sha256)
) strict;

-- The master data of a company, one row for each state of them: the highest number holds now, and a final document
-- refers to the state that held then.
create table firma (
  tenant_id          integer not null references tenant (id),
  nr                 integer not null check (nr > 0),
  seit               integer not null,          -- milliseconds since 1970
  firma              text,                      -- legal name
  strasse            text,
  plz                text,
  ort                text,
  staat              text not null default 'DE', -- ISO 3166-1 alpha-2
  ust_id             text,
  steuernummer       text,
  registernummer     text,
  rechnungstext      text,                      -- register court, managing directors
  email              text,
  kontakt_name       text,
  kontakt_telefon    text,
  kontakt_email      text,
  iban               text,
  bic                text,
  kontoinhaber       text,
  oeko_kontrollstelle text,
  logo               blob,
  primary key (tenant_id, nr),
  foreign key (tenant_id, logo) references firma_logo (tenant_id, sha256)
) strict;
create trigger firma_nie_aendern before update on firma
  begin select raise(abort, 'firma is append-only'); end;
create trigger firma_nie_loeschen before delete on firma
  begin select raise(abort, 'firma is append-only'); end;
create trigger firma_logo_nie_aendern before update on firma_logo
  begin select raise(abort, 'firma_logo is append-only'); end;
create trigger firma_logo_nie_loeschen before delete on firma_logo
  begin select raise(abort, 'firma_logo is append-only'); end;
