//! Shrinks a failing input as long as it fails (delta debugging).

use std::time::{Duration, Instant};

use super::input::Input;

/// Maximum number of tries for one input, and their total time.
const TRIES_MAX: usize = 4_000;
const TIME_MAX: Duration = Duration::from_secs(20);

pub fn shrunk(mut input: Input, fails: &mut dyn FnMut(&Input) -> bool) -> Input {
    let (mut left, begun) = (TRIES_MAX, Instant::now());
    let mut fails = |input: &Input| {
        left = left.saturating_sub(1);
        left > 0 && begun.elapsed() < TIME_MAX && fails(input)
    };
    match &mut input {
        Input::Plain(bytes) => {
            *bytes = shorter(bytes.clone(), &mut |less| fails(&Input::Plain(less.to_vec())))
        }
        Input::Zip(files) => {
            *files = shorter(files.clone(), &mut |less| fails(&Input::Zip(less.to_vec())));
            for at in 0..files.len() {
                let mut tried = files.clone();
                files[at].1 = shorter(files[at].1.clone(), &mut |less| {
                    tried[at].1 = less.to_vec();
                    fails(&Input::Zip(tried.clone()))
                });
            }
        }
    }
    input
}

/// Omits pieces, first half of the input, then ever smaller ones.
fn shorter<T: Clone>(mut all: Vec<T>, fails: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut piece = all.len().div_ceil(2);
    while piece > 0 {
        let mut at = 0;
        while at < all.len() {
            let end = all.len().min(at + piece);
            let less = [&all[..at], &all[end..]].concat();
            if fails(&less) {
                all = less;
            } else {
                at = end;
            }
        }
        piece = if piece == 1 { 0 } else { piece.div_ceil(2) };
    }
    all
}
