//! The expected records and lists.

use serde_json::{Value, json};

use super::partners::shown_file;
use super::{Document, Model, Row, id};
use crate::simulation::broken::Broken;
use crate::simulation::calendar::{day_time, instant};
use crate::simulation::money::{money, percent, price, quantity, stock_quantity};
use crate::simulation::step::{CONTRACT, Name, SACK, SALT, WHEAT};

use super::documents::is_invoice;

/// A list of the interface, and its rows in order.
#[derive(Debug, PartialEq)]
pub struct List {
    pub path: String,
    pub rows: Vec<Value>,
}

/// Records, and their paths.
type Records = Vec<(String, Value)>;

impl Model {
    /// Everything of a company.
    pub fn all(&self, firm: usize) -> (Vec<List>, Records, Vec<Vec<Row>>) {
        (self.lists(firm), self.stocks(firm), self.firms[firm].feed.clone())
    }

    /// All lists of a company.
    pub fn lists(&self, firm: usize) -> Vec<List> {
        let list = |path: &str, rows: Vec<Value>| List { path: path.to_owned(), rows };
        let of = &self.firms[firm];
        let mut weighings: Vec<(i64, Name)> =
            of.weighings.iter().map(|(name, of)| (of.begun, *name)).collect();
        weighings.sort();
        weighings.reverse();
        let mut lists = vec![
            list("/api/v1/kunden", self.partner_list(firm)),
            list("/api/v1/belege", self.document_list(firm, |_| true)),
            list("/api/v1/belege?status=offen", self.document_list(firm, |of| of.status == "offen")),
            list("/api/v1/belege?typ=RE,ER", self.document_list(firm, |of| is_invoice(of.typ))),
            list("/api/v1/dokumente?since=2000-01-01", self.event_list(firm)),
            list("/api/v1/chargen", of.batches.keys().map(|name| self.shown_batch(firm, *name)).collect()),
            list(
                "/api/v1/wiegungen",
                weighings.iter().map(|(_, name)| self.shown_weighing(firm, *name)).collect(),
            ),
        ];
        let delivered = quantity(self.delivered(firm));
        lists.push(list("/api/v1/kontrakte", vec![json!({"id": id(CONTRACT), "geliefert": delivered})]));
        lists.push(list("/api/v1/annahmescheine", self.receipt_list(firm)));
        lists.push(list("/api/v1/produktionsauftraege", self.order_list(firm)));
        let with_files = of.partners.iter().filter(|(_, partner)| !partner.files.is_empty());
        lists.extend(with_files.take(2).map(|(name, partner)| {
            let files = partner.files.iter().map(|(name, content)| shown_file(*name, *content));
            list(&format!("/api/v1/kunden/#{name}/dokumente"), files.collect())
        }));
        lists
    }

    /// The quantity delivered on the contract by live deliveries.
    fn delivered(&self, firm: usize) -> i64 {
        let counts = |document: &&Document| {
            let is_live = document.is_live() || self.breaks(Broken::CancelledDelivers);
            is_live && (document.typ == "LS" || document.typ == "RE" && self.breaks(Broken::InvoiceDelivers))
        };
        let items = self.firms[firm].documents.values().filter(counts).flat_map(|document| &document.items);
        items.filter(|item| item.has_contract).map(stock_quantity).sum()
    }

    /// Records derived from many others: the stock of articles.
    pub fn stocks(&self, firm: usize) -> Records {
        let of = &self.firms[firm];
        let batches = |article: Name| of.batches.values().filter(move |batch| batch.article == article);
        let stock = |article: Name| match article {
            WHEAT => batches(article).map(|batch| batch.stock).sum(),
            _ => of.stocks.get(&article).copied().unwrap_or(0),
        };
        let record = |article: Name| {
            let path = format!("/api/v1/artikel/#{article}/bestand");
            (path, json!({"artikel_id": id(article), "bestand": quantity(stock(article))}))
        };
        [WHEAT, SACK, SALT].map(record).to_vec()
    }

    pub fn partner_list(&self, firm: usize) -> Vec<Value> {
        let order = |number: &str| number[2..].parse::<u32>().expect("a number");
        let mut partners: Vec<(u32, Name)> =
            self.firms[firm].partners.iter().map(|(name, partner)| (order(&partner.number), *name)).collect();
        partners.sort();
        partners.into_iter().map(|(_, name)| self.shown_partner(firm, name)).collect()
    }

    fn document_list(&self, firm: usize, fits: impl Fn(&Document) -> bool) -> Vec<Value> {
        let documents = self.firms[firm].documents.iter().filter(|(_, document)| fits(document));
        let mut order: Vec<(i64, i64, Name)> =
            documents.map(|(name, document)| (document.day, document.made, *name)).collect();
        order.sort();
        if !self.breaks(Broken::OldestFirst) {
            order.reverse();
        }
        order.into_iter().map(|(.., name)| self.head(firm, name)).collect()
    }

    fn event_list(&self, firm: usize) -> Vec<Value> {
        let events = self.firms[firm].documents.iter();
        let mut events: Vec<(i64, Name)> =
            events.filter_map(|(name, document)| document.event.map(|event| (event, *name))).collect();
        events.sort();
        let row = |name: Name| {
            let document = &self.firms[firm].documents[&name];
            json!({"id": id(name), "beleg_nummer": document.number, "status": document.status,
                "beleg_typ": document.typ, "pdf_archiv_count": document.papers.len().to_string()})
        };
        events.into_iter().map(|(_, name)| row(name)).collect()
    }

    fn head(&self, firm: usize, name: Name) -> Value {
        let document = &self.firms[firm].documents[&name];
        let [net, tax, gross] = document.sums.map(money);
        let partner = &self.firms[firm].partners[&document.partner].name;
        let is_credit = is_invoice(document.typ) && (document.sums[0] < 0 || document.cancels.is_some());
        json!({"id": id(name), "beleg_nummer": document.number, "beleg_typ": document.typ, "status": document.status,
            "beleg_datum": day_time(document.day), "summe_netto": net, "summe_mwst": tax, "summe_brutto": gross,
            "kunde_id": id(document.partner), "kunden_name": document.kept.as_ref().unwrap_or(partner),
            "notizen": document.note.map(|note| format!("Notiz {note}")), "ist_gutschrift": is_credit,
            "external_ref": document.reference.map(|reference| format!("ref-{reference}")),
            "created_at": instant(document.made), "updated_at": instant(document.changed),
            "storno_von_beleg_id": document.cancels.map(id)})
    }

    pub fn shown_document(&self, firm: usize, name: Name) -> Value {
        let document = &self.firms[firm].documents[&name];
        let mut shown = self.head(firm, name);
        let lines = self.lines(document.typ, &document.items);
        let items = document.items.iter().zip(&document.batches).zip(lines).enumerate();
        shown["positionen"] = items
            .map(|(at, ((item, batch), line))| {
                json!({"position": at + 1, "menge": quantity(item.quantity), "ep_netto": price(line.price),
                    "einzelpreis": price(line.price), "gesamtpreis": money(line.total), "mwst_satz": percent(line.rate),
                    "rabatt_prozent": percent(item.discount), "artikel_id": item.article.map(id),
                    "charge_id": batch.map(id), "gegenbelege": self.shown_met(firm, (name, at))})
            })
            .collect();
        shown
    }

    fn shown_met(&self, firm: usize, position: (Name, usize)) -> Value {
        let shown = |((other, at), met): ((Name, usize), i64)| {
            let of = &self.firms[firm].documents[&other];
            json!({"beleg_id": id(other), "beleg_nummer": of.number, "beleg_typ": of.typ, "position": at + 1,
                "menge": quantity(met)})
        };
        self.firms[firm].met(position).into_iter().map(shown).collect()
    }

    /// The history of a document: how many earlier versions there are.
    pub fn history(&self, firm: usize, name: Name) -> Option<(String, Value)> {
        let document = self.firms[firm].documents.get(&name)?;
        Some((format!("/api/v1/belege/#{name}/verlauf"), json!({"count": document.version - 1})))
    }

    /// A single record, and its path.
    pub fn record(&self, firm: usize, name: Name) -> Option<(String, Value)> {
        let of = &self.firms[firm];
        let (kind, shown) = if of.documents.contains_key(&name) {
            ("belege", self.shown_document(firm, name))
        } else if of.partners.contains_key(&name) {
            ("kunden", self.shown_partner(firm, name))
        } else if of.batches.contains_key(&name) {
            ("chargen", self.shown_batch(firm, name))
        } else if of.weighings.contains_key(&name) {
            ("wiegungen", self.shown_weighing(firm, name))
        } else if of.orders.contains_key(&name) {
            ("produktionsauftraege", self.shown_order(firm, name))
        } else {
            return None;
        };
        Some((format!("/api/v1/{kind}/#{name}"), shown))
    }
}
