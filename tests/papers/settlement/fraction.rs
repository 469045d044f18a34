//! Exact fractions of integers, in lowest terms.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    top: i128,
    /// Always positive.
    bottom: i128,
}

fn divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { divisor(b, a % b) }
}

impl Fraction {
    pub fn new(top: i128, bottom: i128) -> Fraction {
        let common = divisor(top, bottom).max(1) * bottom.signum();
        Fraction { top: top / common, bottom: bottom / common }
    }

    pub fn whole(number: i128) -> Fraction {
        Fraction::new(number, 1)
    }

    /// Parses a decimal such as "-12.5".
    pub fn parse(text: &str) -> Fraction {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().unwrap();
        Fraction::new(digits, 10i128.pow(fraction.len() as u32))
    }

    pub fn is_whole(self) -> bool {
        self.bottom == 1
    }

    pub fn floor(self) -> Fraction {
        Fraction::whole(self.top.div_euclid(self.bottom))
    }

    /// Rounds to this many decimals, half away from 0.
    pub fn rounded(self, places: u32) -> Fraction {
        let scale = Fraction::whole(10i128.pow(places));
        let size = Fraction::new(self.top.abs(), self.bottom) * scale;
        let nearest = (size + Fraction::new(1, 2)).floor() / scale;
        nearest * Fraction::whole(self.top.signum())
    }
}

impl Add for Fraction {
    type Output = Fraction;
    fn add(self, other: Fraction) -> Fraction {
        Fraction::new(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)
    }
}

impl Sub for Fraction {
    type Output = Fraction;
    fn sub(self, other: Fraction) -> Fraction {
        self + other * Fraction::whole(-1)
    }
}

impl Mul for Fraction {
    type Output = Fraction;
    fn mul(self, other: Fraction) -> Fraction {
        Fraction::new(self.top * other.top, self.bottom * other.bottom)
    }
}

impl Div for Fraction {
    type Output = Fraction;
    fn div(self, other: Fraction) -> Fraction {
        Fraction::new(self.top * other.bottom, self.bottom * other.top)
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        (self.top * other.bottom).partial_cmp(&(other.top * self.bottom))
    }
}
