//! The shortest story that still shows a difference.

use super::step::Step;

/// Leaves out steps as long as the story still fails; at most so many times.
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
