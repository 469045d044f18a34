//! Rules of the model that can be broken, one line each, to test whether stories detect that.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A refused document uses up its number.
    RefusedTakesNumber,
    /// Numbers continue past the end of the year.
    YearGoesOn,
    /// All types of documents share one series.
    OneSeries,
    /// The year of a number is that of the day of writing.
    YearOfToday,
    /// Tax is rounded line by line.
    TaxByLine,
    /// A tier applies only above its quantity.
    TierBeyond,
    /// Half cents are cut off.
    HalvesCut,
    /// A final document can be changed.
    FinalChanges,
    /// A final document shows the current data of the partner.
    NameFollows,
    /// The storno of a final invoice creates no storno document.
    NoCounter,
    /// A storno document has the date of the cancelled one.
    CounterBackdated,
    /// A cancelled document can be cancelled again.
    CancelTwice,
    /// Open documents can be settled, too, not only final ones.
    OpenSettles,
    /// Invoices stay open at the end of the day.
    DayNeverEnds,
    /// The day ends at midnight UTC.
    UtcDay,
    /// Delivery notes become final at the end of the day, too.
    NotesEnd,
    /// A document with a known external_ref is created again.
    ReferenceForgotten,
    /// external_ref is unique only within a type.
    ReferenceByType,
    /// An Idempotency-Key is accepted with another body.
    KeyTakesAll,
    /// An Idempotency-Key is forgotten.
    KeyForgotten,
    /// A weighing can be weighed out twice.
    WeighsTwice,
    /// Net is the first weight minus the second, regardless of its sign.
    SignedNet,
    /// A weighing billed by a live document can be cancelled.
    BilledCancels,
    /// A storno does not change the stock.
    StockStays,
    /// A receipt can be cancelled though its goods have gone.
    UsedReverses,
    /// A supplier's number creates a new batch each time.
    BatchEachTime,
    /// Two suppliers share a batch with the same number.
    BatchForAll,
    /// A locked batch can be sold.
    LockedSells,
    /// The count of a stocktaking is added to the stock.
    CountAdds,
    /// kundennr is compared case-sensitively.
    NumberByCase,
    /// The next kundennr is used even if it is taken.
    NumberTaken,
    /// A record of another company can be read.
    ForeignSeen,
    /// An outdated If-Match is ignored.
    StaleWrites,
    /// A PUT that changes nothing makes a version.
    NothingWrites,
    /// A storno is missing from the feed.
    FeedWithoutStorno,
    /// The daily quota continues past midnight.
    QuotaGoesOn,
    /// A refused request does not count against the quota.
    RefusedIsFree,
    /// A deactivated key remains valid.
    KeyGoesOn,
    /// A storno is no event of the document.
    StornoIsNoEvent,
    /// The list of documents begins with the oldest.
    OldestFirst,
    /// Moisture is deducted from the delivered weight, not from the clean one.
    DeductsAtOnce,
    /// Production orders can go back to an earlier state.
    OrdersGoBack,
    /// Records after a refused one in a bulk request are refused.
    BulkStops,
    /// A bulk request counts as one request.
    BulkIsOne,
    /// A cancelled delivery counts for its contract.
    CancelledDelivers,
    /// Invoices count for a contract in addition to their deliveries.
    InvoiceDelivers,
    /// Goods of a matched invoice and delivery are moved by both.
    MovesTwice,
    /// The newest open counterpart is matched first.
    NewestMet,
    /// The counterparts of a document change without a new version of it.
    NobodyFollows,
    /// A form counts as a request of the key.
    FormCounts,
    /// The rows before an error in an import are stored.
    ImportInParts,
    /// A count that is imported twice is booked twice.
    CountsAgain,
}

pub const RULES: &[Broken] = &[
    Broken::RefusedTakesNumber,
    Broken::YearGoesOn,
    Broken::OneSeries,
    Broken::YearOfToday,
    Broken::TaxByLine,
    Broken::TierBeyond,
    Broken::HalvesCut,
    Broken::FinalChanges,
    Broken::NameFollows,
    Broken::NoCounter,
    Broken::CounterBackdated,
    Broken::CancelTwice,
    Broken::OpenSettles,
    Broken::DayNeverEnds,
    Broken::UtcDay,
    Broken::NotesEnd,
    Broken::ReferenceForgotten,
    Broken::ReferenceByType,
    Broken::KeyTakesAll,
    Broken::KeyForgotten,
    Broken::WeighsTwice,
    Broken::SignedNet,
    Broken::BilledCancels,
    Broken::StockStays,
    Broken::UsedReverses,
    Broken::BatchEachTime,
    Broken::BatchForAll,
    Broken::LockedSells,
    Broken::CountAdds,
    Broken::NumberByCase,
    Broken::NumberTaken,
    Broken::ForeignSeen,
    Broken::StaleWrites,
    Broken::NothingWrites,
    Broken::FeedWithoutStorno,
    Broken::QuotaGoesOn,
    Broken::RefusedIsFree,
    Broken::KeyGoesOn,
    Broken::StornoIsNoEvent,
    Broken::OldestFirst,
    Broken::DeductsAtOnce,
    Broken::OrdersGoBack,
    Broken::BulkStops,
    Broken::BulkIsOne,
    Broken::CancelledDelivers,
    Broken::InvoiceDelivers,
    Broken::MovesTwice,
    Broken::NewestMet,
    Broken::NobodyFollows,
    Broken::FormCounts,
    Broken::ImportInParts,
    Broken::CountsAgain,
];
