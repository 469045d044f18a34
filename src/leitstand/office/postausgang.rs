//! The mail server of a company: people who manage the company enter it and test it.

use maud::html;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::leitstand::kit::done::{Done, FirmaChange, InstallationChange, Outgoing, check_stand};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{choice, field, form_to, lines, made_from, or_blank, refusal};
use crate::leitstand::trade::versendet::company;
use crate::office::versand::{self, Brief, PLACEHOLDERS, Postausgang, Verschluesselung};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::rules::bytes::hex;
use crate::rules::changed::Changed;
use crate::rules::choice::Choice;
use crate::rules::error::{Checked, Code, Refusal, Refusals};
use crate::rules::plausible::is_email;

const FIELDS: [&str; 10] = [
    "server",
    "port",
    "verschluesselung",
    "benutzer",
    PASSWORD,
    "absender",
    "antwort_an",
    "zertifikat",
    "betreff",
    "text",
];
const PASSWORD: &str = "mailpasswort";

const LINE_CHARS_MAX: usize = 200;
pub const TEXT_CHARS_MAX: usize = 4_000;
const CERTIFICATE_BYTES_MAX: usize = 16 << 10;

const SUBJECT: &str = "{art} {nummer} von {firma}";
const TEXT: &str = "Sehr geehrte Damen und Herren,\n\nim Anhang finden Sie: {art} {nummer} vom \
     {datum}.\n\nMit freundlichen Grüßen\n{firma}";

const KINDS: [(Verschluesselung, &str); 3] = [
    (Verschluesselung::Starttls, "STARTTLS (meist Port 587)"),
    (Verschluesselung::Tls, "TLS (meist Port 465)"),
    (Verschluesselung::Keine, "keine, nur zu diesem Rechner (localhost)"),
];

/// Names of this machine; mail to it needs no encryption.
const HERE: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Subject and text of a new mail; the defaults if no mail server was entered.
pub fn words(postausgang: Option<&Postausgang>) -> (&str, &str) {
    postausgang.map_or((SUBJECT, TEXT), |one| (&one.betreff, &one.text))
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let now = versand::load(&db.tx)?;
    let of = |text: fn(&Postausgang) -> String| now.as_ref().map(text).unwrap_or_default();
    let port = now.as_ref().map_or_else(|| "587".to_owned(), |one| one.port.to_string());
    let kind = now.as_ref().map_or(Verschluesselung::Starttls, |one| one.verschluesselung);
    let (subject, text) = words(now.as_ref());
    let inside = html! {
        (refusal(request, &FIELDS))
        (made_from(request, "stand", digest(now.as_ref())))
        div.fields {
            (field(request, "server", "Mailserver (SMTP)", "text", &of(|one| one.server.clone()), "off"))
            (field(request, "port", "Port", "text", &port, "off"))
            (choice(request, "verschluesselung", "Verschlüsselung",
                KINDS.map(|(kind, words)| (kind.as_str(), words)), kind.as_str()))
            (field(request, "benutzer", "Benutzer", "text", &of(|one| or_blank(&one.benutzer)), "off"))
            (field(request, PASSWORD, &password_label(now.as_ref()), "password", "", "new-password"))
            (field(request, "absender", "Absender", "email", &of(|one| one.absender.clone()), "off"))
            (field(request, "antwort_an", "Antworten gehen an (leer: an den Absender)", "email",
                &of(|one| or_blank(&one.antwort_an)), "off"))
        }
        (field(request, "betreff", "Betreff", "text", subject, "off"))
        (lines(request, "text", "Text", text))
        p.hint { "Eingesetzt wird: " @for name in PLACEHOLDERS { code { "{" (name) "}" } " " } }
        details open[request.refusal.is_some()] { summary { "Eigenes Zertifikat" }
            (lines(request, "zertifikat", "Zertifikat eines Mailservers im eigenen Haus (PEM)",
                &of(|one| or_blank(&one.zertifikat))))
        }
    };
    let body = html! {
        p { "Von hier gehen Belege per E-Mail hinaus. Ohne Mailserver führt der Beleg in das E-Mail-Programm \
             des Rechners. Ist das Feld „Mailserver“ leer, wird nichts aufbewahrt, auch kein Passwort." }
        (form_to(request, &request.of_firma("postausgang"), inside, "Speichern", false))
        @if let Some(one) = &now { @if request.may_manage() {
            h2 { "Ausprobieren" }
            p { "Eine E-Mail von " (one.absender) " an sich selbst, mit dem, was gespeichert ist." }
            (form_to(request, &request.of_firma("postausgang/test"), html! {}, "Testmail senden", false))
        } }
    };
    Ok(frame::page(request, "Mailserver", body))
}

fn password_label(now: Option<&Postausgang>) -> String {
    match now.and_then(|one| one.passwort.as_ref()) {
        Some(_) => "Passwort (leer: das gespeicherte bleibt)".to_owned(),
        None => "Passwort".to_owned(),
    }
}

/// A digest that differs between two states; it ignores the password.
fn digest(now: Option<&Postausgang>) -> String {
    hex(&Sha256::digest(public(now).map(|(_, value)| value).join("\n")))
}

/// The values of a mail server that the log may show, by the names of
/// [`crate::leitstand::operations::taten`].
fn public(now: Option<&Postausgang>) -> [(&'static str, String); 6] {
    let of = |text: fn(&Postausgang) -> String| now.map(text).unwrap_or_default();
    [
        ("mail-server", of(|one| format!("{}:{} ({})", one.server, one.port, one.verschluesselung.as_str()))),
        ("mail-user", of(|one| or_blank(&one.benutzer))),
        ("mail-from", of(|one| one.absender.clone())),
        ("mail-reply-to", of(|one| or_blank(&one.antwort_an))),
        ("mail-certificate", of(|one| or_blank(&one.zertifikat))),
        ("mail-words", of(|one| format!("{}\n{}", one.betreff, one.text))),
    ]
}

pub fn change(request: &PageRequest) -> Result<InstallationChange> {
    let (request, firma) = (request.clone(), request.firma_id());
    Ok(Box::new(move |connection| {
        let old = versand::load(&Tx::new(connection, firma, request.now))?;
        check_stand(&digest(old.as_ref()), request.field("stand"))?;
        let new = typed(&request, old.as_ref())?;
        versand::store(connection, firma, new.as_ref(), request.now)?;
        Ok(Done::saved(changed(old.as_ref(), new.as_ref()), request.of_firma("postausgang")))
    }))
}

fn changed(old: Option<&Postausgang>, new: Option<&Postausgang>) -> Vec<Changed> {
    let password = |of: Option<&Postausgang>| of.and_then(|one| one.passwort.clone());
    let is_new = password(old) != password(new);
    let word = |of, word: &str| password(of).map_or_else(String::new, |_| word.to_owned());
    let password =
        is_new.then(|| Changed::of("mail-password", word(old, "ein anderes"), word(new, "gesetzt")));
    let others = public(old).into_iter().zip(public(new));
    others
        .filter_map(|((name, old), (_, new))| Changed::of(name, old, new))
        .chain(password.flatten())
        .collect()
}

/// Parses the mail server; refuses with all mistakes at once. `None` if its name is blank.
fn typed(request: &PageRequest, old: Option<&Postausgang>) -> Result<Option<Postausgang>> {
    let Some(server) = request.filled("server") else { return Ok(None) };
    let mut mistakes = Refusals::default();
    let port: Option<u16> = request.field("port").parse().ok().filter(|port| *port > 0);
    let port = mistakes.keep(port.ok_or_else(|| wrong("port", "Ein Port ist eine Zahl von 1 bis 65535.")));
    let kind = Verschluesselung::parse(request.field("verschluesselung"));
    let kind = mistakes.keep(kind.ok_or_else(|| wrong("verschluesselung", "Bitte auswählen.")));
    if kind == Some(Verschluesselung::Keine) && !HERE.contains(&server) {
        let message =
            "Unverschlüsselt geht es nur zu diesem Rechner (localhost). Bitte STARTTLS oder TLS wählen.";
        mistakes.keep::<()>(Err(wrong("verschluesselung", message)));
    }
    for (name, is_right, message) in FORMS {
        let typed = if name == PASSWORD { request.field_as_typed(name) } else { request.field(name) };
        mistakes.keep(if is_right(typed) { Ok(()) } else { Err(wrong(name, message)) });
    }
    for name in ["betreff", "text"] {
        mistakes.keep(placeholders(name, request.field(name)));
    }
    let filled = |name: &str| request.filled(name).map(str::to_owned);
    let mut new = Postausgang {
        server: server.to_owned(),
        port: port.unwrap_or_default(),
        verschluesselung: kind.unwrap_or(Verschluesselung::Starttls),
        benutzer: filled("benutzer"),
        passwort: None,
        absender: request.field("absender").to_owned(),
        antwort_an: filled("antwort_an"),
        zertifikat: filled("zertifikat"),
        betreff: request.field("betreff").to_owned(),
        text: request.field("text").to_owned(),
    };
    new.passwort = mistakes.keep(password(request, &new, old)).flatten();
    mistakes.into_result()?;
    Ok(Some(new))
}

type Form = (&'static str, fn(&str) -> bool, &'static str);

const LINE: &str = "Höchstens 200 Zeichen in einer Zeile.";

/// Text fields: the check of each, and the message of its refusal.
const FORMS: [Form; 8] = [
    ("server", is_host, "Das ist kein Name eines Servers wie mail.firma.de."),
    ("benutzer", is_line, LINE),
    (PASSWORD, is_line, LINE),
    ("absender", is_email, "Das ist keine E-Mail-Adresse."),
    ("antwort_an", |typed| typed.is_empty() || is_email(typed), "Das ist keine E-Mail-Adresse."),
    ("betreff", is_line, LINE),
    ("text", is_text, "Höchstens 4.000 Zeichen."),
    (
        "zertifikat",
        is_certificate,
        "Das ist kein Zertifikat im Format PEM (-----BEGIN CERTIFICATE-----), oder es hat mehr als 16 KiB.",
    ),
];

/// The password of the user. A stored one is only used for the server it was entered for; otherwise whoever
/// changes the server would get it.
fn password(request: &PageRequest, new: &Postausgang, old: Option<&Postausgang>) -> Checked<Option<String>> {
    let typed = Some(request.field_as_typed(PASSWORD)).filter(|typed| !typed.is_empty());
    let is_same = |old: &&Postausgang| {
        let way = |of: &Postausgang| {
            (of.server.clone(), of.port, of.verschluesselung, of.benutzer.clone(), of.zertifikat.clone())
        };
        way(old) == way(new)
    };
    let kept = || old.filter(is_same).and_then(|old| old.passwort.clone());
    match (&new.benutzer, typed.map(str::to_owned)) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(wrong("benutzer", "Zu einem Passwort gehört ein Benutzer.")),
        (Some(_), Some(typed)) => Ok(Some(typed)),
        (Some(_), None) => {
            let message = "Bitte das Passwort eintragen, auch wenn es schon gespeichert war: Es geht nur an \
                 den Server, für den es eingetragen wurde.";
            kept().map(Some).ok_or_else(|| wrong(PASSWORD, message))
        }
    }
}

fn wrong(field: &str, message: &str) -> Box<Refusal> {
    Refusal::field(Code::WertUngueltig, field, message)
}

pub fn is_line(text: &str) -> bool {
    text.chars().count() <= LINE_CHARS_MAX && !text.chars().any(char::is_control)
}

pub fn is_text(text: &str) -> bool {
    text.chars().count() <= TEXT_CHARS_MAX
        && !text.chars().any(|letter| letter.is_control() && letter != '\n')
}

fn is_host(text: &str) -> bool {
    text.len() <= 253 && text.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-:".contains(letter))
}

fn is_certificate(pem: &str) -> bool {
    pem.len() <= CERTIFICATE_BYTES_MAX && (pem.is_empty() || versand::has_certificate(pem))
}

fn placeholders(field: &str, text: &str) -> Checked<()> {
    let unknown = |name| {
        wrong(field, &format!("„{{{name}}}“ ist unbekannt. Es gibt: {{{}}}.", PLACEHOLDERS.join("}, {")))
    };
    versand::filled(text, &Default::default()).map(drop).map_err(unknown)
}

/// Sends a mail from the sender to itself.
pub fn test(request: &PageRequest, db: &Snapshot<'_>) -> Result<Outgoing> {
    let postausgang = versand::load(&db.tx)?.ok_or_else(|| Failure::not_found("Einen Mailserver"))?;
    let firma = company(request, db)?;
    let brief = Brief {
        id: Uuid::now_v7(),
        am: request.now,
        betreff: format!("Test von {firma}"),
        text: "Diese E-Mail kommt von partnerd. Der Versand funktioniert.".to_owned(),
        firma,
        an: vec![postausgang.absender.clone()],
        anlagen: Vec::new(),
    };
    let (to, address) = (request.of_firma("postausgang"), postausgang.absender.clone());
    let send = move || {
        let note = match versand::send(&postausgang, &brief) {
            versand::Ergebnis::Gesendet => format!(
                "Der Mailserver hat die Testmail angenommen. Sie sollte gleich bei {address} ankommen."
            ),
            versand::Ergebnis::NichtGesendet(why) => format!("Nicht gesendet: {why}"),
            versand::Ergebnis::Ungewiss(why) => why,
        };
        let change = move |_: &WriteTx<'_>| Ok(Done::to(to.clone(), &note));
        Box::new(change) as FirmaChange
    };
    Ok(Outgoing { begun: None, send: Box::new(send) })
}
