//! The letter around the document: DIN 5008, form B.

use krilla::image::Image;

use super::error::DrawError;
use super::flow::{Flow, LEFT, TEXT_WIDTH, baseline};
use super::model::{Absender, Anschrift, Aufdruck, Blatt};
use super::numbers::iban;
use super::page::{Belongs, HEIGHT, MM, Pages, Role, Shape, Tree, WIDTH};
use super::sections;
use super::text::{ADDRESS, BODY, DETAIL, FOOT, LABEL, SEPARATOR, Style, TITLE, Typesetter, at_most};
use crate::rules::error::{HintCode, Hints};
use crate::rules::kennnummer::grouped_steuernummer;

/// The address field: 85 by 45 mm, 20 mm from the left, 45 mm from the top; text begins 5 mm inside it.
const ADDRESS_WIDTH: f32 = 80.0 * MM;
/// Lines that fit below the zone of the return address, in normal and in small type.
const ADDRESS_LINES: usize = 6;
const SMALL_ADDRESS_LINES: usize = 7;
const SMALL_ADDRESS: Style = Style { size: 8.2, leading: 11.0, ..ADDRESS };
/// Top of the address, below the zone of the return address.
const ADDRESS_TOP: f32 = 62.7 * MM;
/// Bottom of the return address.
const RETURN_END: f32 = 60.5 * MM;
/// The information block: 75 mm wide, 10 mm from the right.
const BLOCK: f32 = 125.0 * MM;
const BLOCK_TOP: f32 = 50.0 * MM;
const BLOCK_NAMES: f32 = 27.0 * MM;
const BLOCK_WIDTH: f32 = 65.0 * MM;
/// Bottom of the information block; facts that do not fit stand below the title.
const BLOCK_END: f32 = 115.0 * MM;
/// Top of the subject, unless address or block are longer.
const SUBJECT: f32 = 98.5 * MM;
const TITLE_LINES: usize = 4;
/// Fold marks, with the punch mark between them.
const MARKS: [(f32, f32); 3] = [(105.0 * MM, 3.5 * MM), (148.5 * MM, 5.0 * MM), (210.0 * MM, 3.5 * MM)];
/// The space for the logo, right-aligned with the text.
const LOGO: (f32, f32) = (62.0 * MM, 24.0 * MM);
const LOGO_TOP: f32 = 13.0 * MM;
/// Distance from the lower edge of the paper to the foot.
const BOTTOM: f32 = 9.0 * MM;
const COLUMNS: usize = 4;
/// Left edge and width of each column of the foot; the last one fits an IBAN.
const FOOT_COLUMNS: [(f32, f32); COLUMNS] = [(0.0, 102.0), (112.0, 108.0), (230.0, 98.0), (338.0, 129.0)];
const FOOT_LINES: usize = 10;
/// Most lines of the text below the columns; a longer text ends the document instead.
const FOOT_TEXT: usize = 4;

struct Foot<'b> {
    columns: Vec<Vec<String>>,
    below: Vec<String>,
    too_long: Option<&'b str>,
    height: f32,
}

pub fn lay_out(
    blatt: &Blatt,
    logo: Option<&Image>,
    typesetter: &mut Typesetter,
    hints: &mut Hints,
) -> Result<Pages, DrawError> {
    let foot = Foot::new(&blatt.absender, typesetter);
    let mut flow = Flow::new(typesetter, SUBJECT, foot.height + 7.0 * MM);
    let (begin, shown) = head(blatt, logo, &mut flow, hints);
    flow.y = begin;
    for angabe in blatt.angaben.iter().skip(shown) {
        flow.paragraph(&format!("{}: {}", angabe.name, angabe.wert), BODY)?;
    }
    sections::draw(blatt, &mut flow)?;
    if let Some(text) = foot.too_long {
        flow.space(BODY.leading);
        flow.paragraph(text, DETAIL)?;
    }
    frame(blatt, &foot, &mut flow);
    Ok(flow.pages)
}

/// Draws the head of the first page; returns where the text below begins, and how many of the `angaben` fit.
fn head(blatt: &Blatt, logo: Option<&Image>, flow: &mut Flow, hints: &mut Hints) -> (f32, usize) {
    let absender = &blatt.absender;
    let mut name_width = TEXT_WIDTH;
    if let Some(logo) = logo {
        let (width, height) = fitted(logo.size());
        let x = LEFT + TEXT_WIDTH - width;
        name_width = TEXT_WIDTH - width - 8.0 * MM;
        let alt = flow.typesetter.one_line(&format!("Logo {}", absender.firma));
        let figure = flow.pages.tree.add(Tree::ROOT, Role::Figure(alt));
        flow.pages.mark(x, LOGO_TOP, Shape::Logo(width, height), Belongs::To(figure));
    }
    if logo.is_none() || !absender.name_im_logo {
        let name = Style { size: 14.0, leading: 18.0, ..TITLE };
        let lines = flow.typesetter.lines(&absender.firma, name, name_width);
        let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
        flow.column(LEFT, 17.0 * MM, &at_most(lines, 2), name, Belongs::To(node));
    }
    let address_end = address(blatt, flow, hints);
    let (block_end, shown) = block(blatt, flow);
    let top = SUBJECT.max(address_end + 8.0 * MM).max(block_end + 6.0 * MM);
    (subject(blatt, top, flow), shown)
}

fn fitted((width, height): (u32, u32)) -> (f32, f32) {
    // A logo has up to a million pixels, which a float holds exactly.
    let (width, height) = (width as f32, height as f32);
    let scale = (LOGO.0 / width).min(LOGO.1 / height);
    (width * scale, height * scale)
}

fn address(blatt: &Blatt, flow: &mut Flow, hints: &mut Hints) -> f32 {
    let absender = &blatt.absender;
    let town = format!("{} {}", absender.plz, absender.ort);
    let parts = [absender.firma.as_str(), &absender.strasse, town.trim()];
    let back = parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(SEPARATOR);
    let lines = flow.typesetter.lines(&back, FOOT, ADDRESS_WIDTH);
    let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
    let lines = at_most(lines, 2);
    let top = RETURN_END - lines.len() as f32 * FOOT.leading;
    flow.column(LEFT, top, &lines, FOOT, Belongs::To(node));
    flow.pages.mark(LEFT, RETURN_END + 0.5, Shape::Rule(ADDRESS_WIDTH, 0.35, 150), Belongs::Decoration);

    let (lines, style) = address_lines(&blatt.anschrift, flow.typesetter, hints);
    let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
    flow.column(LEFT, ADDRESS_TOP, &lines, style, Belongs::To(node))
}

/// Returns the lines of an address and their style: smaller if there are too many, and cut if that is not
/// enough.
pub fn address_lines(
    anschrift: &Anschrift,
    typesetter: &mut Typesetter,
    hints: &mut Hints,
) -> (Vec<String>, Style) {
    let mut set = |texts: &[String], style: Style| -> Vec<Vec<String>> {
        texts.iter().map(|text| typesetter.lines(text, style, ADDRESS_WIDTH)).collect()
    };
    let all = [set(&anschrift.zeilen, ADDRESS), set(&anschrift.ort, ADDRESS)].concat().concat();
    if all.len() <= ADDRESS_LINES {
        return (all, ADDRESS);
    }
    let (mut lines, place) =
        (set(&anschrift.zeilen, SMALL_ADDRESS), set(&anschrift.ort, SMALL_ADDRESS).concat());
    if cut(&mut lines, SMALL_ADDRESS_LINES.saturating_sub(place.len())) {
        let message = "Die Anschrift ist zu lang für das Adressfeld; ihre längste Zeile ist darin gekürzt. Bitte Name, \
            Straße oder kontaktperson kürzen.";
        hints.add(HintCode::AnschriftGekuerzt, message);
    }
    ([lines.concat(), place].concat(), SMALL_ADDRESS)
}

/// Shortens texts to `most` lines in total, but keeps the first of each: the longest one loses its end.
/// Returns whether a text was cut.
fn cut(texts: &mut [Vec<String>], most: usize) -> bool {
    let count = |texts: &[Vec<String>]| texts.iter().map(Vec::len).sum::<usize>();
    let mut is_cut = false;
    while count(texts) > most
        && let Some(longest) =
            texts.iter_mut().max_by_key(|lines| lines.len()).filter(|lines| lines.len() > 1)
    {
        let shorter = longest.len() - 1;
        *longest = at_most(std::mem::take(longest), shorter);
        is_cut = true;
    }
    is_cut
}

/// Draws the facts beside the address; returns where they end, and how many fit.
fn block(blatt: &Blatt, flow: &mut Flow) -> (f32, usize) {
    let mut y = BLOCK_TOP;
    for (at, angabe) in blatt.angaben.iter().enumerate() {
        let names = flow.typesetter.lines(&angabe.name, LABEL, BLOCK_NAMES - 4.0);
        let values = flow.typesetter.lines(&angabe.wert, BODY, BLOCK_WIDTH - BLOCK_NAMES);
        let height =
            (values.len().max(1) as f32 * BODY.leading).max(names.len() as f32 * LABEL.leading) + 0.6;
        if y + height > BLOCK_END {
            return (y, at);
        }
        let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
        // Names are smaller and share the baseline of their values.
        let drop = baseline(BODY) - baseline(LABEL);
        let names: Vec<_> = names.into_iter().map(|name| name + " ").collect();
        flow.column(BLOCK, y + drop, &names, LABEL, Belongs::To(node));
        flow.column(BLOCK + BLOCK_NAMES, y, &values, BODY, Belongs::To(node));
        y += height;
    }
    (y, blatt.angaben.len())
}

/// Draws the title and what it refers to; returns where the text begins.
fn subject(blatt: &Blatt, top: f32, flow: &mut Flow) -> f32 {
    let title = at_most(flow.typesetter.lines(&blatt.titel, TITLE, TEXT_WIDTH), TITLE_LINES);
    let heading = flow.pages.tree.add(Tree::ROOT, Role::Heading(1, title.concat()));
    let mut y = flow.column(LEFT, top, &title, TITLE, Belongs::To(heading));
    if let Some(text) = &blatt.untertitel {
        let style = BODY.sized(10.0);
        let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
        let lines = at_most(flow.typesetter.lines(text, style, TEXT_WIDTH), TITLE_LINES);
        y = flow.column(LEFT, y + 1.0, &lines, style, Belongs::To(node));
    }
    y + 11.0
}

/// Draws the frame of every page: its foot, its number, the imprint across it; from the second page on also
/// the title at the top.
fn frame(blatt: &Blatt, foot: &Foot, flow: &mut Flow) {
    let count = flow.pages.pages.len();
    let title = flow.typesetter.one_line(&blatt.titel);
    let title = format!("{title} vom {}", blatt.datum.german());
    let title = flow.typesetter.lines(&title, LABEL, TEXT_WIDTH * 0.55);
    let firma = flow.typesetter.lines(&blatt.absender.firma, LABEL, TEXT_WIDTH * 0.4);
    let pages = std::mem::take(&mut flow.pages.pages);
    for (at, marks) in pages.into_iter().enumerate() {
        flow.pages.pages.push(Vec::new());
        across(blatt, flow);
        flow.pages.pages[at].extend(marks);
        if at == 0 {
            for (y, length) in MARKS {
                flow.pages.mark(5.0 * MM, y, Shape::Rule(length, 0.3, 140), Belongs::Decoration);
            }
        } else {
            let top = 17.0 * MM;
            if let Some(title) = title.first() {
                flow.line(LEFT, top, title, LABEL, Belongs::PageHead);
            }
            if let Some(firma) = firma.first() {
                right(flow, top, firma, LABEL, Belongs::PageHead);
            }
            let line = top + LABEL.leading + 2.5;
            flow.pages.mark(LEFT, line, Shape::Rule(TEXT_WIDTH, 0.35, 205), Belongs::Decoration);
        }
        foot.draw(flow, at + 1, count);
    }
}

fn right(flow: &mut Flow, y: f32, text: &str, style: Style, belongs: Belongs) {
    let x = LEFT + TEXT_WIDTH - flow.typesetter.width(text.trim_end(), style);
    flow.line(x, y, text, style, belongs);
}

fn across(blatt: &Blatt, flow: &mut Flow) {
    let Some(aufdruck) = blatt.aufdruck else { return };
    let (text, size) = match aufdruck {
        Aufdruck::Entwurf => ("ENTWURF", 110.0),
        Aufdruck::Test => ("TEST", 170.0),
    };
    flow.pages.mark(WIDTH / 2.0, HEIGHT / 2.0, Shape::Across(text.to_owned(), size), Belongs::Watermark);
}

impl<'b> Foot<'b> {
    fn new(absender: &'b Absender, typesetter: &mut Typesetter) -> Foot<'b> {
        let columns = foot_texts(absender).into_iter().zip(FOOT_COLUMNS).map(|(texts, (_, width))| {
            let lines: Vec<_> = texts.iter().flat_map(|text| typesetter.lines(text, FOOT, width)).collect();
            at_most(lines, FOOT_LINES)
        });
        let columns: Vec<Vec<String>> = columns.collect();
        let text = absender.rechnungstext.as_deref().unwrap_or_default();
        let mut below = typesetter.lines(text, FOOT, TEXT_WIDTH);
        let too_long = (below.len() > FOOT_TEXT).then_some(text);
        if too_long.is_some() {
            below.clear();
        }
        let deepest = columns.iter().map(Vec::len).max().unwrap_or_default();
        let gap = if below.is_empty() { 0.0 } else { 4.0 };
        let height = (deepest + below.len()) as f32 * FOOT.leading + gap + 5.0 + BOTTOM;
        Foot { columns, below, too_long, height }
    }

    fn draw(&self, flow: &mut Flow, page: usize, of: usize) {
        let top = HEIGHT - self.height;
        right(flow, top - 13.0, &format!("Seite {page} von {of}"), LABEL, Belongs::PageFoot);
        flow.pages.mark(LEFT, top, Shape::Rule(TEXT_WIDTH, 0.35, 150), Belongs::Decoration);
        let mut deepest = top + 5.0;
        for (column, (x, _)) in self.columns.iter().zip(FOOT_COLUMNS) {
            deepest = deepest.max(flow.column(LEFT + x, top + 5.0, column, FOOT, Belongs::PageFoot));
        }
        flow.column(LEFT, deepest + 4.0, &self.below, FOOT, Belongs::PageFoot);
    }
}

fn foot_texts(absender: &Absender) -> [Vec<String>; COLUMNS] {
    let named = |name: &str, text: &Option<String>| text.as_ref().map(|text| format!("{name} {text}"));
    let town = format!("{} {}", absender.plz, absender.ort);
    let mut address = vec![absender.firma.clone(), absender.strasse.clone(), town.trim().to_owned()];
    address.extend(absender.staat.clone());
    address.retain(|line| !line.is_empty());
    let contact =
        [absender.kontakt_name.clone(), named("Telefon", &absender.telefon), absender.email.clone()];
    let numbers = [
        named("USt-IdNr.", &absender.ust_id),
        named("Steuernummer", &absender.steuernummer.as_deref().map(grouped_steuernummer)),
        named("Register", &absender.registernummer),
        named("Öko-Kontrollstelle", &absender.oeko_kontrollstelle),
    ];
    let mut bank = Vec::new();
    if let Some(konto) = &absender.konto {
        bank.push(format!("IBAN {}", iban(&konto.iban, "\u{a0}")));
        bank.extend(named("BIC", &konto.bic));
        bank.extend((konto.inhaber != absender.firma).then(|| format!("Inhaber {}", konto.inhaber)));
    }
    let there = |texts: Vec<Option<String>>| texts.into_iter().flatten().collect();
    [address, there(contact.to_vec()), there(numbers.to_vec()), bank]
}
