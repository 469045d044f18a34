//! The content between head and foot, broken into pages.

use super::error::{DrawError, PAGES_MAX};
use super::page::{Belongs, HEIGHT, MM, NodeId, Pages, Role, Shape, Tree};
use super::text::{BODY, HEADING, Style, Typesetter};

/// Left edge of all text (DIN 5008).
pub const LEFT: f32 = 25.0 * MM;
/// Width of text: up to 20 mm from the right edge of the paper.
pub const TEXT_WIDTH: f32 = 165.0 * MM;
/// Top of the text on the second page and those that follow.
const TOP: f32 = 31.0 * MM;

/// Least height for text on a page: the foot of a company takes 60 mm at most.
pub const PAGE_HEIGHT_MIN: f32 = HEIGHT - TOP - 60.0 * MM;

/// Lines of a paragraph that are kept together at the end of a page and at the beginning of the next.
pub const TOGETHER: usize = 2;

pub struct Flow<'t> {
    pub pages: Pages,
    pub typesetter: &'t mut Typesetter,
    pub y: f32,
    bottom: f32,
}

impl<'t> Flow<'t> {
    /// An empty page that is filled down to `y` and has a foot of this height.
    pub fn new(typesetter: &'t mut Typesetter, y: f32, foot: f32) -> Flow<'t> {
        Flow { pages: Pages::new(), typesetter, y, bottom: HEIGHT - foot }
    }

    pub fn room(&self) -> f32 {
        self.bottom - self.y
    }

    pub fn whole_page(&self) -> f32 {
        self.bottom - TOP
    }

    /// Measures the height that `draw` needs on an endless page; nothing drawn is kept.
    pub fn measured(
        &mut self,
        draw: impl FnOnce(&mut Flow<'_>) -> Result<(), DrawError>,
    ) -> Result<f32, DrawError> {
        let mut endless =
            Flow { pages: Pages::new(), typesetter: &mut *self.typesetter, y: TOP, bottom: f32::INFINITY };
        draw(&mut endless)?;
        Ok(endless.y - TOP)
    }

    pub fn break_page(&mut self) -> Result<(), DrawError> {
        if self.pages.pages.len() >= PAGES_MAX {
            return Err(DrawError::TooLong);
        }
        self.pages.pages.push(Vec::new());
        self.y = TOP;
        Ok(())
    }

    /// Begins a new page if less than `height` is left on a page that is not empty.
    pub fn ensure_room(&mut self, height: f32) -> Result<(), DrawError> {
        if self.room() < height && self.y > TOP { self.break_page() } else { Ok(()) }
    }

    /// Leaves a space of this height, except at the top of a page.
    pub fn space(&mut self, height: f32) {
        if self.y > TOP {
            self.y += height;
        }
    }

    /// Draws a line of text whose upper edge is `y`.
    pub fn line(&mut self, x: f32, y: f32, text: &str, style: Style, belongs: Belongs) {
        self.pages.mark(x, y + baseline(style), Shape::Text(text.to_owned(), style), belongs);
    }

    /// Draws lines one below the other from `y` on, without breaking the page; returns where they end.
    pub fn column(&mut self, x: f32, y: f32, lines: &[String], style: Style, belongs: Belongs) -> f32 {
        for (at, line) in lines.iter().enumerate() {
            self.line(x, y + at as f32 * style.leading, line, style, belongs);
        }
        y + lines.len() as f32 * style.leading
    }

    /// Draws a heading, which stays together with the following `height`.
    pub fn heading(&mut self, text: &str, height: f32) -> Result<(), DrawError> {
        let lines = self.typesetter.lines(text, HEADING, TEXT_WIDTH);
        if lines.is_empty() {
            return Ok(());
        }
        self.ensure_room(HEADING.leading * lines.len() as f32 + 2.0 + height)?;
        let node = self.pages.tree.add(Tree::ROOT, Role::Heading(2, lines.concat()));
        self.lines(&lines, LEFT, HEADING, node)?;
        self.y += 2.0;
        Ok(())
    }

    pub fn paragraph(&mut self, text: &str, style: Style) -> Result<(), DrawError> {
        let lines = self.typesetter.lines(text, style, TEXT_WIDTH);
        if lines.is_empty() {
            return Ok(());
        }
        let node = self.pages.tree.add(Tree::ROOT, Role::Paragraph);
        self.lines(&lines, LEFT, style, node)
    }

    /// Draws lines one below the other with page breaks; no line stands alone.
    pub fn lines(&mut self, lines: &[String], x: f32, style: Style, node: NodeId) -> Result<(), DrawError> {
        for (at, line) in lines.iter().enumerate() {
            let rest = lines.len() - at;
            let stay = if at == 0 || rest == TOGETHER { TOGETHER.min(rest) } else { 1 };
            self.ensure_room(style.leading * stay as f32)?;
            self.line(x, self.y, line, style, Belongs::To(node));
            self.y += style.leading;
        }
        Ok(())
    }

    pub fn text(&mut self, heading: Option<&str>, paragraphs: &[String]) -> Result<(), DrawError> {
        if let Some(heading) = heading {
            self.heading(heading, BODY.leading * TOGETHER as f32)?;
        }
        for (at, paragraph) in paragraphs.iter().enumerate() {
            self.space(if at > 0 { 5.0 } else { 0.0 });
            self.paragraph(paragraph, BODY)?;
        }
        Ok(())
    }
}

/// Distance from the top of a line to its baseline; ascender and descender of the font are centred in the
/// leading.
pub fn baseline(style: Style) -> f32 {
    style.leading / 2.0 + style.size * 0.36
}
