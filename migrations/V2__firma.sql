-- Master data of companies, and what final documents keep of both sides (D24).

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
