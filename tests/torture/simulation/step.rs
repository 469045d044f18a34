//! What a story consists of.

/// A record, by the step that made it: a hundred times its number, and which of its records it is.
pub type Name = u32;

/// The articles that each company has from the beginning; 4 is inactive.
pub const WHEAT: Name = 1;
pub const SACK: Name = 2;
pub const SALT: Name = 3;

/// The sales contract that each company has, in kilogrammes.
pub const CONTRACT: Name = 6;

#[derive(Debug, Clone)]
pub struct Step {
    pub nr: u32,
    pub firm: usize,
    pub deed: Deed,
    /// The number of the Idempotency-Key that it is sent under: that of its own step.
    pub is_keyed: bool,
    /// A person sends it by a form of the Leitstand.
    pub by_form: bool,
}

impl Step {
    /// The record with this number that it makes.
    pub fn made(&self, which: u32) -> Name {
        self.nr * 100 + which
    }
}

#[derive(Debug, Clone)]
pub enum Deed {
    Partner {
        number: Option<u32>,
        name: Option<u32>,
    },
    /// A file of partners by number and name for the command line; a new one without a name is a mistake.
    Import(Vec<(u32, Option<u32>)>),
    /// A file of counts of batches.
    ImportCounts(Vec<(Name, i64)>),
    /// Partners of these names in one request; one without is refused.
    Partners(Vec<Option<u32>>),
    ChangePartner {
        partner: Name,
        change: PartnerChange,
        matches: Match,
    },
    Document {
        typ: &'static str,
        partner: Name,
        items: Vec<Item>,
        head: Head,
        flaw: Option<Flaw>,
    },
    ChangeDocument {
        document: Name,
        items: Option<Vec<Item>>,
        note: Option<u32>,
        days_back: Option<i64>,
        matches: Match,
    },
    Finish(Name),
    Settle(Name),
    Cancel(Name),
    Archive {
        document: Name,
        content: u32,
    },
    Batch {
        article: Name,
        number: Option<u32>,
    },
    LockBatch {
        batch: Name,
        is_locked: bool,
    },
    CountBatch {
        batch: Name,
        stock: i64,
    },
    CountArticle {
        article: Name,
        stock: i64,
    },
    Weighing {
        partner: Name,
        first: i64,
    },
    SecondWeighing {
        weighing: Name,
        second: i64,
    },
    CancelWeighing(Name),
    Attach {
        partner: Name,
        content: u32,
    },
    Receipt {
        partner: Name,
        grain: Grain,
    },
    CancelReceipt(Name),
    /// A production order, so many days from today.
    Order(Option<i64>),
    TurnOrder {
        order: Name,
        to: usize,
    },
    /// A step is sent again under its Idempotency-Key, as it was or with another body.
    Again {
        step: u32,
        is_changed: bool,
    },
    /// A record of the other company is asked for.
    Foreign(Ask, Name),
    /// What no route takes.
    Malformed(Malformed),
    /// A request with the key that may do little.
    Small(Small),
    SwitchSmallKey,
    World(World),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartnerChange {
    Name(u32),
    Place(u32),
    Inactive(bool),
    /// The name that it has already.
    Nothing,
}

/// What If-Match says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    Nothing,
    Current,
    Stale,
}

/// What stands in the head of a document.
#[derive(Debug, Clone, Default)]
pub struct Head {
    pub reference: Option<u32>,
    pub days_back: i64,
    pub note: Option<u32>,
    pub is_final: bool,
}

/// Quantities in thousandths, prices in ten thousandths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// None for freight.
    pub article: Option<Name>,
    pub quantity: i64,
    /// In tonnes and not in kilogrammes.
    pub in_tonnes: bool,
    pub price: Option<i64>,
    pub rate: Option<i64>,
    pub discount: i64,
    pub batch: Named,
    pub weighing: Option<Name>,
    /// Whether it names the contract.
    pub has_contract: bool,
    pub goods: Goods,
}

/// What a position does with its goods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goods {
    /// A delivery moves them, an invoice does not, for such is its company.
    ByTyp,
    /// It says that it moves none (`lager_buchen`).
    StayOut,
    /// Where invoices move goods, too: it meets its counterparts.
    Meets,
}

/// What is delivered, in kilogrammes, and what is taken off, in tenths of a percent.
#[derive(Debug, Clone)]
pub struct Grain {
    pub delivered: i64,
    pub moisture: i64,
    pub base_moisture: i64,
    /// Of the moisture, in tenths.
    pub factor: i64,
    pub dirt: i64,
    pub base_dirt: i64,
    pub deducted: i64,
    /// For a tonne, in ten thousandths.
    pub price: i64,
    /// The supplier's number, where a delivery note is written, too.
    pub lot: Option<u32>,
}

/// How an item says its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Nothing,
    Charge(Name),
    /// The supplier's number.
    Foreign(u32),
    /// A best-before date alone, so many days from 2040 on: it makes a batch.
    Dated(i64),
}

/// What is wrong with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    NoItems,
    NoQuantity,
    UnknownArticle,
    InactiveArticle,
    NoBatch,
    UnknownPartner,
    NoPartner,
    ForeignPartner,
    FarDay,
    Comma,
    HugeDiscount,
    NoJson,
    Type,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    Partner,
    ChangePartner,
    Document,
    CancelDocument,
    Batch,
    CountBatch,
    Weighing,
    SecondWeighing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    Path,
    Method,
    Parameter,
    Limit,
    Day,
    Id,
    Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Small {
    Countries,
    Documents,
    Partners,
    Write,
}

/// What happens around the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// The clock jumps while the server runs.
    Clock(i64),
    /// The server is stopped, and started when the clock says this.
    Restart(i64),
    /// The server is killed.
    Kill,
    /// The next step is sent, the server killed under it, and the step sent again.
    KillUnder,
    /// The next step is sent while calls of the system fail, the server killed where it has not ended itself,
    /// and the step sent again.
    FailUnder(&'static str),
    Backup,
    /// The last backup takes the place of the database.
    Restore,
}
