//! A set of slots that counts its members above a slot in logarithmic time.

/// Words of 64 slots in one block.
const WORDS: usize = 4;
/// Slots of one block.
const BLOCK: usize = 64 * WORDS;

/// A set of slots: one bit for each, and a Fenwick tree over the counts of the blocks (Fenwick, "A
/// new data structure for cumulative frequency tables", Software: Practice and Experience 24 (1994)
/// 327-336).
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    bits: Vec<u64>,
    /// Node i, from 1, has the number of members in the blocks i - (i & -i) to i - 1.
    tree: Vec<u32>,
    members: u32,
}

impl Ranks {
    /// An empty set for this number of slots or a few more.
    pub fn new(slots: usize) -> Ranks {
        let blocks = slots.div_ceil(BLOCK);
        Ranks { bits: vec![0; blocks * WORDS], tree: vec![0; blocks + 1], members: 0 }
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.bits.len() * 64
    }

    /// Number of members.
    pub fn members(&self) -> u32 {
        self.members
    }

    /// Whether a slot is a member.
    pub fn has(&self, slot: usize) -> bool {
        self.bits[slot / 64] >> (slot % 64) & 1 == 1
    }

    /// Adds a slot that is no member.
    pub fn add(&mut self, slot: usize) {
        self.bits[slot / 64] |= 1 << (slot % 64);
        self.members += 1;
        let mut node = slot / BLOCK + 1;
        while node < self.tree.len() {
            self.tree[node] += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// Number of members above a slot.
    pub fn above(&self, slot: usize) -> u32 {
        let (block, word) = (slot / BLOCK, slot / 64);
        let up_to = u64::MAX >> (63 - slot % 64);
        let mut below = (self.bits[word] & up_to).count_ones();
        for whole in &self.bits[block * WORDS..word] {
            below += whole.count_ones();
        }
        let mut node = block;
        while node > 0 {
            below += self.tree[node];
            node &= node - 1;
        }
        self.members - below
    }
}
