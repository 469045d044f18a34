//! The result of the layout: the marks on each page, and the tree of their meanings.

use super::text::Style;

/// Points per millimetre.
pub const MM: f32 = 72.0 / 25.4;
/// Width and height of A4.
pub const WIDTH: f32 = 210.0 * MM;
pub const HEIGHT: f32 = 297.0 * MM;

/// A node of the tree; [`Tree::ROOT`] is the whole document.
#[derive(Clone, Copy, PartialEq)]
pub struct NodeId(pub usize);

/// The role of a part of the document (PDF/UA-1).
pub enum Role {
    Document,
    Heading(u16, String),
    Paragraph,
    Table(String),
    TableHead,
    TableBody,
    Row,
    HeaderCell,
    Cell,
    Figure(String),
}

#[derive(Clone, Copy, PartialEq)]
pub enum Belongs {
    To(NodeId),
    PageHead,
    PageFoot,
    Watermark,
    Decoration,
}

/// Something drawn. Lengths are in points from the upper left corner.
pub enum Shape {
    /// A line of text that begins here, on this baseline.
    Text(String, Style),
    /// A horizontal line: its length, thickness and grey.
    Rule(f32, f32, u8),
    Logo(f32, f32),
    /// A square of dark and light modules, row by row, and the width of a module.
    Code(Vec<Vec<bool>>, f32),
    /// Grey letters of this size across the page, centred on this point.
    Across(String, f32),
    /// Nothing visible: an empty cell of a table is a cell, too.
    Nothing,
}

pub struct Mark {
    pub x: f32,
    /// Distance from the top; for a text, that of its baseline.
    pub y: f32,
    pub shape: Shape,
    pub belongs: Belongs,
}

/// A part of the document and its parts, in reading order.
pub struct Node {
    pub role: Role,
    pub parts: Vec<NodeId>,
}

pub struct Tree(pub Vec<Node>);

impl Tree {
    pub const ROOT: NodeId = NodeId(0);

    fn new() -> Tree {
        Tree(vec![Node { role: Role::Document, parts: Vec::new() }])
    }

    pub fn add(&mut self, parent: NodeId, role: Role) -> NodeId {
        let id = NodeId(self.0.len());
        self.0.push(Node { role, parts: Vec::new() });
        if let Some(parent) = self.0.get_mut(parent.0) {
            parent.parts.push(id);
        }
        id
    }
}

pub struct Pages {
    /// Marks by page, in the order in which they are drawn.
    pub pages: Vec<Vec<Mark>>,
    pub tree: Tree,
}

impl Pages {
    pub fn new() -> Pages {
        Pages { pages: vec![Vec::new()], tree: Tree::new() }
    }

    pub fn mark(&mut self, x: f32, y: f32, shape: Shape, belongs: Belongs) {
        if let Some(page) = self.pages.last_mut() {
            page.push(Mark { x, y, shape, belongs });
        }
    }
}
