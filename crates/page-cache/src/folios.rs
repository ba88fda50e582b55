//! Folios, the pieces in which Linux caches files, and the lists in which they are.

/// Number of a folio.
pub type Id = u32;

/// No folio.
const NONE: Id = Id::MAX;

/// A list of folios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListName {
    /// New folios, the first to be evicted.
    Inactive,
    /// Folios that were used more than once.
    Active,
}

/// Neighbouring pages of a file that are cached together.
#[derive(Clone, Debug)]
pub struct Folio {
    /// Number of the file.
    pub file: u32,
    /// Its first page.
    pub first: u64,
    /// Number of its pages.
    pub pages: u64,
    pub list: ListName,
    /// Whether it was read since it was added to its list.
    pub is_referenced: bool,
    /// Whether it was once on the active list, before its last eviction, too.
    pub is_workingset: bool,
    /// Whether a mapped page of it was used since the last look at its page table entries.
    pub is_mapped_use: bool,
    /// Whether its use starts the next read-ahead.
    pub has_marker: bool,
    /// Whether it was changed and not yet written to the device.
    pub is_dirty: bool,
    /// Whether reclaim found it dirty: it is the next to be evicted when it is clean.
    pub leaves_when_clean: bool,
    newer: Id,
    older: Id,
}

impl Folio {
    /// A new folio, which is in no list yet.
    pub fn new(file: u32, first: u64, pages: u64) -> Folio {
        Folio {
            file,
            first,
            pages,
            list: ListName::Inactive,
            is_referenced: false,
            is_workingset: false,
            is_mapped_use: false,
            has_marker: false,
            is_dirty: false,
            leaves_when_clean: false,
            newer: NONE,
            older: NONE,
        }
    }
}

/// The ends and the length of a list.
#[derive(Clone, Copy, Debug)]
struct List {
    newest: Id,
    oldest: Id,
    pages: u64,
}

#[derive(Clone, Debug)]
pub struct Folios {
    all: Vec<Folio>,
    free: Vec<Id>,
    lists: [List; 2],
}

impl Default for Folios {
    fn default() -> Folios {
        let empty = List { newest: NONE, oldest: NONE, pages: 0 };
        Folios { all: Vec::new(), free: Vec::new(), lists: [empty; 2] }
    }
}

impl Folios {
    pub fn get(&self, id: Id) -> &Folio {
        &self.all[id as usize]
    }

    /// A folio whose flags may be changed.
    pub fn get_mut(&mut self, id: Id) -> &mut Folio {
        &mut self.all[id as usize]
    }

    /// Number of pages in a list.
    pub fn pages(&self, list: ListName) -> u64 {
        self.lists[list as usize].pages
    }

    pub fn oldest(&self, list: ListName) -> Option<Id> {
        let oldest = self.lists[list as usize].oldest;
        (oldest != NONE).then_some(oldest)
    }

    /// Adds a folio as the newest one of its list.
    pub fn add(&mut self, folio: Folio) -> Id {
        let list = folio.list;
        let id = match self.free.pop() {
            Some(id) => {
                self.all[id as usize] = folio;
                id
            }
            None => {
                self.all.push(folio);
                self.all.len() as Id - 1
            }
        };
        self.link(id, list);
        id
    }

    /// Makes a folio the newest one of a list.
    pub fn move_to(&mut self, id: Id, list: ListName) {
        self.unlink(id);
        self.link(id, list);
    }

    /// Makes a folio the oldest one of a list.
    pub fn move_to_end(&mut self, id: Id, name: ListName) {
        self.unlink(id);
        let list = &mut self.lists[name as usize];
        let folio = &mut self.all[id as usize];
        (folio.list, folio.newer, folio.older) = (name, list.oldest, NONE);
        list.pages += folio.pages;
        match std::mem::replace(&mut list.oldest, id) {
            NONE => list.newest = id,
            after => self.all[after as usize].older = id,
        }
    }

    pub fn remove(&mut self, id: Id) {
        self.unlink(id);
        self.free.push(id);
    }

    fn link(&mut self, id: Id, name: ListName) {
        let list = &mut self.lists[name as usize];
        let folio = &mut self.all[id as usize];
        (folio.list, folio.newer, folio.older) = (name, NONE, list.newest);
        list.pages += folio.pages;
        let before = std::mem::replace(&mut list.newest, id);
        match before {
            NONE => list.oldest = id,
            before => self.all[before as usize].newer = id,
        }
    }

    fn unlink(&mut self, id: Id) {
        let Folio { newer, older, list, pages, .. } = self.all[id as usize];
        let list = &mut self.lists[list as usize];
        list.pages -= pages;
        match newer {
            NONE => list.newest = older,
            newer => self.all[newer as usize].older = older,
        }
        let list = &mut self.lists[self.all[id as usize].list as usize];
        match older {
            NONE => list.oldest = newer,
            older => self.all[older as usize].newer = newer,
        }
    }
}
