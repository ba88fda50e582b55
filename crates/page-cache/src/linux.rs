//! The page cache of Linux: two lists, and read-ahead.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use crate::access::{Access, Kind, PAGE_BYTES, Page};
use crate::folios::Folio;
use crate::page_tree::{Pages, cached_before, next_missing};
use crate::read_ahead::{ReadAhead, Window};
use crate::two_lists::TwoLists;

/// The page cache of Linux within a limit of memory, for the files of one application.
#[derive(Clone, Debug)]
pub struct LinuxCache {
    lists: TwoLists,
    files: Vec<File>,
    counts: Counts,
}

/// A file, as far as its caching depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileShape {
    /// Its length, in bytes.
    pub length: u64,
    /// Largest read-ahead of its device, in bytes.
    pub read_ahead_bytes: u64,
}

#[derive(Clone, Debug)]
struct File {
    pages: u64,
    length: u64,
    read_ahead: ReadAhead,
}

/// Hits and misses so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pages that read calls asked for.
    pub read: Share,
    /// Pages of mapped files that were faulted.
    pub mapped: Share,
    /// Pages that were written. A hit was cached before.
    pub written: Share,
    /// Pages that were read from the device.
    pub device_pages: u64,
    /// Number of requests to the device by their number of pages.
    pub requests: BTreeMap<u64, u64>,
    /// Those of the requests that were made ahead, while the pages before them were cached.
    pub ahead: BTreeMap<u64, u64>,
}

/// Whether a call waits for a request to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// The first page that the call needs is missing.
    Awaited,
    /// The pages before are cached: the device works while they are used.
    Ahead,
}

/// Pages, and how many of them were cached when they were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Share {
    /// Number of pages.
    pub pages: u64,
    /// Number of cached ones.
    pub hits: u64,
}

impl Share {
    /// The share of cached pages. `None`: there are no pages.
    pub fn ratio(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.hits as f64 / self.pages as f64)
    }

    fn plus(self, other: Share) -> Share {
        Share { pages: self.pages + other.pages, hits: self.hits + other.hits }
    }
}

impl Counts {
    /// The requests that a call waited for, by their number of pages.
    pub fn awaited(&self) -> BTreeMap<u64, u64> {
        let mut awaited = self.requests.clone();
        for (pages, count) in &self.ahead {
            *awaited.entry(*pages).or_default() -= count;
        }
        awaited.retain(|_, count| *count > 0);
        awaited
    }

    /// All pages that were read, by calls or through mappings.
    pub fn all_read(&self) -> Share {
        self.read.plus(self.mapped)
    }
}

impl LinuxCache {
    /// An empty cache of this number of bytes.
    pub fn new(bytes: u64, files: &[FileShape]) -> LinuxCache {
        let files = files.iter().map(|file| File {
            pages: file.length.div_ceil(PAGE_BYTES),
            length: file.length,
            read_ahead: ReadAhead::new(file.read_ahead_bytes / PAGE_BYTES),
        });
        LinuxCache {
            lists: TwoLists::new(bytes / PAGE_BYTES),
            files: files.collect(),
            counts: Counts::default(),
        }
    }

    /// Hits and misses so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Forgets the counts. The cache stays as it is.
    pub fn restart(&mut self) {
        self.counts = Counts::default();
    }

    /// Number of cached pages.
    pub fn pages(&self) -> u64 {
        self.lists.pages()
    }

    /// Makes an access to a file that the cache was made for.
    pub fn access(&mut self, access: &Access) {
        let file = &mut self.files[access.file as usize];
        let mut end = access.offset.saturating_add(access.length);
        match access.kind {
            Kind::Write => {
                file.length = file.length.max(end);
                file.pages = file.length.div_ceil(PAGE_BYTES);
            }
            Kind::Read => end = end.min(file.length),
            Kind::Mapped => end = end.min(file.pages * PAGE_BYTES),
        }
        if access.offset >= end {
            return;
        }
        let pages = access.offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES);
        let cached = pages.clone().filter(|i| self.has(access.file, *i)).count();
        let share = Share { pages: pages.end - pages.start, hits: cached as u64 };
        let count = match access.kind {
            Kind::Read => &mut self.counts.read,
            Kind::Write => &mut self.counts.written,
            Kind::Mapped => &mut self.counts.mapped,
        };
        *count = count.plus(share);
        match access.kind {
            Kind::Read => self.read(access.file, access.offset..end),
            Kind::Write => self.write(access.file, access.offset..end),
            Kind::Mapped => pages.for_each(|index| self.fault(access.file, index)),
        }
    }

    pub(crate) fn has(&self, file: u32, index: u64) -> bool {
        self.lists.find(Page { file, index }).is_some()
    }

    /// A read call (`filemap_read`). The read-ahead learns of its end only when it is done.
    fn read(&mut self, file: u32, bytes: Range<u64>) {
        let end = bytes.end.div_ceil(PAGE_BYTES);
        let mut last_end = self.files[file as usize].read_ahead.read_up_to;
        let mut at = bytes.start;
        while at < bytes.end {
            let page = Page::at(file, at);
            let wanted = end - page.index;
            if !self.has(file, page.index) {
                let (pages, of_file) = self.pages_and_file(file);
                let before = |most| cached_before(&pages, page.index, most);
                let window = of_file.read_ahead.at_miss(page.index, wanted, before);
                self.fill(file, window, Request::Awaited);
                self.ensure(page);
            }
            let Some(id) = self.lists.find(page) else {
                break;
            };
            let Folio { first, pages, .. } = *self.lists.folio(id);
            let of_folio = first * PAGE_BYTES..(first + pages) * PAGE_BYTES;
            if self.lists.take_marker(id) {
                self.read_further(file, first, pages, end - first);
            }
            // A read that goes on in the folio of the last one is not counted as another use of it.
            let goes_on = of_folio.contains(&last_end.wrapping_sub(1));
            if !goes_on && self.lists.find(page) == Some(id) {
                self.lists.mark_accessed(id);
            }
            at = bytes.end.min(of_folio.end);
            last_end = at;
        }
        self.files[file as usize].read_ahead.read_up_to = last_end;
    }

    /// The cached pages of a file, and the file.
    fn pages_and_file(&mut self, file: u32) -> (PagesOfFile<'_>, &mut File) {
        let of_file = &mut self.files[file as usize];
        let pages = PagesOfFile { lists: &self.lists, file, pages: of_file.pages };
        (pages, of_file)
    }

    /// Reads the window behind a marker.
    fn read_further(&mut self, file: u32, first: u64, pages: u64, wanted: u64) {
        let (cached, of_file) = self.pages_and_file(file);
        let next_missing = |from, most| next_missing(&cached, from, most);
        let window = of_file.read_ahead.at_marker(first, pages, wanted, next_missing);
        if let Some(window) = window {
            self.fill(file, window, Request::Ahead);
        }
    }

    /// Pages that are written whole are not read before.
    fn write(&mut self, file: u32, bytes: Range<u64>) {
        for index in bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES) {
            if let Some(id) = self.lists.find(Page { file, index }) {
                self.lists.mark_dirty(id);
                continue;
            }
            let page = index * PAGE_BYTES..(index + 1) * PAGE_BYTES;
            let is_whole = bytes.start <= page.start && page.end <= bytes.end;
            let is_new = bytes.start <= page.start && self.files[file as usize].length <= bytes.end;
            if !is_whole && !is_new {
                self.request(1, Request::Awaited);
            }
            let id = self.lists.add(Folio::new(file, index, 1), true);
            self.lists.mark_dirty(id);
        }
    }

    /// A page fault of a mapped file (`filemap_fault`).
    fn fault(&mut self, file: u32, index: u64) {
        let page = Page { file, index };
        if let Some(id) = self.lists.find(page) {
            let Folio { first, pages, .. } = *self.lists.folio(id);
            let read_ahead = &mut self.files[file as usize].read_ahead;
            read_ahead.note_mapped_hit();
            let wanted = read_ahead.largest();
            if self.lists.take_marker(id) {
                self.read_further(file, first, pages, wanted);
            }
        } else {
            let window = self.files[file as usize].read_ahead.at_mapped_miss(index);
            self.fill(file, window, Request::Awaited);
            self.ensure(page);
        }
        if let Some(id) = self.lists.find(page) {
            self.lists.mark_mapped(id);
        }
    }

    /// Reads a page that read-ahead has not read, or that was evicted meanwhile.
    fn ensure(&mut self, page: Page) {
        if self.lists.find(page).is_none() {
            self.request(1, Request::Awaited);
            self.lists.add(Folio::new(page.file, page.index, 1), false);
        }
    }

    /// Reads the missing pages of a window, as far as the file goes. Pages that follow a cached one
    /// are read in folios of one page.
    fn fill(&mut self, file: u32, window: Window, request: Request) {
        let end = (window.start + window.pages).min(self.files[file as usize].pages);
        let mut marker = window.start + window.pages - window.behind_marker;
        let (mut index, mut order, mut run) = (window.start, window.order, 0);
        let mut takes_large_folios = true;
        while index < end {
            let mut pages = fitting(index, order, end);
            if takes_large_folios && (index..index + pages).any(|i| self.has(file, i)) {
                // The kernel reads the rest with `do_page_cache_ra`, which takes single pages and
                // counts the marker from the end of the file.
                (pages, order, takes_large_folios) = (1, 0, false);
                marker = if window.behind_marker <= end - index {
                    end - window.behind_marker
                } else {
                    NO_MARKER
                };
                self.request(std::mem::take(&mut run), request);
            }
            if self.has(file, index) {
                index += 1;
                self.request(std::mem::take(&mut run), request);
                continue;
            }
            let mut folio = Folio::new(file, index, pages);
            folio.has_marker = window.behind_marker > 0 && index == marker / pages * pages;
            self.lists.add(folio, false);
            index += pages;
            run += pages;
        }
        self.request(run, request);
    }

    /// Counts a request of this number of pages to the device.
    fn request(&mut self, pages: u64, request: Request) {
        if pages == 0 {
            return;
        }
        self.counts.device_pages += pages;
        *self.counts.requests.entry(pages).or_default() += 1;
        if request == Request::Ahead {
            *self.counts.ahead.entry(pages).or_default() += 1;
        }
    }
}

/// The place of a marker that is set nowhere.
const NO_MARKER: u64 = u64::MAX;

/// The cached pages of one file.
struct PagesOfFile<'a> {
    lists: &'a TwoLists,
    file: u32,
    pages: u64,
}

impl Pages for PagesOfFile<'_> {
    fn folio(&self, index: u64) -> Option<(u64, u64)> {
        let file = self.file;
        let folio = self.lists.folio(self.lists.find(Page { file, index })?);
        Some((folio.first, folio.pages))
    }

    fn has_any(&self, pages: Range<u64>) -> bool {
        let end = pages.end.min(self.pages);
        (pages.start..end).any(|index| self.folio(index).is_some())
    }
}

/// The pages of a folio that begins at `index`: aligned, at most two to this power, and before
/// `end`.
fn fitting(index: u64, order: u32, end: u64) -> u64 {
    let mut order = order.min(index.trailing_zeros());
    while index + (1 << order) > end {
        order -= 1;
    }
    1 << order
}
