//! What of much can be measured in a given time. Pure.

/// Why something is not measured anew.
pub const NO_TIME: &str = "there was no time for it, --at-most gives more";

/// One benchmark that should be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// How much slower it seems: 0.05 for 5 %.
    pub slowdown: f64,
    /// How long it takes, in seconds.
    pub seconds: f64,
}

/// Of each whether it is measured, all in at most so many seconds: what seems slowest comes first, and what does not fit any more is left out.
pub fn within(wishes: &[Wish], seconds: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by(|i, j| wishes[*j].slowdown.total_cmp(&wishes[*i].slowdown));
    let mut left = seconds;
    let mut fits = vec![false; wishes.len()];
    for i in order {
        fits[i] = wishes[i].seconds <= left;
        if fits[i] {
            left -= wishes[i].seconds;
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_seems_slowest_comes_first() {
        let wish = |(slowdown, seconds): (f64, f64)| Wish { slowdown, seconds };
        let all = [(0.01, 2.0), (0.5, 3.0), (0.2, 9.0), (-0.1, 1.0)].map(wish);
        assert_eq!(within(&all, 5.5), [true, true, false, false]);
        assert_eq!(within(&all, 100.0), [true; 4]);
        assert_eq!(within(&all, 0.0), [false; 4]);
    }
}
