//! Minimises a story that shows a difference.

use super::step::Step;

/// Omits steps as long as the story still fails; with at most this many tries.
pub fn minimise(story: &[Step], tries: usize, mut fails: impl FnMut(&[Step]) -> bool) -> Vec<Step> {
    let mut story = story.to_vec();
    let (mut left, mut size) = (tries, story.len() / 2);
    while size > 0 {
        let mut at = 0;
        while at < story.len() && left > 0 {
            let end = (at + size).min(story.len());
            let other = [&story[..at], &story[end..]].concat();
            left -= 1;
            if fails(&other) {
                story = other;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    story
}
