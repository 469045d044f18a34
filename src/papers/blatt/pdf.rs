//! Writes marks and their meanings as a PDF/A-3b file, tagged as PDF/UA-1 requires.

use std::num::NonZeroU16;

use krilla::Document;
use krilla::SerializeSettings;
use krilla::color::luma;
use krilla::configure::{Accessibility, Archival, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::embed::{AssociationKind, EmbeddedFile, MimeType};
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::image::Image;
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule};
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, Node as TagNode, SpanTag, TableHeaderScope, Tag,
    TagGroup, TagKind, TagTree,
};
use krilla::text::{GlyphId, KrillaGlyph};

use super::error::DrawError;
use super::fonts::{Fonts, Weight, fonts};
use super::model::{Blatt, ERechnung};
use super::page::{Belongs, HEIGHT, Mark, NodeId, Pages, Role, Shape, Tree, WIDTH};
use super::text::Style;
use crate::rules::day::Day;

/// File name of the embedded e-invoice (Factur-X 1.0, 6.2.2).
const ATTACHMENT: &str = "factur-x.xml";
const ACROSS: u8 = 232;

fn broken(what: impl std::fmt::Debug) -> DrawError {
    DrawError::Broken(format!("{what:?}"))
}

fn document() -> Result<Document, DrawError> {
    let configuration = ConfigurationBuilder::new()
        .with_archival_validator(Archival::A3_B)
        .with_accessibility_validator(Accessibility::UA1)
        .finish()
        .map_err(broken)?;
    Ok(Document::new_with(SerializeSettings { configuration, ..SerializeSettings::default() }))
}

fn page() -> Result<PageSettings, DrawError> {
    PageSettings::from_wh(WIDTH, HEIGHT).ok_or_else(|| broken("A4"))
}

pub fn write(blatt: &Blatt, pages: Pages, logo: Option<Image>) -> Result<Vec<u8>, DrawError> {
    let mut document = document()?;
    let mut found = vec![Vec::new(); pages.tree.0.len()];
    let fonts = fonts()?;
    for marks in &pages.pages {
        let mut page = document.start_page_with(page()?);
        let mut pen = Pen { surface: page.surface(), fonts, logo: logo.as_ref() };
        pen.draw(marks, &mut found);
    }
    let mut tree = TagTree::new().with_lang(Some("de".to_owned()));
    if let Some(root) = pages.tree.0.first() {
        root.parts.iter().for_each(|part| tree.push(group(&pages.tree, *part, &mut found)));
    }
    document.set_tag_tree(tree);
    describe(&mut document, &blatt.titel, &blatt.absender.firma, blatt.datum);
    if let Some(erechnung) = &blatt.erechnung {
        document.embed_file(attachment(erechnung, blatt.datum)?).ok_or_else(|| broken("attached twice"))?;
    }
    document.finish().map_err(broken)
}

fn describe(document: &mut Document, title: &str, author: &str, day: Day) {
    let title = clean_title(title);
    let mut outline = Outline::new();
    outline.push_child(OutlineNode::new(title.clone(), XyzDestination::new(0, Point::from_xy(0.0, 0.0))));
    document.set_outline(outline);
    let metadata = Metadata::new()
        .title(title)
        .authors(vec![clean_title(author)])
        .creator("partnerd".to_owned())
        .producer("partnerd".to_owned())
        .language("de".to_owned())
        .creation_date(date(day));
    document.set_metadata(metadata);
}

/// Draws a logo alone, to check that it can be drawn.
pub fn try_logo(logo: Image) -> Result<(), DrawError> {
    let mut document = document()?;
    let mut page = document.start_page_with(page()?);
    let mut surface = page.surface();
    surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)));
    surface.draw_image(logo, Size::from_wh(1.0, 1.0).ok_or_else(|| broken("a square"))?);
    surface.end_tagged();
    surface.finish();
    page.finish();
    document.set_tag_tree(TagTree::new());
    describe(&mut document, "Logo", "partnerd", Day::new(2026, 1, 1));
    document.finish().map(drop).map_err(broken)
}

/// Cleans a text for the properties of the file: one line without control characters.
fn clean_title(text: &str) -> String {
    let is_harmless =
        |letter: &char| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}' | '\u{feff}');
    let title: String = text.chars().filter(is_harmless).collect();
    if title.trim().is_empty() { "Beleg".to_owned() } else { title.trim().to_owned() }
}

fn date(day: Day) -> DateTime {
    let text = day.to_string();
    let mut parts = text.split('-').map(|part| part.parse::<u16>().unwrap_or_default());
    let mut next = || parts.next().unwrap_or_default();
    let year = next();
    let (month, day) = (next().min(12) as u8, next().min(31) as u8);
    DateTime::new(year)
        .month(month)
        .day(day)
        .hour(0)
        .minute(0)
        .second(0)
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}

fn attachment(erechnung: &ERechnung, day: Day) -> Result<EmbeddedFile, DrawError> {
    Ok(EmbeddedFile {
        path: ATTACHMENT.to_owned(),
        mime_type: Some(MimeType::new("text/xml").ok_or_else(|| broken("text/xml"))?),
        description: Some("Factur-X/ZUGFeRD-Rechnung".to_owned()),
        association_kind: AssociationKind::Alternative,
        data: erechnung.xml.clone().into(),
        modification_date: Some(date(day)),
        compress: Some(true),
        location: None,
    })
}

fn group(tree: &Tree, id: NodeId, found: &mut [Vec<Identifier>]) -> TagGroup {
    let Some(node) = tree.0.get(id.0) else { return TagGroup::new(Tag::Div) };
    let mut group = TagGroup::new(tag(&node.role));
    for identifier in found.get_mut(id.0).map(std::mem::take).unwrap_or_default() {
        group.push(TagNode::Leaf(identifier));
    }
    for part in &node.parts {
        group.push(self::group(tree, *part, found));
    }
    group
}

fn tag(role: &Role) -> TagKind {
    match role {
        Role::Document => Tag::Div.into(),
        Role::Heading(level, title) => {
            Tag::Hn(NonZeroU16::new(*level).unwrap_or(NonZeroU16::MIN), Some(title.clone())).into()
        }
        Role::Paragraph => Tag::P.into(),
        Role::Table(summary) => Tag::Table.with_summary(Some(summary.clone())).into(),
        Role::TableHead => Tag::THead.into(),
        Role::TableBody => Tag::TBody.into(),
        Role::Row => Tag::TR.into(),
        Role::HeaderCell => Tag::TH(TableHeaderScope::Column).into(),
        Role::Cell => Tag::TD.into(),
        Role::Figure(alt) => Tag::Figure(Some(alt.clone())).into(),
    }
}

struct Pen<'s, 'l> {
    surface: Surface<'s>,
    fonts: &'static Fonts,
    logo: Option<&'l Image>,
}

impl Pen<'_, '_> {
    fn draw(&mut self, marks: &[Mark], found: &mut [Vec<Identifier>]) {
        for marks in marks.chunk_by(|one, other| one.belongs == other.belongs) {
            let Some(first) = marks.first() else { continue };
            let identifier = self.surface.start_tagged(content(first.belongs));
            if let Belongs::To(node) = first.belongs
                && let Some(found) = found.get_mut(node.0)
            {
                found.push(identifier);
            }
            marks.iter().for_each(|mark| self.mark(mark));
            self.surface.end_tagged();
        }
    }

    fn mark(&mut self, mark: &Mark) {
        match &mark.shape {
            Shape::Text(text, style) => self.text(mark.x, mark.y, text, *style),
            Shape::Rule(length, thick, grey) => {
                self.ink(*grey);
                self.rectangles(Rect::from_xywh(mark.x, mark.y - thick / 2.0, *length, *thick));
            }
            Shape::Logo(width, height) => {
                if let (Some(logo), Some(size)) = (self.logo, Size::from_wh(*width, *height)) {
                    self.surface.push_transform(&Transform::from_translate(mark.x, mark.y));
                    self.surface.draw_image(logo.clone(), size);
                    self.surface.pop();
                }
            }
            Shape::Code(modules, side) => self.code(mark.x, mark.y, modules, *side),
            Shape::Across(text, size) => self.across(mark.x, mark.y, text, *size),
            Shape::Nothing => {}
        }
    }

    fn ink(&mut self, grey: u8) {
        let fill = Fill {
            paint: luma::Color::new(grey).into(),
            opacity: NormalizedF32::ONE,
            rule: FillRule::NonZero,
        };
        self.surface.set_fill(Some(fill));
    }

    fn rectangles(&mut self, rects: impl IntoIterator<Item = Rect>) {
        let mut path = PathBuilder::new();
        rects.into_iter().for_each(|rect| path.push_rect(rect));
        if let Some(path) = path.finish() {
            self.surface.draw_path(&path);
        }
    }

    fn text(&mut self, x: f32, y: f32, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let face = self.fonts.face(style.weight);
        let glyphs = text.char_indices().map(|(at, character)| {
            let glyph = face.glyph(character);
            let range = at..at + character.len_utf8();
            KrillaGlyph::new(GlyphId::new(u32::from(glyph.id)), face.share(glyph), 0.0, 0.0, 0.0, range, None)
        });
        let glyphs: Vec<_> = glyphs.collect();
        self.ink(style.grey);
        self.surface.draw_glyphs(Point::from_xy(x, y), &glyphs, face.font.clone(), text, style.size, false);
    }

    /// Draws adjacent dark modules as one rectangle.
    fn code(&mut self, x: f32, y: f32, modules: &[Vec<bool>], side: f32) {
        let mut dark = Vec::new();
        for (row, modules) in modules.iter().enumerate() {
            let mut column = 0;
            for run in modules.chunk_by(|one, other| one == other) {
                let left = x + column as f32 * side;
                let rect = Rect::from_xywh(left, y + row as f32 * side, run.len() as f32 * side, side);
                dark.extend(rect.filter(|_| run.first() == Some(&true)));
                column += run.len();
            }
        }
        self.ink(0);
        self.rectangles(dark);
    }

    /// Draws letters around a point, rising to the right along the diagonal of the page.
    fn across(&mut self, x: f32, y: f32, text: &str, size: f32) {
        let face = self.fonts.face(Weight::Bold);
        let width: f32 = text.chars().map(|letter| face.share(face.glyph(letter))).sum::<f32>() * size;
        self.surface.push_transform(&Transform::from_rotate_at(-54.0, x, y));
        let style = Style { weight: Weight::Bold, size, leading: size, grey: ACROSS };
        self.text(x - width / 2.0, y + size * 0.36, text, style);
        self.surface.pop();
    }
}

fn content(belongs: Belongs) -> ContentTag<'static> {
    let kind = match belongs {
        Belongs::To(_) => return ContentTag::Span(SpanTag::empty()),
        Belongs::PageHead => ArtifactType::Header,
        Belongs::PageFoot => ArtifactType::Footer,
        Belongs::Watermark => ArtifactType::Watermark,
        Belongs::Decoration => ArtifactType::Layout,
    };
    ContentTag::Artifact(Artifact::with_kind(kind))
}
