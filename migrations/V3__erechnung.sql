-- What documents need to become e-invoices (D24, D26).

-- What happens where an e-invoice cannot be made, and whether the company is a Kleinunternehmer (UStG § 19).
alter table tenant add column e_rechnung text not null default 'hinweis'
  check (e_rechnung in ('aus', 'hinweis', 'pflicht'));
alter table tenant add column kleinunternehmer integer not null default 0 check (kleinunternehmer in (0, 1));
