//! Finds missing pages as Linux 6.18 does, in its tree of a file's pages (`lib/xarray.c`).
//!
//! A node of the tree has 64 slots. The first slot of a folio holds the folio, and the slots of its
//! other pages refer to the first one. Folios of 64 pages and more take slots one level above those
//! of single pages. A search that begins at a later page of a folio moves to the folio's first
//! slot, while its page number stays the same. From there on it looks at the slots of other pages
//! than it counts, until it enters another node and computes the slot from the page number. So the
//! kernel finds the end of a stretch of cached pages a few pages too early or too late. Its
//! read-ahead depends on these numbers, so the simulation makes the same errors.

use std::ops::Range;

/// Bits of a page's number for each level of the tree.
const BITS: u32 = 6;
const SLOTS: u64 = 1 << BITS;

/// Levels of a tree for pages with numbers of 64 bits.
const LEVELS: u32 = 10;

/// The cached pages of a file.
pub trait Pages {
    /// The first page of the folio with this page, and the number of its pages.
    fn folio(&self, page: u64) -> Option<(u64, u64)>;
    /// Whether any of these pages is cached.
    fn has_any(&self, pages: Range<u64>) -> bool;
}

/// The first missing page from `from` on (`page_cache_next_miss`): `from + most` if `most` pages
/// are cached.
pub fn next_missing(pages: &impl Pages, from: u64, most: u64) -> u64 {
    let Some(mut place) = Place::find(pages, from) else {
        return from;
    };
    for _ in 1..most {
        if !place.move_to_next(pages) {
            return place.counted;
        }
    }
    from + most
}

/// The number of cached pages directly before `index`, as the kernel counts them
/// (`page_cache_prev_miss`): at most one less than `most`, or `index` if all pages from the
/// beginning are cached.
pub fn cached_before(pages: &impl Pages, index: u64, most: u64) -> u64 {
    let Some(mut place) = index.checked_sub(1).and_then(|last| Place::find(pages, last)) else {
        return 0;
    };
    for _ in 1..most {
        if !place.move_to_previous(pages) {
            break;
        }
    }
    index.wrapping_sub(place.counted).wrapping_sub(1)
}

/// Where a search is: a slot of a node, and the page that it counts there.
struct Place {
    level: u32,
    /// The first page of the node.
    node: u64,
    slot: u64,
    counted: u64,
}

enum Entry {
    Empty,
    Folio,
    Node,
}

impl Place {
    /// The slot of the folio with a page. `None`: the page is missing.
    fn find(pages: &impl Pages, page: u64) -> Option<Place> {
        let (first, count) = pages.folio(page)?;
        let level = u32::from(count >= SLOTS);
        let node = page & !(span(level + 1) - 1);
        Some(Place { level, node, slot: (first - node) / span(level), counted: page })
    }

    /// Moves on by one page (`xas_next`). Returns whether there is a page.
    fn move_to_next(&mut self, pages: &impl Pages) -> bool {
        self.counted += 1;
        let is_simple = self.level == 0 && self.slot + 1 < SLOTS;
        if is_simple || self.slot != self.counted_slot() {
            self.slot += 1;
        }
        while self.slot == SLOTS {
            if !self.ascend() {
                return false;
            }
            self.slot += 1;
        }
        self.descend(pages)
    }

    /// Moves back by one page (`xas_prev`). Returns whether there is a page.
    fn move_to_previous(&mut self, pages: &impl Pages) -> bool {
        self.counted = self.counted.wrapping_sub(1);
        let is_simple = self.level == 0 && self.slot > 0;
        if !is_simple && self.slot == self.counted_slot() {
            return self.descend(pages);
        }
        while self.slot == 0 {
            if !self.ascend() {
                return false;
            }
        }
        self.slot -= 1;
        self.descend(pages)
    }

    /// The slot of the counted page in a node of this level.
    fn counted_slot(&self) -> u64 {
        self.counted / span(self.level) % SLOTS
    }

    /// Moves to the slot of the node in the node above. Returns whether there is one.
    fn ascend(&mut self) -> bool {
        self.level += 1;
        if self.level == LEVELS {
            return false;
        }
        self.slot = self.node / span(self.level) % SLOTS;
        self.node &= !(span(self.level + 1) - 1);
        true
    }

    /// Enters the nodes below the slot. Returns whether there is a page in the end.
    fn descend(&mut self, pages: &impl Pages) -> bool {
        loop {
            match self.entry(pages) {
                Entry::Empty => return false,
                Entry::Folio => return true,
                Entry::Node => {
                    self.node += self.slot * span(self.level);
                    self.level -= 1;
                    self.slot = self.counted_slot();
                }
            }
        }
    }

    fn entry(&self, pages: &impl Pages) -> Entry {
        let first = self.node + self.slot * span(self.level);
        let is_folio = match self.level {
            0 => pages.folio(first).is_some(),
            1 => pages.folio(first).is_some_and(|(_, count)| count >= SLOTS),
            _ => false,
        };
        if is_folio {
            return Entry::Folio;
        }
        let has_node = self.level > 0 && pages.has_any(first..first + span(self.level));
        if has_node { Entry::Node } else { Entry::Empty }
    }
}

/// Pages below a slot of a node of this level.
fn span(level: u32) -> u64 {
    1 << (BITS * level)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Folios by their first page, with the number of their pages.
    struct Folios(BTreeMap<u64, u64>);

    impl Folios {
        fn new(all: impl IntoIterator<Item = (u64, u64)>) -> Folios {
            Folios(all.into_iter().collect())
        }
    }

    impl Pages for Folios {
        fn folio(&self, page: u64) -> Option<(u64, u64)> {
            let (first, count) = self.0.range(..=page).next_back()?;
            (page < first + count).then_some((*first, *count))
        }

        fn has_any(&self, pages: Range<u64>) -> bool {
            pages.into_iter().any(|page| self.folio(page).is_some())
        }
    }

    /// With folios of single pages the answers are exact.
    #[test]
    fn single_pages_are_counted_exactly() {
        let pages = Folios::new((0..300).chain(400..4200).map(|page| (page, 1)));
        assert_eq!(next_missing(&pages, 3, 2048), 300);
        assert_eq!(next_missing(&pages, 350, 2048), 350);
        assert_eq!(next_missing(&pages, 400, 2048), 2448);
        assert_eq!(next_missing(&pages, 4100, 2048), 4200);
        assert_eq!(cached_before(&pages, 300, 2048), 300);
        assert_eq!(cached_before(&pages, 410, 2048), 10);
        assert_eq!(cached_before(&pages, 400, 2048), 0);
        assert_eq!(cached_before(&pages, 4200, 2048), 2047);
        assert_eq!(cached_before(&pages, 0, 2048), 0);
    }

    /// Two pages of a folio of four: the search goes back from its first page, but counts from
    /// where it began.
    #[test]
    fn search_from_within_a_folio_counts_its_other_pages_twice() {
        let pages = Folios::new([(96, 1), (97, 1), (98, 1), (99, 1), (100, 4)]);
        // It begins at page 103, whose slot is that of 100, and misses page 95 after four more
        // pages.
        assert_eq!(cached_before(&pages, 104, 2048), 5);
        assert_eq!(cached_before(&pages, 101, 2048), 5);
        // From page 101 the end of the folio is counted at 104, one page too far.
        assert_eq!(next_missing(&pages, 101, 2048), 105);
        assert_eq!(next_missing(&pages, 100, 2048), 104);
    }
}
