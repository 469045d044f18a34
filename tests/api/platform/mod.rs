//! Tests of what applies to every request, whatever its resource.

pub mod again;
pub mod attacks;
pub mod audit;
pub mod bounds;
pub mod bulk;
pub mod gate;
pub mod idempotency;
pub mod import;
pub mod json;
pub mod lanes;
pub mod lenient;
pub mod limits;
pub mod lists;
pub mod log;
pub mod parallel;
pub mod regressions;
pub mod seals;
pub mod strangers;
pub mod tenants;
pub mod ways;
pub mod web;
