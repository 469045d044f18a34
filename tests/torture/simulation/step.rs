//! The steps of a story.

/// A record, named after the step that created it: a hundred times the step's number, plus an index.
pub type Name = u32;

/// The articles that each company has from the beginning; 4 is inactive.
pub const WHEAT: Name = 1;
pub const SACK: Name = 2;
pub const SALT: Name = 3;

/// The sales contract of each company, in kilogrammes.
pub const CONTRACT: Name = 6;

#[derive(Debug, Clone)]
pub struct Step {
    pub nr: u32,
    pub firm: usize,
    pub deed: Deed,
    /// Whether it is sent with an Idempotency-Key, the number of its own step.
    pub is_keyed: bool,
    /// A person sends it by a form of the Leitstand.
    pub by_form: bool,
}

impl Step {
    /// The record with this index that it creates.
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
    /// A file of partners by number and name for the command line; a new one without a name is an error.
    Import(Vec<(u32, Option<u32>)>),
    /// A file with counts of batches.
    ImportCounts(Vec<(Name, i64)>),
    /// Partners with these names in one request; one without a name is refused.
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
    /// A production order, this many days from today.
    Order(Option<i64>),
    TurnOrder {
        order: Name,
        to: usize,
    },
    /// Repeats a step with its Idempotency-Key, with the same or another body.
    Again {
        step: u32,
        is_changed: bool,
    },
    /// A request for a record of the other company.
    Foreign(Ask, Name),
    /// A malformed request.
    Malformed(Malformed),
    /// A request with the key that has few scopes.
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

/// The value of If-Match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    Nothing,
    Current,
    Stale,
}

/// The header fields of a document.
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
    /// `None` for freight.
    pub article: Option<Name>,
    pub quantity: i64,
    /// In tonnes instead of kilogrammes.
    pub in_tonnes: bool,
    pub price: Option<i64>,
    pub rate: Option<i64>,
    pub discount: i64,
    pub batch: Named,
    pub weighing: Option<Name>,
    /// Whether it references the contract.
    pub has_contract: bool,
    pub goods: Goods,
}

/// How a position moves its goods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goods {
    /// A delivery moves them, an invoice does not, by the setting of its company.
    ByTyp,
    /// It excludes its goods from the stock (`lager_buchen`).
    StayOut,
    /// In the company whose invoices move goods, too: it is matched with its counterparts.
    Meets,
}

/// The delivered weight in kilogrammes, and deductions in tenths of a percent.
#[derive(Debug, Clone)]
pub struct Grain {
    pub delivered: i64,
    pub moisture: i64,
    pub base_moisture: i64,
    /// Factor for the moisture, in tenths.
    pub factor: i64,
    pub dirt: i64,
    pub base_dirt: i64,
    pub deducted: i64,
    /// Per tonne, in ten thousandths.
    pub price: i64,
    /// The supplier's number, if a delivery note is created, too.
    pub lot: Option<u32>,
}

/// How an item names its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Nothing,
    Charge(Name),
    /// The supplier's number.
    Foreign(u32),
    /// Only a best-before date, this many days after 2040 began: it creates a batch.
    Dated(i64),
}

/// A flaw of a document.
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

/// Events around the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// The clock jumps while the server runs.
    Clock(i64),
    /// The server is stopped, and started again when the clock shows this.
    Restart(i64),
    /// The server is killed.
    Kill,
    /// The next step is sent, the server killed during it, and the step repeated.
    KillUnder,
    /// The next step is sent while system calls fail, the server killed if it has not ended itself, and the
    /// step repeated.
    FailUnder(&'static str),
    Backup,
    /// The last backup replaces the database.
    Restore,
}
