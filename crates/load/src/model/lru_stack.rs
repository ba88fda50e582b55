//! An LRU stack of weighted objects: distances, and random objects within a range of distances, in
//! logarithmic time.

use fastrand::Rng;

/// The slot of an object outside the stack, and the object of a vacant slot.
const NONE: u32 = u32::MAX;

/// Slots for each object of a full stack. More slots need fewer renumberings and more memory.
const SLOTS_PER_OBJECT: usize = 2;

/// The objects of some successive slots.
#[derive(Clone, Copy, Default)]
struct Node {
    objects: u32,
    weight: u64,
}

/// The objects in the order of their last requests. The most recently requested object has the
/// distance 1.
///
/// A request puts its object into the next slot, and the object's earlier slot becomes vacant. A
/// Fenwick tree counts objects and weights by slot (Fenwick, "A new data structure for cumulative
/// frequency tables", Software: Practice and Experience 24 (1994) 327-336).
pub(crate) struct LruStack {
    /// For each object, its slot.
    slots: Vec<u32>,
    /// For each object, its weight in the stack.
    weights: Vec<u64>,
    /// For each slot up to the last used one, its object.
    objects: Vec<u32>,
    /// Node i, from 1, has the sums of the slots i - (i & -i) to i - 1. The number of slots is a
    /// power of 2.
    tree: Vec<Node>,
    all: Node,
}

impl LruStack {
    /// An empty stack for objects with indices below `objects`.
    pub(crate) fn new(objects: usize) -> LruStack {
        let slots = (SLOTS_PER_OBJECT * objects).next_power_of_two();
        LruStack {
            slots: vec![NONE; objects],
            weights: vec![0; objects],
            objects: Vec::with_capacity(slots),
            tree: vec![Node::default(); slots + 1],
            all: Node::default(),
        }
    }

    /// Number of objects in the stack.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.all.objects)
    }

    /// Sum of the weights.
    pub(crate) fn weight(&self) -> u64 {
        self.all.weight
    }

    /// Puts an object on top with this weight.
    pub(crate) fn request(&mut self, object: usize, weight: u64) {
        let slot = self.slots[object];
        if slot != NONE {
            self.objects[slot as usize] = NONE;
            self.remove(slot as usize, self.weights[object]);
        }
        if self.objects.len() + 1 == self.tree.len() {
            self.renumber();
        }
        self.slots[object] = self.objects.len() as u32;
        self.weights[object] = weight;
        self.add(self.objects.len(), weight);
        self.objects.push(object as u32);
    }

    /// The distance of an object: the number of different objects since its last request, itself
    /// included. `None`: it was not requested.
    pub(crate) fn distance(&self, object: usize) -> Option<u64> {
        let slot = self.slots[object];
        let mut node = (slot != NONE).then_some(slot as usize)?;
        let mut below = 0;
        while node > 0 {
            below += u64::from(self.tree[node].objects);
            node &= node - 1;
        }
        Some(self.len() - below)
    }

    /// A random object with a distance from `least` to `most`, by its weight. `None`: no such
    /// object has a weight above 0.
    pub(crate) fn draw(&self, least: u64, most: u64, random: &mut Rng) -> Option<usize> {
        let below = self.weight_of_oldest(self.len().saturating_sub(most));
        let up_to = self.weight_of_oldest((self.len() + 1).saturating_sub(least));
        (below < up_to).then(|| self.at_weight(random.u64(below..up_to)))
    }

    /// Sum of the weights of the `count` objects with the oldest last requests.
    fn weight_of_oldest(&self, count: u64) -> u64 {
        let mut left = count as u32;
        let mut weight = 0;
        self.descend(|node| {
            let is_within = node.objects <= left;
            if is_within {
                left -= node.objects;
                weight += node.weight;
            }
            is_within
        });
        weight
    }

    /// The object with which the sum of the weights, from the oldest last request on, exceeds
    /// `weight`.
    fn at_weight(&self, weight: u64) -> usize {
        let mut left = weight;
        let slot = self.descend(|node| {
            let is_within = node.weight <= left;
            if is_within {
                left -= node.weight;
            }
            is_within
        });
        self.objects[slot] as usize
    }

    /// Extends a range of slots from slot 0 on by each power of 2 whose node `takes` accepts,
    /// largest first. Returns the length of the range.
    fn descend(&self, mut takes: impl FnMut(&Node) -> bool) -> usize {
        let slots = self.tree.len() - 1;
        let mut length = 0;
        let mut step = slots;
        while step > 0 {
            let next = length + step;
            if next <= slots && takes(&self.tree[next]) {
                length = next;
            }
            step /= 2;
        }
        length
    }

    fn add(&mut self, slot: usize, weight: u64) {
        self.change(slot, |sum| {
            sum.objects += 1;
            sum.weight += weight;
        });
    }

    fn remove(&mut self, slot: usize, weight: u64) {
        self.change(slot, |sum| {
            sum.objects -= 1;
            sum.weight -= weight;
        });
    }

    /// Changes each sum that has this slot.
    fn change(&mut self, slot: usize, by: impl Fn(&mut Node)) {
        by(&mut self.all);
        let mut node = slot + 1;
        while node < self.tree.len() {
            by(&mut self.tree[node]);
            node += node & node.wrapping_neg();
        }
    }

    /// Moves the objects to the first slots, in their order.
    fn renumber(&mut self) {
        self.tree.fill(Node::default());
        self.all = Node::default();
        self.objects.retain(|object| *object != NONE);
        for slot in 0..self.objects.len() {
            let object = self.objects[slot] as usize;
            self.slots[object] = slot as u32;
            self.add(slot, self.weights[object]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list with the most recent object first, as the definition has it.
    fn request(list: &mut Vec<usize>, object: usize) -> Option<u64> {
        let found = list.iter().position(|o| *o == object);
        found.map(|at| list.remove(at));
        list.insert(0, object);
        found.map(|at| at as u64 + 1)
    }

    #[test]
    fn distances_are_those_of_a_list() {
        let mut random = Rng::with_seed(3);
        for objects in [1, 2, 5, 40] {
            let (mut stack, mut list) = (LruStack::new(objects), Vec::new());
            for _ in 0..2000 {
                let object = random.usize(0..objects);
                assert_eq!(stack.distance(object), request(&mut list, object));
                stack.request(object, random.u64(0..5));
                assert_eq!(stack.len(), list.len() as u64);
            }
        }
    }

    #[test]
    fn draws_are_within_the_distances_and_follow_the_weights() {
        let mut random = Rng::with_seed(4);
        let mut stack = LruStack::new(8);
        // The distance of object i is 8 - i. Object 5 has no weight.
        for object in 0..8 {
            stack.request(object, if object == 5 { 0 } else { object as u64 });
        }
        assert_eq!((stack.weight(), stack.len()), (23, 8));
        let mut counts = [0.0; 8];
        for _ in 0..13_000 {
            counts[stack.draw(2, 4, &mut random).unwrap()] += 1.0;
        }
        // Objects 6, 5 and 4, with the weights 6, 0 and 4.
        assert_eq!(counts[6] + counts[4], 13_000.0);
        assert!((counts[6] / 13_000.0 - 0.6_f64).abs() < 0.02, "{counts:?}");
        assert_eq!(stack.draw(3, 3, &mut random), None);
        assert_eq!(stack.draw(9, 20, &mut random), None);
        assert_eq!(stack.draw(7, 20, &mut random), Some(1));
    }
}
