//! Rules of the model that can be broken, one line each, to see whether a story tells a broken one from a whole one.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A refused document has taken its number.
    RefusedTakesNumber,
    /// Numbers go on over the end of the year.
    YearGoesOn,
    /// All types of documents share one series.
    OneSeries,
    /// The year of a number is that of the day on which it is written.
    YearOfToday,
    /// Tax is rounded line by line.
    TaxByLine,
    /// A tier holds only beyond its quantity.
    TierBeyond,
    /// Halves of a cent are cut.
    HalvesCut,
    /// A final document can be changed.
    FinalChanges,
    /// A final document shows the partner as he is now.
    NameFollows,
    /// The storno of a final invoice makes no counter document.
    NoCounter,
    /// A counter document has the date of the one that it cancels.
    CounterBackdated,
    /// What is cancelled can be cancelled again.
    CancelTwice,
    /// Only a final document is settled: an open one, too.
    OpenSettles,
    /// Invoices stay open at the end of the day.
    DayNeverEnds,
    /// The day ends at midnight UTC.
    UtcDay,
    /// Delivery notes end with the day, too.
    NotesEnd,
    /// A document with a known external_ref is made again.
    ReferenceForgotten,
    /// external_ref counts for each type alone.
    ReferenceByType,
    /// An Idempotency-Key answers another body, too.
    KeyTakesAll,
    /// An Idempotency-Key is forgotten.
    KeyForgotten,
    /// A weighing can be weighed out twice.
    WeighsTwice,
    /// Net is the first weight less the second, whatever its sign.
    SignedNet,
    /// A weighing that a live document bills can be cancelled.
    BilledCancels,
    /// A storno leaves the stock.
    StockStays,
    /// A receipt can be taken back though its goods have gone.
    UsedReverses,
    /// A supplier's number makes a batch each time.
    BatchEachTime,
    /// Two suppliers share a batch of one number.
    BatchForAll,
    /// A locked batch can be sold.
    LockedSells,
    /// The count of a stocktaking is added.
    CountAdds,
    /// kundennr is compared letter by letter.
    NumberByCase,
    /// The next kundennr is not looked for when it is taken.
    NumberTaken,
    /// A record of another company can be read.
    ForeignSeen,
    /// A stale If-Match is not looked at.
    StaleWrites,
    /// A PUT that changes nothing makes a version.
    NothingWrites,
    /// A storno is missing from the feed.
    FeedWithoutStorno,
    /// The quota of a day goes on over midnight.
    QuotaGoesOn,
    /// A refused request costs nothing of the quota.
    RefusedIsFree,
    /// A deactivated key goes on.
    KeyGoesOn,
    /// A storno is no event of the document.
    StornoIsNoEvent,
    /// The list of documents has the oldest first.
    OldestFirst,
    /// Moisture is taken off what was delivered, not off what is clean.
    DeductsAtOnce,
    /// Production orders go back, too.
    OrdersGoBack,
    /// What stands behind a refused record of a bulk request is refused.
    BulkStops,
    /// A bulk request counts as one.
    BulkIsOne,
    /// A cancelled delivery counts for its contract.
    CancelledDelivers,
    /// Invoices count for a contract beside their deliveries.
    InvoiceDelivers,
    /// What an invoice and a delivery have met is moved by both.
    MovesTwice,
    /// The newest open counterpart is met first.
    NewestMet,
    /// What a document has met changes without a version of it.
    NobodyFollows,
    /// A form counts as a request of the key.
    FormCounts,
    /// The rows before a mistake of an import are stored.
    ImportInParts,
    /// A count that is imported twice is another one.
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
