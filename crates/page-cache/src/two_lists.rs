//! The page cache of Linux as two lists, an active and an inactive one, within a limit of memory.
//!
//! It follows `mm/vmscan.c`, `mm/workingset.c` and `mm/swap.c` of Linux 6.18 for a control group of
//! version 1 whose memory holds files. Reclaim does not evict changed pages. When it finds nothing
//! else, the device writes all of them, and reclaim waits for it. Changed pages are written at no
//! other time: the accesses have no times.

use crate::access::Page;
use crate::folios::{Folio, Folios, Id, ListName};
use crate::page_map::PageMap;

/// Pages that reclaim frees and scans at once (`SWAP_CLUSTER_MAX`).
const CLUSTER: u64 = 32;

/// The first scan looks at a list's length divided by two to this power (`DEF_PRIORITY`).
const FIRST_PRIORITY: u32 = 12;

/// Pages of 1 GiB, from which on the inactive list may be shorter than the active one.
const GIB_PAGES: u64 = 1 << 18;

/// The entry of an evicted page: the age at its eviction, and whether it belonged to the working
/// set. Other entries are numbers of folios plus 1.
const SHADOW: u32 = 1 << 31;
const SHADOW_OF_WORKINGSET: u32 = 1 << 30;
const AGE: u32 = SHADOW_OF_WORKINGSET - 1;

/// The cached folios, and the ages of evicted pages.
#[derive(Clone, Debug)]
pub struct TwoLists {
    limit: u64,
    folios: Folios,
    entries: PageMap,
    /// Number of pages that were evicted or activated (`nonresident_age`).
    age: u64,
    /// Number of pages that were activated when they were read again.
    refaults: u64,
    /// `refaults` at the end of the last reclaim.
    known_refaults: u64,
    /// The changed folios.
    dirty: Vec<Id>,
}

impl TwoLists {
    /// An empty cache of this number of pages.
    pub fn new(limit: u64) -> TwoLists {
        TwoLists {
            limit,
            folios: Folios::default(),
            entries: PageMap::default(),
            age: 0,
            refaults: 0,
            known_refaults: 0,
            dirty: Vec::new(),
        }
    }

    /// The folio of a page.
    pub fn find(&self, page: Page) -> Option<Id> {
        let entry = self.entries.get(page);
        (entry != 0 && entry & SHADOW == 0).then(|| entry - 1)
    }

    pub fn folio(&self, id: Id) -> &Folio {
        self.folios.get(id)
    }

    /// Number of cached pages.
    pub fn pages(&self) -> u64 {
        self.folios.pages(ListName::Inactive) + self.folios.pages(ListName::Active)
    }

    /// Adds a folio of pages that are not cached, and returns it. A folio that is written as a
    /// whole does not count as one that was evicted and comes back.
    pub fn add(&mut self, mut folio: Folio, is_written: bool) -> Id {
        while self.pages() + folio.pages > self.limit {
            if !self.reclaim(folio.pages.max(CLUSTER)) {
                break;
            }
        }
        let page = |index| Page { file: folio.file, index };
        let range = folio.first..folio.first + folio.pages;
        let places: Vec<u32> = range.map(|i| self.entries.place(page(i))).collect();
        let mut shadows = places.iter().map(|place| self.entries.at(*place));
        let shadow = shadows.rfind(|entry| entry & SHADOW != 0);
        if let (Some(shadow), false) = (shadow, is_written) {
            self.refault(&mut folio, shadow);
        }
        let id = self.folios.add(folio);
        for place in places {
            self.entries.set(place, id + 1);
        }
        id
    }

    /// A page that comes back after fewer evictions and activations than there are active pages
    /// would have stayed if the cache were that much larger: it is active at once.
    fn refault(&mut self, folio: &mut Folio, shadow: u32) {
        let distance = (self.age as u32).wrapping_sub(shadow) & AGE;
        if u64::from(distance) > self.folios.pages(ListName::Active) {
            return;
        }
        folio.list = ListName::Active;
        self.age += folio.pages;
        self.refaults += folio.pages;
        folio.is_workingset = shadow & SHADOW_OF_WORKINGSET != 0;
    }

    /// Notes a read of a folio. The second one makes it active.
    pub fn mark_accessed(&mut self, id: Id) {
        let folio = self.folios.get_mut(id);
        if !folio.is_referenced {
            folio.is_referenced = true;
        } else if folio.list == ListName::Inactive {
            folio.is_referenced = false;
            self.activate(id);
        }
    }

    /// Notes a write to a folio. A write is no use: since version 4.7, Linux counts only reads.
    pub fn mark_dirty(&mut self, id: Id) {
        if !std::mem::replace(&mut self.folios.get_mut(id).is_dirty, true) {
            self.dirty.push(id);
        }
    }

    /// Writes all changed folios to the device. Those that reclaim has found are the next to be
    /// evicted (`folio_rotate_reclaimable`).
    fn write_back(&mut self) {
        for id in std::mem::take(&mut self.dirty) {
            let folio = self.folios.get_mut(id);
            folio.is_dirty = false;
            if std::mem::take(&mut folio.leaves_when_clean) {
                self.folios.move_to_end(id, ListName::Inactive);
            }
        }
    }

    /// Notes a use of a mapped page.
    pub fn mark_mapped(&mut self, id: Id) {
        self.folios.get_mut(id).is_mapped_use = true;
    }

    /// Takes the marker of the next read-ahead away. Returns whether there was one.
    pub fn take_marker(&mut self, id: Id) -> bool {
        std::mem::take(&mut self.folios.get_mut(id).has_marker)
    }

    fn activate(&mut self, id: Id) {
        self.age += self.folios.get(id).pages;
        self.folios.move_to(id, ListName::Active);
    }

    /// Evicts at least this number of pages, unless there are fewer. Returns whether it evicted
    /// any.
    fn reclaim(&mut self, wanted: u64) -> bool {
        let mut evicted = 0;
        for force in [false, true] {
            for priority in (0..=FIRST_PRIORITY).rev() {
                evicted += self.scan(priority, wanted - evicted, force);
                if evicted >= wanted {
                    break;
                }
            }
            if evicted > 0 {
                break;
            }
        }
        self.known_refaults = self.refaults;
        evicted > 0
    }

    /// Looks at a part of both lists (`shrink_lruvec`). Returns the number of evicted pages.
    fn scan(&mut self, priority: u32, wanted: u64, force: bool) -> u64 {
        let deactivates = force || self.refaults != self.known_refaults || self.is_inactive_short();
        let mut inactive = self.folios.pages(ListName::Inactive) >> priority;
        let mut active = self.folios.pages(ListName::Active) >> priority;
        let mut evicted = 0;
        while (inactive > 0 || active > 0) && evicted < wanted {
            let part = inactive.min(CLUSTER);
            inactive -= part;
            evicted += self.scan_inactive(part);
            let part = active.min(CLUSTER);
            active -= part;
            if deactivates {
                self.scan_active(part);
            }
        }
        evicted
    }

    /// Whether the inactive list is too short beside the active one (`inactive_is_low`).
    fn is_inactive_short(&self) -> bool {
        let inactive = self.folios.pages(ListName::Inactive);
        let gib = self.pages() / GIB_PAGES;
        let ratio = if gib > 0 { (10 * gib).isqrt() } else { 1 };
        inactive * ratio < self.folios.pages(ListName::Active)
    }

    /// Evicts the oldest inactive folios but those with mapped uses and changed ones, which become
    /// active. Returns the number of evicted pages.
    fn scan_inactive(&mut self, pages: u64) -> u64 {
        let (mut scanned, mut evicted, mut dirty) = (0, 0, 0);
        while scanned < pages {
            let Some(id) = self.folios.oldest(ListName::Inactive) else {
                break;
            };
            let folio = self.folios.get_mut(id);
            scanned += folio.pages;
            if folio.is_dirty {
                folio.leaves_when_clean = true;
                dirty += folio.pages;
                self.activate(id);
            } else if !folio.is_mapped_use {
                evicted += folio.pages;
                self.evict(id);
            } else if folio.is_referenced {
                folio.is_mapped_use = false;
                self.activate(id);
            } else {
                (folio.is_mapped_use, folio.is_referenced) = (false, true);
                self.folios.move_to(id, ListName::Inactive);
            }
        }
        if dirty > 0 && dirty == scanned {
            self.write_back();
        }
        evicted
    }

    /// Makes the oldest active folios inactive.
    fn scan_active(&mut self, pages: u64) {
        let mut scanned = 0;
        while scanned < pages {
            let Some(id) = self.folios.oldest(ListName::Active) else {
                break;
            };
            let folio = self.folios.get_mut(id);
            (folio.is_mapped_use, folio.is_workingset) = (false, true);
            scanned += folio.pages;
            self.folios.move_to(id, ListName::Inactive);
        }
    }

    fn evict(&mut self, id: Id) {
        let Folio { file, first, pages, is_workingset, .. } = *self.folios.get(id);
        let of_workingset = if is_workingset { SHADOW_OF_WORKINGSET } else { 0 };
        let shadow = SHADOW | of_workingset | (self.age as u32 & AGE);
        for index in first..first + pages {
            let place = self.entries.place(Page { file, index });
            self.entries.set(place, shadow);
        }
        self.age += pages;
        self.folios.remove(id);
    }
}
