//! `abrechnung`: settles the goods receipts of a supplier, or previews the result.

use clap::Subcommand;
use serde_json::{Value, json};

use super::changes::note;
use super::database::{change, find_tenant, now};
use super::terminal::{Outcome, Terminal, sentence};
use crate::papers::blatt::numbers::german;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::start::config::Config;
use crate::trade::abrechnungen::{self, AbrechnungsVorschau};

#[derive(Subcommand)]
pub enum Command {
    /// Sagen, was eine Abrechnung ergäbe; gespeichert wird nichts
    #[command(
        override_usage = "partnerd abrechnung vorschau [OPTIONEN]\n       --tenant <FIRMA> --partner <KUNDENNR>",
        after_help = "Beispiele:\n  \
                      partnerd abrechnung vorschau --partner L-2001 \\\n      \
                      --tenant \"Mühle Beispiel\""
    )]
    Vorschau(Auswahl),
    /// Annahmescheine abrechnen: eine Gutschrift
    #[command(
        override_usage = "partnerd abrechnung anlegen [OPTIONEN]\n       --tenant <FIRMA> --partner <KUNDENNR>",
        after_help = "Beispiele:\n  \
                      partnerd abrechnung anlegen --partner L-2001 \\\n      \
                      --tenant \"Mühle Beispiel\" --abschliessen\n  \
                      partnerd abrechnung anlegen --partner L-2001 \\\n      \
                      --tenant \"Mühle Beispiel\" --art abschlag --prozent 80"
    )]
    Anlegen {
        #[command(flatten)]
        auswahl: Auswahl,
        /// Die Gutschrift gleich abschließen
        #[arg(long)]
        abschliessen: bool,
    },
}

#[derive(clap::Args)]
pub struct Auswahl {
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: String,
    /// Nummer des Lieferanten
    #[arg(long, value_name = "KUNDENNR")]
    partner: String,
    /// Nur Annahmescheine dieses Artikels
    #[arg(long, value_name = "ARTIKELNR")]
    artikel: Option<String>,
    /// Erster Liefertag, etwa 2026-07-01
    #[arg(long, value_name = "TAG")]
    von: Option<String>,
    /// Letzter Liefertag
    #[arg(long, value_name = "TAG")]
    bis: Option<String>,
    /// end, abschlag oder nachverguetung; sonst end
    #[arg(long, value_name = "ART", default_value = "end", hide_default_value = true)]
    art: String,
    /// Preis je t statt dem aus Kontrakt oder Annahmeschein
    #[arg(long, value_name = "EUR")]
    preis: Option<String>,
    /// Preis je t für das, was über den Kontrakt hinausgeht
    #[arg(long, value_name = "EUR")]
    rest_preis: Option<String>,
    /// Abschlag in % des Wertes
    #[arg(long, value_name = "PROZENT")]
    prozent: Option<String>,
    /// Abschlag je t
    #[arg(long, value_name = "EUR")]
    abschlag: Option<String>,
    /// Nachvergütung je t
    #[arg(long, value_name = "EUR", allow_hyphen_values = true)]
    zuschlag: Option<String>,
    /// Auch, wenn der Lieferant zurückzahlt
    #[arg(long)]
    negativ_zulassen: bool,
}

impl Auswahl {
    /// The request body that the interface takes for the same settlement (D29g).
    fn body(&self) -> Value {
        let number = |typed: &Option<String>| typed.as_ref().map(|typed| typed.replace(',', "."));
        let mut body = json!({
            "art": self.art,
            "auswahl": {
                "kundennummer": self.partner,
                "artikelnr": self.artikel,
                "von": self.von,
                "bis": self.bis,
            },
            "preis_je_t": number(&self.preis),
            "rest_preis_je_t": number(&self.rest_preis),
            "zuschlag_je_t": number(&self.zuschlag),
            "negativ_zulassen": self.negativ_zulassen,
        });
        if self.prozent.is_some() || self.abschlag.is_some() {
            body["abschlag"] =
                json!({"prozent": number(&self.prozent), "preis_je_t": number(&self.abschlag)});
        }
        body
    }
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Vorschau(auswahl) => preview(&auswahl, config, terminal),
        Command::Anlegen { auswahl, abschliessen } => create(&auswahl, abschliessen, config, terminal),
    }
}

fn preview(auswahl: &Auswahl, config: &Config, terminal: &Terminal) -> Outcome {
    let body = auswahl.body();
    let seen = change(config, |connection| {
        let tenant = find_tenant(connection, &auswahl.tenant)?.id;
        let tx = Tx::new(connection, tenant, now());
        let seen = WriteTx::carry_out(tx, None, |tx| abrechnungen::previewed(tx, &body))
            .map_err(|failure| sentence(failure.into()))?;
        Ok(seen)
    })?;
    seen.hinweise.iter().for_each(|hint| terminal.say(&hint.message));
    terminal.result(&lines(&seen).join("\n"), &json!(seen));
    Ok(())
}

/// Lists each item on a line, then the sums.
fn lines(seen: &AbrechnungsVorschau) -> Vec<String> {
    let mut lines = Vec::new();
    for item in &seen.positionen {
        let text = item.bezeichnung.as_deref().unwrap_or_default();
        let einheit = item.einheit.iter().map(|einheit| format!(" {einheit}")).collect::<String>();
        let menge = format!("{}{einheit}", german(item.menge, 3));
        lines.push(format!(
            "{text}: {menge} × {} = {} EUR",
            german(item.ep_netto, 2),
            german(item.gesamtpreis, 2)
        ));
    }
    lines.push(format!(
        "netto {} EUR, Umsatzsteuer {} EUR, zusammen {} EUR",
        german(seen.summe_netto, 2),
        german(seen.summe_mwst, 2),
        german(seen.summe_brutto, 2)
    ));
    lines
}

fn create(auswahl: &Auswahl, abschliessen: bool, config: &Config, terminal: &Terminal) -> Outcome {
    let mut body = auswahl.body();
    body["abschliessen"] = abschliessen.into();
    let made = change(config, |connection| {
        let tenant = find_tenant(connection, &auswahl.tenant)?.id;
        let tx = Tx::new(connection, tenant, now());
        let made = WriteTx::carry_out(tx, None, |tx| abrechnungen::settle(tx, &body))
            .map_err(|failure| sentence(failure.into()))?;
        let event = AdminEvent::new(AdminAction::Angelegt, Art::Beleg).name(&made.beleg_nummer);
        note(connection, Some(tenant), "abrechnung anlegen", &event)?;
        Ok(made)
    })?;
    made.hinweise.iter().for_each(|hint| terminal.say(&hint.message));
    terminal.result(&made.beleg_nummer, &json!(made));
    Ok(())
}
