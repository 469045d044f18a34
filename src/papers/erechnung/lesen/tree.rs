//! The elements of an XML file, by their local names. A document type is refused, so there are no entities to
//! expand; depth and number of elements are bounded.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::model::Unlesbar;

/// Deepest nesting of elements; invoices have 12.
const DEPTH_MAX: usize = 64;
/// Most elements of a file; an invoice of 1,000 lines has 60,000.
const ELEMENTS_MAX: usize = 200_000;
/// Most attributes that are read of an element; those of invoices have 4.
const ATTRIBUTES_MAX: usize = 16;
const ATTRIBUTES: &[&str] = &["unitCode", "schemeID", "currencyID"];

pub struct Tree {
    elements: Vec<Element>,
}

#[derive(Default)]
struct Element {
    name: String,
    text: String,
    attributes: Vec<(&'static str, String)>,
    children: Vec<usize>,
}

#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    element: &'t Element,
}

impl Tree {
    pub fn parse(text: &str) -> Result<Tree, Unlesbar> {
        let mut reader = Reader::from_str(text);
        let mut tree = Tree { elements: Vec::new() };
        let mut open: Vec<usize> = Vec::new();
        loop {
            let event = reader.read_event().map_err(|_| broken(reader.error_position()))?;
            match event {
                Event::Start(start) => {
                    let element = tree.add(&start, open.last().copied(), open.len())?;
                    open.push(element);
                }
                Event::Empty(start) => {
                    tree.add(&start, open.last().copied(), open.len())?;
                }
                Event::End(_) => {
                    open.pop();
                }
                Event::Text(text) => tree.say(open.last().copied(), &text),
                Event::CData(text) => tree.say(open.last().copied(), &text),
                Event::GeneralRef(reference) => {
                    let letter = resolve(&reference).ok_or_else(entity)?;
                    tree.say(open.last().copied(), letter.encode_utf8(&mut [0; 4]));
                }
                Event::DocType(_) => return Err(entity()),
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => break,
            }
        }
        if !open.is_empty() || tree.elements.is_empty() {
            return Err(broken(text.len() as u64));
        }
        Ok(tree)
    }

    fn add(
        &mut self,
        start: &BytesStart<'_>,
        parent: Option<usize>,
        depth: usize,
    ) -> Result<usize, Unlesbar> {
        let at = self.elements.len();
        if depth >= DEPTH_MAX || at >= ELEMENTS_MAX {
            return Err(Unlesbar::Datei(
                "Das XML ist zu tief verschachtelt oder hat zu viele Elemente für eine Rechnung.".to_owned(),
            ));
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes().with_checks(false).take(ATTRIBUTES_MAX) {
            let attribute = attribute.map_err(|_| broken(0))?;
            let known = ATTRIBUTES.iter().find(|known| **known == attribute.key.as_ref());
            if let Some(known) = known {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|_| entity())?;
                attributes.push((*known, value.trim().to_owned()));
            }
        }
        let name = start.local_name().as_ref().to_owned();
        self.elements.push(Element { name, attributes, ..Element::default() });
        match parent.and_then(|parent| self.elements.get_mut(parent)) {
            Some(parent) => parent.children.push(at),
            None if at == 0 => {}
            None => return Err(broken(0)),
        }
        Ok(at)
    }

    fn say(&mut self, element: Option<usize>, text: &str) {
        if let Some(element) = element.and_then(|element| self.elements.get_mut(element)) {
            element.text.push_str(text);
        }
    }

    pub fn root(&self) -> Node<'_> {
        Node { tree: self, element: self.elements.first().unwrap_or(&NOTHING) }
    }
}

static NOTHING: Element =
    Element { name: String::new(), text: String::new(), attributes: Vec::new(), children: Vec::new() };

impl<'t> Node<'t> {
    pub fn name(self) -> &'t str {
        &self.element.name
    }

    pub fn all<'n>(self, name: &'n str) -> impl Iterator<Item = Node<'t>> + use<'t, 'n> {
        let tree = self.tree;
        let children = self.element.children.iter().filter_map(|child| tree.elements.get(*child));
        children.map(move |element| Node { tree, element }).filter(move |node| node.name() == name)
    }

    /// The first element of a path such as `A/B`, which takes the first child of each name; itself for a blank path.
    pub fn find(self, path: &str) -> Option<Node<'t>> {
        if path.is_empty() {
            return Some(self);
        }
        path.split('/').try_fold(self, |node, name| node.all(name).next())
    }

    /// The element of a path; an empty one if it is missing.
    pub fn part(self, path: &str) -> Node<'t> {
        self.find(path).unwrap_or(Node { element: &NOTHING, ..self })
    }

    /// The trimmed text of the element of a path; `None` if it is blank.
    pub fn text(self, path: &str) -> Option<&'t str> {
        Some(self.find(path)?.element.text.trim()).filter(|text| !text.is_empty())
    }

    pub fn attribute(self, name: &str) -> Option<&'t str> {
        let found = self.element.attributes.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// The character that a reference stands for, if XML itself defines the reference.
fn resolve(reference: &BytesRef<'_>) -> Option<char> {
    match reference.resolve_char_ref() {
        Ok(Some(letter)) => Some(letter),
        Ok(None) => resolve_predefined_entity(reference)?.chars().next(),
        Err(_) => None,
    }
}

fn broken(at: u64) -> Unlesbar {
    Unlesbar::Datei(format!(
        "Das XML ist nicht wohlgeformt (bei Zeichen {at}). Bitte die Datei unverändert vom Lieferanten anfordern."
    ))
}

fn entity() -> Unlesbar {
    Unlesbar::Datei(
        "Das XML hat eine Dokumenttyp-Angabe oder eigene Entitäten; beides ist in Rechnungen nicht erlaubt."
            .to_owned(),
    )
}
