//! A page of a file.

/// Length of a page, in bytes.
pub const PAGE_BYTES: u64 = 4096;

/// A page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Page {
    /// Number of the file.
    pub file: u32,
    /// Number of the page in the file, from 0.
    pub index: u64,
}

impl Page {
    /// The page of a file that has this byte.
    pub fn at(file: u32, offset: u64) -> Page {
        Page { file, index: offset / PAGE_BYTES }
    }

    /// A number that is spread evenly over 64 bits. Steele, Lea and Flood, "Fast splittable
    /// pseudorandom number generators", OOPSLA 2014.
    pub(crate) fn hash(self) -> u64 {
        let mixed = |x: u64| {
            let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        let file = mixed(u64::from(self.file).wrapping_add(0x9e37_79b9_7f4a_7c15));
        mixed(self.index ^ file)
    }
}
