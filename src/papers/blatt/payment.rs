//! Payment instructions: in words, and as a code that banking programs read (EPC069-12, "GiroCode").

use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

use super::error::DrawError;
use super::flow::{Flow, LEFT, TEXT_WIDTH, TOGETHER};
use super::model::{Konto, Zahlrichtung, Zahlung};
use super::numbers::{german, iban};
use super::page::{Belongs, MM, Role, Shape, Tree};
use super::text::{BODY, LABEL};
use crate::rules::fixed::Money;

/// Side of the code without its margin.
const CODE: f32 = 27.0 * MM;
const GAP: f32 = 9.0 * MM;
const NAMES: f32 = 34.0 * MM;
/// Largest amount of a SEPA transfer: 999,999,999.99 euro.
const TRANSFER_MAX: Money = Money::from_units(99_999_999_999);
/// Largest symbol of an EPC code: version 13, 331 bytes.
const CODE_VERSION_MAX: u8 = 13;

/// Draws the payment section. The code is drawn only if the document is final: a draft must not be paid.
pub fn draw(zahlung: &Zahlung, with_code: bool, flow: &mut Flow) -> Result<(), DrawError> {
    let code = zahlung.konto.as_ref().filter(|_| with_code).and_then(|konto| code(zahlung, konto));
    let width = if code.is_some() { TEXT_WIDTH - CODE - GAP } else { TEXT_WIDTH };
    let terms: Vec<_> = terms(zahlung).iter().map(|term| flow.typesetter.lines(term, BODY, width)).collect();
    let names = names(zahlung);
    let words = terms.iter().map(Vec::len).sum::<usize>() + names.len();
    let height = words as f32 * BODY.leading;
    let least = if code.is_some() { CODE + LABEL.leading + 4.0 } else { 0.0 };
    flow.ensure_room(height.max(least).min(flow.whole_page() / 2.0))?;
    let (page, top) = (flow.pages.pages.len(), flow.y);
    for lines in &terms {
        let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
        flow.lines(lines, LEFT, BODY, node)?;
    }
    flow.y += if terms.is_empty() { 0.0 } else { 4.0 };
    for (name, value) in &names {
        let values = flow.typesetter.lines(value, BODY, width - NAMES);
        if values.is_empty() {
            continue;
        }
        let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
        flow.ensure_room(BODY.leading * values.len().min(TOGETHER) as f32)?;
        flow.line(LEFT, flow.y, &format!("{name} "), BODY.quiet(), Belongs::To(node));
        flow.lines(&values, LEFT + NAMES, BODY, node)?;
    }
    // Beside the words, unless these filled the page.
    if let Some(modules) = code.filter(|_| flow.pages.pages.len() == page) {
        let x = LEFT + TEXT_WIDTH - CODE;
        let module = CODE / modules.len() as f32;
        let figure = flow.pages.tree.add(Tree::ROOT, Role::Figure("Code für die Überweisung".to_owned()));
        flow.pages.mark(x, top + 3.0, Shape::Code(modules, module), Belongs::To(figure));
        let caption = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
        flow.line(x, top + CODE + 5.0, "Zahlen mit Code", LABEL, Belongs::To(caption));
        flow.y = flow.y.max(top + least + 3.0);
    }
    Ok(())
}

fn terms(zahlung: &Zahlung) -> Vec<String> {
    let amount = |amount: Money| format!("{}\u{a0}€", german(amount, 2));
    let until = zahlung.faellig.map(|until| format!(" bis {}", until.german())).unwrap_or_default();
    let mut terms = Vec::new();
    if let Some(skonto) = &zahlung.skonto {
        terms.push(format!(
            "Bei Zahlung bis {} abzüglich {}\u{a0}% Skonto: {}.",
            skonto.bis.german(),
            german(skonto.prozent, 0),
            amount(skonto.betrag)
        ));
    }
    let betrag = amount(zahlung.betrag);
    terms.push(match zahlung.richtung {
        Zahlrichtung::Empfaenger if zahlung.skonto.is_some() => {
            format!("Zahlbar{until} ohne Abzug: {betrag}.")
        }
        Zahlrichtung::Empfaenger if until.is_empty() => format!("Zu zahlen: {betrag}."),
        Zahlrichtung::Empfaenger => format!("Zahlbar{until}: {betrag}."),
        Zahlrichtung::Absender if zahlung.konto.is_none() => format!("Ihr Guthaben{until}: {betrag}."),
        Zahlrichtung::Absender => format!("Wir überweisen{until} {betrag} auf Ihr Konto."),
        Zahlrichtung::Lastschrift => format!("Wir buchen{until} {betrag} von Ihrem Konto ab."),
    });
    terms.extend(zahlung.bedingung.clone());
    terms
}

fn names(zahlung: &Zahlung) -> Vec<(&'static str, String)> {
    let mut names = Vec::new();
    if let Some(konto) = &zahlung.konto {
        names.push(("Kontoinhaber", konto.inhaber.clone()));
        names.push(("IBAN", iban(&konto.iban, "\u{a0}")));
        names.extend(konto.bic.clone().map(|bic| ("BIC", bic)));
    }
    names.push(("Verwendungszweck", zahlung.verwendungszweck.clone()));
    names
}

/// The modules of the code, row by row; `None` if there is nothing to transfer or the text does not fit.
fn code(zahlung: &Zahlung, konto: &Konto) -> Option<Vec<Vec<bool>>> {
    let text = transfer(zahlung, konto)?;
    let data = [QrSegment::make_bytes(text.as_bytes())];
    let most = Version::new(CODE_VERSION_MAX);
    // The standard requires correction level M. A higher level at the same size is not used, because the
    // level would then vary with the length of the text.
    let code =
        QrCode::encode_segments_advanced(&data, QrCodeEcc::Medium, Version::MIN, most, None, false).ok()?;
    let side = 0..code.size();
    Some(side.clone().map(|y| side.clone().map(|x| code.get_module(x, y)).collect()).collect())
}

/// The content of the code: EPC069-12 version 002, UTF-8.
fn transfer(zahlung: &Zahlung, konto: &Konto) -> Option<String> {
    let wanted = zahlung.richtung == Zahlrichtung::Empfaenger;
    if !wanted || zahlung.betrag <= Money::ZERO || zahlung.betrag > TRANSFER_MAX {
        return None;
    }
    let line = |text: &str, most: usize| -> String {
        text.chars().filter(|letter| !letter.is_control()).take(most).collect::<String>().trim().to_owned()
    };
    let account: String = konto.iban.chars().filter(char::is_ascii_alphanumeric).collect();
    let bic = konto.bic.as_deref().unwrap_or_default();
    let name = line(&konto.inhaber, 70);
    if account.is_empty() || name.is_empty() {
        return None;
    }
    let amount = format!("EUR{}", zahlung.betrag);
    let purpose = line(&zahlung.verwendungszweck, 140);
    let bic: String = bic.chars().filter(char::is_ascii_alphanumeric).collect();
    Some(["BCD", "002", "1", "SCT", &bic, &name, &account, &amount, "", "", &purpose].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zahlung(cents: i64) -> (Zahlung, Konto) {
        let konto = Konto {
            inhaber: "Müller\u{7} & Söhne".to_owned(),
            iban: "DE02 1203 0000 0000 2020 51".to_owned(),
            bic: Some("BYLADEM1001".to_owned()),
        };
        let zahlung = Zahlung {
            richtung: Zahlrichtung::Empfaenger,
            betrag: Money::from_units(cents),
            faellig: None,
            skonto: None,
            bedingung: None,
            konto: Some(konto.clone()),
            verwendungszweck: "RE-2026-000123".to_owned(),
        };
        (zahlung, konto)
    }

    #[test]
    fn the_code_says_who_gets_how_much_for_what() {
        let (zahlung, konto) = zahlung(134_846);
        assert_eq!(
            transfer(&zahlung, &konto).unwrap(),
            "BCD\n002\n1\nSCT\nBYLADEM1001\nMüller & Söhne\nDE02120300000000202051\nEUR1348.46\n\n\nRE-2026-000123"
        );
        let modules = code(&zahlung, &konto).unwrap();
        assert!(modules.len() >= 33 && modules.iter().all(|row| row.len() == modules.len()));
    }

    #[test]
    fn there_is_no_code_without_something_to_transfer() {
        for cents in [0, -1, 99_999_999_999 + 1] {
            let (zahlung, konto) = zahlung(cents);
            assert_eq!(transfer(&zahlung, &konto), None, "{cents}");
        }
        for richtung in [Zahlrichtung::Absender, Zahlrichtung::Lastschrift] {
            let (mut zahlung, konto) = zahlung(100);
            zahlung.richtung = richtung;
            assert_eq!(transfer(&zahlung, &konto), None, "{richtung:?}");
        }
        let (zahlung, mut konto) = zahlung(100);
        konto.inhaber = " \n".to_owned();
        assert_eq!(transfer(&zahlung, &konto), None);
    }
}
