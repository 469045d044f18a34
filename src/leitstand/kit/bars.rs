//! Bar charts: two bars side by side for each hour or day.

use maud::{Markup, html};

/// Width of a chart, height of its highest bar, and the y of its base line, in the units of the chart.
const WIDTH: i64 = 768;
const BAR_HEIGHT_MAX: i64 = 100;
const GROUND: i64 = 110;

/// Two bars side by side.
pub struct BarPair {
    pub label: String,
    pub says: String,
    /// Heights of the bars; only their ratio counts.
    pub left: i64,
    pub right: i64,
}

pub struct BarWords<'w> {
    /// What the chart shows, for screen readers.
    pub title: &'w str,
    /// The classes of the left and the right bars: `now`, `then`, `bad`.
    pub classes: [&'w str; 2],
    pub caption: String,
    /// Shown instead if all bars are 0.
    pub empty: &'w str,
}

pub fn bars(pairs: &[BarPair], words: &BarWords<'_>) -> Markup {
    let most = pairs.iter().map(|pair| pair.left.max(pair.right)).max().unwrap_or(0);
    if most <= 0 {
        return html! { p.empty { (words.empty) } };
    }
    // Any amount above 0 is at least one unit high, so that it is visible.
    let height =
        |amount: i64| if amount > 0 { (amount.saturating_mul(BAR_HEIGHT_MAX) / most).max(1) } else { 0 };
    let step = WIDTH / i64::try_from(pairs.len()).unwrap_or(WIDTH).max(1);
    let wide = ((step - 6) / 2).max(1);
    let [left, right] = words.classes;
    html! {
        figure {
            svg viewBox="0 0 768 140" width="768" height="140" role="img" aria-label=(words.title) {
                @for (x, pair) in (0..).step_by(step.max(1) as usize).zip(pairs) {
                    @let x: i64 = x;
                    g {
                        title { (pair.says) }
                        rect class=(left) x=(x) y=(GROUND - height(pair.left)) width=(wide)
                            height=(height(pair.left)) {}
                        rect class=(right) x=(x + wide + 1) y=(GROUND - height(pair.right)) width=(wide)
                            height=(height(pair.right)) {}
                        text x=(x + wide) y="130" text-anchor="middle" { (pair.label) }
                    }
                }
            }
            figcaption { small { (words.caption) } }
        }
    }
}
