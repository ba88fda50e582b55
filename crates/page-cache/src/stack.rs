//! Stack distances (Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for storage
//! hierarchies", IBM Systems Journal 9 (1970) 78-117).

use crate::access::Page;
use crate::page_map::{PageMap, Place};
use crate::ranks::Ranks;

/// Slots of a new stack.
const FIRST_SLOTS: usize = 1 << 16;

/// Slots for each page after the slots were renumbered.
const SLOTS_PER_PAGE: usize = 3;

/// The pages in the order of their last references. Each reference takes logarithmic time.
///
/// A page has the slot of its last reference; its earlier slots are vacant. Its distance is the
/// number of slots from there on that are not vacant.
#[derive(Clone, Debug)]
pub struct Stack {
    /// For each page, its slot plus 1.
    slots: PageMap,
    /// For each slot, the place of its page in `slots`.
    places: Vec<Place>,
    vacant: Ranks,
}

impl Default for Stack {
    fn default() -> Stack {
        Stack {
            slots: PageMap::default(),
            places: Vec::with_capacity(FIRST_SLOTS),
            vacant: Ranks::new(FIRST_SLOTS),
        }
    }
}

impl Stack {
    /// Number of pages.
    pub fn len(&self) -> usize {
        self.places.len() - self.vacant.members() as usize
    }

    /// Whether there is no page.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refers to a page. Returns its distance: the number of different pages since its last
    /// reference, itself included. An LRU cache of this many pages or more has it. `None`: this is
    /// its first reference.
    pub fn refer(&mut self, page: Page) -> Option<u32> {
        if self.places.len() == self.vacant.slots() {
            self.renumber();
        }
        let place = self.slots.place(page);
        let distance = self.vacate(place);
        let slot = self.places.len();
        self.places.push(place);
        self.slots.set(place, slot as u32 + 1);
        distance
    }

    /// Whether a page was referred to.
    pub fn has(&self, page: Page) -> bool {
        self.slots.get(page) != 0
    }

    pub fn remove(&mut self, page: Page) {
        if let Some(place) = self.slots.find(page)
            && self.vacate(place).is_some()
        {
            self.slots.remove(place);
        }
    }

    /// Empties the slot of a page. Returns the distance of the page.
    fn vacate(&mut self, place: Place) -> Option<u32> {
        let slot = self.slots.at(place).checked_sub(1)? as usize;
        let distance = (self.places.len() - slot) as u32 - self.vacant.above(slot);
        self.vacant.add(slot);
        Some(distance)
    }

    /// Moves the pages to the first slots, in their order.
    fn renumber(&mut self) {
        let each = self.places.iter().enumerate();
        let occupied = each.filter(|(slot, _)| !self.vacant.has(*slot));
        let places: Vec<Place> = occupied.map(|(_, place)| *place).collect();
        for (slot, place) in places.iter().enumerate() {
            self.slots.set(*place, slot as u32 + 1);
        }
        self.vacant = Ranks::new((SLOTS_PER_PAGE * places.len()).max(FIRST_SLOTS));
        self.places = places;
    }
}
