//! Names beside ids, for auditors who cannot join: SQL expressions that several tables share.

/// The number of a document in this period or before it; in the latter case the file has no row for it.
macro_rules! belegnummer {
    ($id:literal) => {
        concat!("(select n.beleg_nummer from beleg n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

/// The author of a change by name, for histories and the log: a person, a key, or the command line or service.
macro_rules! wer {
    ($id:literal) => {
        concat!(
            "case when ",
            $id,
            " is null then 'Kommandozeile oder Dienst' when ",
            $id,
            " like 'person %' then 'Person ' || coalesce((select n.name from person n where n.id = cast(substr(",
            $id,
            ", 8) as integer)), substr(",
            $id,
            ", 8)) else 'Schlüssel ' || coalesce((select n.bezeichnung from api_key n \
             where n.tenant_id = :tenant and n.id = ",
            $id,
            "), ",
            $id,
            ") end"
        )
    };
}

macro_rules! partner {
    ($id:literal) => {
        concat!("(select n.name from kunde n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

macro_rules! artikelnummer {
    ($id:literal) => {
        concat!("(select n.artikelnummer from artikel n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

macro_rules! bezeichnung {
    ($id:literal) => {
        concat!("(select n.bezeichnung from artikel n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

macro_rules! chargennummer {
    ($id:literal) => {
        concat!("(select n.charge_nr from charge n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

macro_rules! kontraktnummer {
    ($id:literal) => {
        concat!("(select n.kontrakt_nr from kontrakt n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

macro_rules! kontraktposition {
    ($id:literal) => {
        concat!(
            "(select n.position from kontrakt_position n where n.tenant_id = :tenant and n.id = ",
            $id,
            ")"
        )
    };
}

macro_rules! wiegeschein {
    ($id:literal) => {
        concat!("(select n.wiegeschein_nr from wiegung n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

pub(super) use {
    artikelnummer, belegnummer, bezeichnung, chargennummer, kontraktnummer, kontraktposition, partner, wer,
    wiegeschein,
};
