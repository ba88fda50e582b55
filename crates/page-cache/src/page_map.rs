//! A map from pages to numbers. Neighbouring pages lie together, since most references go to them.

use rustc_hash::FxHashMap;

use crate::access::Page;

/// Pages of one chunk.
const CHUNK: u64 = 64;

/// The place of a page in the map. It stays the same until the page is removed.
pub type Place = u32;

/// A number above 0 for each page.
#[derive(Clone, Debug, Default)]
pub struct PageMap {
    chunks: FxHashMap<(u32, u64), u32>,
    /// The numbers of all chunks. 0: the page has none.
    values: Vec<u32>,
    /// For each chunk, its key and the number of its pages.
    heads: Vec<((u32, u64), u32)>,
    /// Chunks without a page.
    free: Vec<u32>,
    /// The chunk that was used last.
    last: Option<((u32, u64), u32)>,
}

impl PageMap {
    /// The number of a page, or 0.
    pub fn get(&self, page: Page) -> u32 {
        self.find(page).map_or(0, |place| self.values[place as usize])
    }

    /// The place of a page whose chunk has a page.
    pub fn find(&self, page: Page) -> Option<Place> {
        let key = (page.file, page.index / CHUNK);
        let chunk = match self.last {
            Some((last, chunk)) if last == key => chunk,
            _ => *self.chunks.get(&key)?,
        };
        Some(place(chunk, page))
    }

    /// The place of a page, with room for its number.
    pub fn place(&mut self, page: Page) -> Place {
        let key = (page.file, page.index / CHUNK);
        if let Some((last, chunk)) = self.last
            && last == key
        {
            return place(chunk, page);
        }
        let chunk = match self.chunks.get(&key) {
            Some(chunk) => *chunk,
            None => self.add(key),
        };
        self.last = Some((key, chunk));
        place(chunk, page)
    }

    /// The number at a place, or 0.
    pub fn at(&self, place: Place) -> u32 {
        self.values[place as usize]
    }

    /// Sets the number at a place, which is not 0.
    pub fn set(&mut self, place: Place, value: u32) {
        let known = &mut self.values[place as usize];
        if *known == 0 {
            self.heads[place as usize / CHUNK as usize].1 += 1;
        }
        *known = value;
    }

    /// Removes the number at a place that has one.
    pub fn remove(&mut self, place: Place) {
        self.values[place as usize] = 0;
        let chunk = place / CHUNK as u32;
        let (key, count) = &mut self.heads[chunk as usize];
        *count -= 1;
        if *count == 0 {
            self.chunks.remove(key);
            self.free.push(chunk);
            self.last = None;
        }
    }

    fn add(&mut self, key: (u32, u64)) -> u32 {
        let chunk = self.free.pop().unwrap_or_else(|| {
            self.values.resize(self.values.len() + CHUNK as usize, 0);
            self.heads.push((key, 0));
            self.heads.len() as u32 - 1
        });
        self.heads[chunk as usize] = (key, 0);
        self.chunks.insert(key, chunk);
        chunk
    }
}

fn place(chunk: u32, page: Page) -> Place {
    chunk * CHUNK as u32 + (page.index % CHUNK) as u32
}
