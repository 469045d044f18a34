-- What documents need to become e-invoices (D24, D26).

-- What happens where an e-invoice cannot be made, and whether the company is a Kleinunternehmer (UStG § 19).
alter table tenant add column e_rechnung text not null default 'hinweis'
  check (e_rechnung in ('aus', 'hinweis', 'pflicht'));
alter table tenant add column kleinunternehmer integer not null default 0 check (kleinunternehmer in (0, 1));

-- Why a position is taxed or not, a code of UNCL5305; null in rows from before this migration: it follows from the rate.
alter table beleg_position add column steuer_kategorie text
  check ((steuer_kategorie = 'S' or steuer_kategorie = 'Z' or steuer_kategorie = 'E' or steuer_kategorie = 'AE'
    or steuer_kategorie = 'K' or steuer_kategorie = 'G' or steuer_kategorie = 'O')
    and (steuer_kategorie = 'S') = (mwst_satz > 0));

-- An ER that the company writes for its supplier (UStG § 14 (2)).
alter table beleg add column gutschrift integer not null default 0
  check (gutschrift = 0 or gutschrift = 1 and beleg_typ = 'ER');
