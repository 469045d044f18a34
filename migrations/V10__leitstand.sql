-- People who use the Leitstand (D27).

create table person (
  id          integer primary key,
  name        text not null collate nocase unique check (length(name) between 1 and 60),
  rolle       text not null check (rolle in ('ansehen', 'verwalten')),
  alle_firmen integer not null check (alle_firmen in (0, 1)),
  aktiv       integer not null default 1 check (aktiv in (0, 1)),
  hash        text,                       -- argon2id, PHC format; null: no password yet
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
