//! Names beside ids, for auditors who cannot join: expressions that several tables have.

/// The number of a document in this period or before it, which has no row in the file for certain.
macro_rules! belegnummer {
    ($id:literal) => {
        concat!("(select n.beleg_nummer from beleg n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

/// What a history or the log says of who did something, by name.
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
            ", 8)) else 'Schlüssel ' || coalesce((select n.bezeichnung from api_key n where n.tenant_id = :tenant and n.id = ",
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

macro_rules! wiegeschein {
    ($id:literal) => {
        concat!("(select n.wiegeschein_nr from wiegung n where n.tenant_id = :tenant and n.id = ", $id, ")")
    };
}

pub(super) use {
    artikelnummer, belegnummer, bezeichnung, chargennummer, kontraktnummer, partner, wer, wiegeschein,
};
