//! The windows of Linux' read-ahead, as in `mm/readahead.c` of Linux 6.18.

use crate::access::PAGE_BYTES;

/// The read-ahead of an open file.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    /// Largest window, in pages.
    largest: u64,
    /// The current window: its first page, its pages, and how many of them lie behind the marker.
    window: Window,
    /// The power of two of the pages of a folio.
    order: u32,
    /// The byte behind the last read call, or `u64::MAX`.
    pub read_up_to: u64,
    /// Number of missing mapped pages less the number of cached ones.
    mapped_misses: u32,
}

/// Pages to read, and the marker in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First page.
    pub start: u64,
    /// Number of pages.
    pub pages: u64,
    /// Number of pages from the marker on. 0: no marker.
    pub behind_marker: u64,
    /// The power of two of the pages of a folio.
    pub order: u32,
}

/// Misses of mapped pages after which they are read without their neighbours (`MMAP_LOTSAMISS`).
const MANY_MISSES: u32 = 100;

impl ReadAhead {
    /// The read-ahead of a file that was just opened, with a largest window of this number of
    /// pages.
    pub fn new(largest: u64) -> ReadAhead {
        ReadAhead {
            largest,
            window: Window::default(),
            order: 0,
            read_up_to: u64::MAX,
            mapped_misses: 0,
        }
    }

    /// The window for a read of `wanted` pages whose first one is missing. `cached_before` is the
    /// number of cached pages directly before it, at most as large as the largest window.
    pub fn at_miss(
        &mut self,
        index: u64,
        wanted: u64,
        cached_before: impl Fn(u64) -> u64,
    ) -> Window {
        let largest = self.largest;
        let previous = self.read_up_to / PAGE_BYTES;
        let alone = Window { start: index, pages: wanted, ..Window::default() };
        if largest == 0 {
            return alone;
        }
        let (pages, behind_marker) =
            if index == 0 || wanted > largest || index.wrapping_sub(previous) <= 1 {
                let pages = first_window(wanted, largest);
                let behind = if pages > wanted { pages - wanted } else { pages / 2 };
                (pages, behind)
            } else {
                let cached = cached_before(largest);
                if cached <= wanted {
                    return alone;
                }
                // All pages from the beginning of the file.
                let cached = if cached == index { 2 * cached } else { cached };
                ((cached + wanted).min(largest), 1)
            };
        self.order = 0;
        self.set(index, pages, behind_marker)
    }

    /// The window behind a folio with a marker. `next_missing` finds the first missing page from a
    /// page on, within a number of pages.
    pub fn at_marker(
        &mut self,
        first: u64,
        folio_pages: u64,
        wanted: u64,
        next_missing: impl Fn(u64, u64) -> u64,
    ) -> Option<Window> {
        let (largest, window) = (self.largest, self.window);
        let expected = window.start + window.pages - window.behind_marker;
        let (start, pages) = if first == expected / folio_pages * folio_pages {
            let pages = window.pages.max(next_window(window.pages, largest));
            (window.start + window.pages, pages)
        } else {
            let start = next_missing(first + 1, largest);
            if start - first > largest {
                return None;
            }
            (start, next_window(start - first + wanted, largest))
        };
        self.order += 2;
        let align = 1 << self.order.min(largest.trailing_zeros());
        let end = (start + pages) / align * align;
        let pages = if end > start { end - start } else { pages };
        Some(self.set(start, pages, pages))
    }

    /// The window around a missing mapped page.
    pub fn at_mapped_miss(&mut self, index: u64) -> Window {
        self.mapped_misses = (self.mapped_misses + 1).min(10 * MANY_MISSES);
        if self.mapped_misses > MANY_MISSES || self.largest == 0 {
            return Window { start: index, pages: 1, ..Window::default() };
        }
        self.order = 0;
        let start = index.saturating_sub(self.largest / 2);
        self.set(start, self.largest, self.largest / 4)
    }

    /// The largest window, in pages.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// Notes that a mapped page was cached.
    pub fn note_mapped_hit(&mut self) {
        self.mapped_misses = self.mapped_misses.saturating_sub(1);
    }

    /// Limits the folios of a window to the largest power of two of their pages.
    fn set(&mut self, start: u64, pages: u64, behind_marker: u64) -> Window {
        self.order = self.order.min(LARGEST_ORDER).min(pages.max(1).ilog2());
        self.window = Window { start, pages, behind_marker, order: self.order };
        self.window
    }
}

/// The power of two of the pages of the largest folio: 2 MiB.
const LARGEST_ORDER: u32 = 9;

/// The first window of a sequential read (`get_init_ra_size`).
fn first_window(wanted: u64, largest: u64) -> u64 {
    let pages = wanted.next_power_of_two();
    if pages <= largest / 32 {
        4 * pages
    } else if pages <= largest / 4 {
        2 * pages
    } else {
        largest
    }
}

/// The window after one of this size (`get_next_ra_size`).
fn next_window(pages: u64, largest: u64) -> u64 {
    if pages < largest / 16 {
        4 * pages
    } else if pages <= largest / 2 {
        2 * pages
    } else {
        largest
    }
}
