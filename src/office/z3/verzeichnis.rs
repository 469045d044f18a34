//! Writes index.xml: which tables there are and how to read each (GDPdU-Beschreibungsstandard,
//! `gdpdu-01-09-2004.dtd`).

use quick_xml::escape::escape;

use super::tabelle::{Art, Spalte, Tabelle};
use super::zeile::Geschrieben;
use super::zeitraum::Zeitraum;

/// The name of the document type definition; [`DTD`] is the file itself, unaltered.
pub const DTD_NAME: &str = "gdpdu-01-09-2004.dtd";

pub const DTD: &[u8] = include_bytes!("gdpdu-01-09-2004.dtd");

/// Who hands over: name and place of the company, and the version of the program.
pub struct Lieferant {
    pub name: String,
    pub ort: String,
    pub stand: String,
}

/// Returns the index of these tables. It is written last, because it states the longest text of each column.
pub fn index(lieferant: &Lieferant, zeitraum: Zeitraum, tabellen: &[(&Tabelle, Geschrieben)]) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE DataSet SYSTEM \"{DTD_NAME}\">\n\
         <DataSet>\n  <Version>1.0</Version>\n  <DataSupplier>{}{}{}</DataSupplier>\n  \
         <Media>\n    {}\n",
        element("Name", &lieferant.name),
        element("Location", &lieferant.ort),
        element("Comment", &lieferant.stand),
        element("Name", &format!("partnerd {} bis {}", zeitraum.von.german(), zeitraum.bis.german())),
    );
    tabellen.iter().for_each(|(tabelle, stand)| table(&mut xml, tabelle, stand, zeitraum));
    xml.push_str("  </Media>\n</DataSet>\n");
    xml
}

fn table(xml: &mut String, tabelle: &Tabelle, stand: &Geschrieben, zeitraum: Zeitraum) {
    xml.push_str("    <Table>\n      ");
    xml.push_str(&element("URL", &tabelle.csv()));
    xml.push_str(&element("Name", tabelle.titel));
    xml.push_str(&element("Description", tabelle.beschreibung));
    if tabelle.ist_zeitraum {
        let (von, bis) = (element("From", &zeitraum.von.german()), element("To", &zeitraum.bis.german()));
        xml.push_str(&format!(
            "\n      <Validity><Range>{von}{bis}</Range><Format>DD.MM.YYYY</Format></Validity>"
        ));
    }
    // All but the code page are defaults, stated for human readers. RecordDelimiter is omitted: programs
    // refuse it if it is written as an entity.
    xml.push_str(
        "\n      <UTF8/><DecimalSymbol>,</DecimalSymbol><DigitGroupingSymbol>.</DigitGroupingSymbol>\n      \
         <Range><From>2</From></Range>\n      <VariableLength>\n        \
         <ColumnDelimiter>;</ColumnDelimiter><TextEncapsulator>\"</TextEncapsulator>\n",
    );
    for (at, (spalte, stand)) in tabelle.spalten.iter().zip(&stand.spalten).enumerate() {
        let kind = if at < tabelle.schluessel { "VariablePrimaryKey" } else { "VariableColumn" };
        let (name, art) = (element("Name", spalte.name), kind_of(spalte, stand.laenge));
        xml.push_str(&format!("        <{kind}>{name}{art}</{kind}>\n"));
    }
    for (spalte, ziel) in tabelle.verweise {
        let (name, ziel) = (element("Name", spalte), element("References", ziel));
        xml.push_str(&format!("        <ForeignKey>{name}{ziel}</ForeignKey>\n"));
    }
    xml.push_str("      </VariableLength>\n    </Table>\n");
}

fn kind_of(spalte: &Spalte, laenge: usize) -> String {
    match spalte.art {
        Art::Text | Art::Id | Art::Zeitpunkt => {
            format!("<AlphaNumeric/><MaxLength>{}</MaxLength>", laenge.max(1))
        }
        Art::Zahl { stellen: 0, .. } => "<Numeric/>".to_owned(),
        Art::Zahl { stellen, .. } => format!("<Numeric><Accuracy>{stellen}</Accuracy></Numeric>"),
        Art::Tag => "<Date><Format>DD.MM.YYYY</Format></Date>".to_owned(),
    }
}

fn element(name: &str, text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("<{name}>{}</{name}>", escape(&text))
}
