//! Known answers of the simulated page cache, and answers of a kernel.

use fastrand::Rng;

use crate::{Access, Counts, FileAccesses, FileShape, Kind, LinuxCache, PAGE_BYTES};

const MIB: u64 = 1 << 20;

fn access(kind: Kind, offset: u64, length: u64) -> Access {
    Access { file: 0, kind, offset, length }
}

fn read(offset: u64, length: u64) -> Access {
    access(Kind::Read, offset, length)
}

/// A cache for one file.
fn cache(bytes: u64, length: u64, read_ahead_bytes: u64) -> LinuxCache {
    let file = FileShape { length, read_ahead_bytes };
    LinuxCache::new(bytes, &[file])
}

fn counts(mut cache: LinuxCache, accesses: impl IntoIterator<Item = Access>) -> Counts {
    accesses.into_iter().for_each(|access| cache.access(&access));
    cache.counts().clone()
}

/// The requests as pages and their number.
fn requests(counts: &Counts) -> Vec<(u64, u64)> {
    counts.requests.iter().map(|(pages, n)| (*pages, *n)).collect()
}

/// Reads in sequence that fetch pages, and the number of these pages.
fn fetches(start: u64, pages: u64) -> Vec<(u64, u64)> {
    let mut cache = cache(256 * MIB, 256 * MIB, 8 * MIB);
    let (mut found, mut before) = (Vec::new(), 0);
    for page in (start..start + 9000).step_by(pages as usize) {
        cache.access(&read(page * PAGE_BYTES, pages * PAGE_BYTES));
        let now = cache.counts().device_pages;
        if now > before {
            found.push((page, now - before));
        }
        before = now;
    }
    found
}

/// The kernel's windows were seen by cachestat(2) after each read of a file of 256 MiB, on Linux
/// 6.18, ext4 with a read-ahead of 8 MiB.
#[test]
fn read_ahead_has_the_windows_of_a_kernel() {
    type Windows = &'static [(u64, u64)];
    #[rustfmt::skip]
    let kernel: [((u64, u64), Windows); 4] = [
        ((0, 1), &[(0, 4), (1, 16), (4, 60), (20, 240), (80, 448), (320, 256), (768, 512), (1024, 512), (1536, 1024), (2048, 1024), (3072, 2048), (4096, 2048),
            (6144, 2048), (8192, 2048)]),
        ((0, 16), &[(0, 64), (16, 256), (64, 512), (320, 1024), (832, 1984), (1856, 1280), (3840, 1024), (5120, 2048), (6144, 2048), (8192, 2048)]),
        ((0, 5), &[(0, 32), (5, 128), (30, 256), (160, 480), (415, 896), (895, 1280), (1790, 1024), (3070, 2048), (4095, 2048), (6140, 2048), (8190, 2048)]),
        ((1001, 3), &[(1001, 3), (1004, 16), (1007, 64), (1019, 244), (1082, 464), (1328, 768), (1790, 1536), (2558, 2048), (4094, 2048), (6143, 2048),
            (8192, 2048)]),
    ];
    for ((start, pages), windows) in kernel {
        assert_eq!(fetches(start, pages), windows, "{pages} pages from {start}");
    }
}

/// Single pages are read from a file of 267 MiB. Returns the cached pages of the first 512.
fn cached_after(pages: &[u64]) -> Vec<u64> {
    let mut cache = cache(512 * MIB, 267 * MIB, 8 * MIB);
    for page in pages {
        cache.access(&read(page * PAGE_BYTES, PAGE_BYTES));
    }
    (0..512).filter(|page| cache.has(0, *page)).collect()
}

/// The kernel's cached pages were seen by cachestat(2) after these reads. The last one finds the
/// marker of a folio of four pages. The kernel leaves out page 20, but not page 80: between it and
/// the folio begins another node of its tree.
#[test]
fn read_ahead_behind_a_folio_of_several_pages_is_that_of_a_kernel() {
    let with_gap: Vec<u64> = (0..20).chain(21..100).collect();
    assert_eq!(cached_after(&[0, 1, 2000, 2001, 6]), with_gap);
    let without_gap: Vec<u64> = (0..332).collect();
    assert_eq!(cached_after(&[0, 1, 4, 2000, 2001, 22]), without_gap);
}

/// Reads of random places and lengths, each with the number of pages that the kernel read for it.
#[test]
fn random_reads_make_a_kernel_read_as_much_ahead() {
    let recorded = include_str!("samples/read_ahead.txt").lines().skip(2);
    let new_file = || cache(512 * MIB, 64 * MIB + 1234, 8 * MIB);
    let (mut cache, mut before) = (new_file(), 0);
    for (number, line) in recorded.enumerate() {
        let numbers: Vec<u64> = line.split(' ').flat_map(str::parse).collect();
        let [page, pages, fetched] = numbers[..] else {
            (cache, before) = (new_file(), 0);
            continue;
        };
        cache.access(&read(page * PAGE_BYTES, pages * PAGE_BYTES));
        let now = cache.counts().device_pages;
        assert_eq!(now - before, fetched, "line {}: {line}", number + 3);
        before = now;
    }
}

#[test]
fn only_the_first_window_of_a_sequential_read_is_awaited() {
    let reads = (0..2048).map(|page| read(page * PAGE_BYTES, PAGE_BYTES));
    let found = counts(cache(256 * MIB, 256 * MIB, 8 * MIB), reads);
    // The kernel's windows, as in `fetches`: a call waits for 4 pages, all others are read ahead.
    // One of both windows of 512 pages begins at page 768.
    assert_eq!(found.awaited(), [(4, 1)].into());
    let ahead = [(16, 1), (60, 1), (240, 1), (256, 1), (448, 1), (512, 2), (1024, 1)];
    assert_eq!(found.ahead, ahead.into());
    let scattered = [900, 100, 500].map(|page| read(page * PAGE_BYTES, PAGE_BYTES));
    assert_eq!(counts(cache(8 * MIB, 8 * MIB, MIB), scattered).ahead, [].into());
}

#[test]
fn file_without_read_ahead_is_read_as_asked_for() {
    let reads = [read(0, 3 * PAGE_BYTES), read(PAGE_BYTES, 100), read(5000, 1)];
    let found = counts(cache(MIB, MIB, 0), reads);
    assert_eq!(requests(&found), [(3, 1)]);
    assert_eq!((found.read.pages, found.read.hits), (5, 2));
    assert_eq!(found.read.ratio(), Some(0.4));
}

#[test]
fn random_reads_fetch_only_their_own_pages() {
    let reads = [900, 100, 500, 102].map(|page| read(page * PAGE_BYTES, PAGE_BYTES));
    let found = counts(cache(8 * MIB, 8 * MIB, MIB), reads);
    assert_eq!(requests(&found), [(1, 4)]);
}

#[test]
fn reads_end_with_the_file() {
    let found = counts(cache(MIB, 5000, MIB), [read(0, MIB), read(9000, 10)]);
    assert_eq!((found.read.pages, found.device_pages), (2, 2));
    assert_eq!(counts(cache(MIB, 0, MIB), []).read.ratio(), None);
}

#[test]
fn whole_pages_are_written_without_being_read() {
    let write = |offset, length| access(Kind::Write, offset, length);
    let writes = [
        write(0, 2 * PAGE_BYTES),
        write(10 * PAGE_BYTES + 5, 10),
        write(2 * MIB, 10),
        read(2 * MIB, 10),
    ];
    let found = counts(cache(MIB, MIB, 0), writes);
    assert_eq!((found.written.pages, found.written.hits), (4, 0));
    assert_eq!(requests(&found), [(1, 1)], "the page that is written in part");
    assert_eq!(found.read.hits, 1, "the file has grown");
}

/// Changed pages between others that were read: reclaim takes the latter. The cache is so large
/// that no scan sees a changed page alone.
#[test]
fn changed_pages_are_not_evicted_beside_unchanged_ones() {
    let mut cache = cache(64 * MIB, 256 * MIB, 0);
    let page = |kind, index: u64| access(kind, index * PAGE_BYTES, PAGE_BYTES);
    for index in 0..8000 {
        cache.access(&page(Kind::Write, index));
        cache.access(&page(Kind::Read, 20_000 + index));
    }
    (40_000..42_000).for_each(|index| cache.access(&page(Kind::Read, index)));
    let mut hits = |first: u64| {
        cache.restart();
        (first..first + 800).for_each(|index| cache.access(&page(Kind::Read, index)));
        cache.counts().read.hits
    };
    assert_eq!((hits(0), hits(20_000)), (800, 0));
}

/// With nothing but changed pages, the device writes them, and they are evicted in their order.
#[test]
fn changed_pages_are_written_when_nothing_else_is_left() {
    let mut cache = cache(4 * MIB, 64 * MIB, 0);
    let page = |kind, index: u64| access(kind, index * PAGE_BYTES, PAGE_BYTES);
    (0..8192).for_each(|index| cache.access(&page(Kind::Write, index)));
    assert!(cache.pages() <= 1024);
    cache.restart();
    (8192 - 512..8192).for_each(|index| cache.access(&page(Kind::Read, index)));
    assert_eq!(cache.counts().read.hits, 512);
}

/// The journal is written again and again, and never read: it must not push out what is read.
#[test]
fn writing_is_no_use_of_a_page() {
    let page = |kind, index: u64| access(kind, index * PAGE_BYTES, PAGE_BYTES);
    let writes = |kind| {
        let mut cache = cache(4 * MIB, 64 * MIB, 0);
        for _ in 0..4 {
            (0..256).for_each(|index| cache.access(&page(kind, index)));
            // Another folio between two uses of a page.
            cache.access(&page(Kind::Read, 9999));
        }
        (1000..3000).for_each(|index| cache.access(&page(Kind::Read, index)));
        cache.restart();
        (0..256).for_each(|index| cache.access(&page(Kind::Read, index)));
        cache.counts().read.hits
    };
    assert_eq!(writes(Kind::Read), 256);
    assert!(writes(Kind::Write) < 256);
}

#[test]
fn pages_that_are_read_twice_stay_when_a_long_file_is_read_once() {
    let mut cache = cache(4 * MIB, 64 * MIB, 0);
    let hot = || (0..100).map(|page| read(page * PAGE_BYTES, PAGE_BYTES));
    let scan = (1000..3000).map(|page| read(page * PAGE_BYTES, PAGE_BYTES));
    // Reads of neighbouring pages count as uses of different folios.
    hot().chain(hot()).chain(scan).for_each(|a| cache.access(&a));
    cache.restart();
    hot().for_each(|a| cache.access(&a));
    assert_eq!(cache.counts().read.hits, 100);
    assert!(cache.pages() <= 4 * MIB / PAGE_BYTES);
}

#[test]
fn page_that_comes_back_soon_is_active() {
    let mut cache = cache(4 * MIB, 64 * MIB, 0);
    let page = |index: u64| read(index * PAGE_BYTES, PAGE_BYTES);
    let (hot, once) = (0..512, 2000..2512);
    let rounds = hot.clone().chain(hot).chain(once).map(page);
    rounds.for_each(|a| cache.access(&a));
    // 300 more pages push out 300 of those that were read once. One of them comes back after fewer
    // evictions than there are active pages.
    (5000..5300).for_each(|index| cache.access(&page(index)));
    cache.access(&page(2000));
    (6000..8000).for_each(|index| cache.access(&page(index)));
    cache.restart();
    [2000, 2001].into_iter().for_each(|index| cache.access(&page(index)));
    assert_eq!(cache.counts().read.hits, 1);
}

#[test]
fn missing_mapped_page_is_read_with_its_neighbours() {
    let fault = |page: u64| access(Kind::Mapped, page * PAGE_BYTES, PAGE_BYTES);
    let faults = [fault(100), fault(99), fault(92), fault(107), fault(91)];
    let found = counts(cache(8 * MIB, 8 * MIB, 16 * PAGE_BYTES), faults);
    assert_eq!((found.mapped.pages, found.mapped.hits), (5, 3));
    assert_eq!(found.all_read(), found.mapped);
}

/// Random reads of a fifth of a file of 256 MiB, with a scan of the rest between them.
fn scan_over_a_hot_set() -> Vec<Access> {
    const PAGES: u64 = 65536;
    const HOT: u64 = PAGES / 5;
    let (mut random, mut at, mut reads) = (Rng::with_seed(1), HOT, Vec::new());
    for _ in 0..24_000 {
        for _ in 0..6 {
            reads.push(read(random.u64(..HOT) * PAGE_BYTES, PAGE_BYTES));
        }
        reads.push(read(at * PAGE_BYTES, 4 * PAGE_BYTES));
        at = if at + 8 > PAGES { HOT } else { at + 4 };
    }
    reads
}

/// The kernel's hit ratios were measured on Linux 6.18, ext4 with a read-ahead of 8 MiB.
#[test]
fn hit_ratios_are_those_of_a_kernel() {
    let reads = scan_over_a_hot_set();
    for (limit_mib, other_kib, kernel) in
        [(32, 644, 0.5326), (96, 576, 0.8834), (160, 620, 0.9562), (224, 784, 0.9655)]
    {
        let bytes = limit_mib * MIB - other_kib * 1024;
        let cache = cache(bytes, 256 * MIB, 8 * MIB);
        let found = counts(cache, reads.iter().copied()).read.ratio().unwrap();
        assert!((found - kernel).abs() < 0.01, "{limit_mib}: {found}");
    }
}

#[test]
fn faulty_documents_are_refused() {
    let document = |text: &str| {
        let begin = r#"{"schema": "yamba-files/1", "application": "a", "unit": "run", "units": 1,"#;
        FileAccesses::read(&format!("{begin}{text}}}"))
    };
    let whole = document(
        r#""files": [{}], "accesses": [[0, "read", 100, 50, 3], [0, "mapped", 0, 4096, 1]]"#,
    );
    let whole = whole.unwrap();
    let places: Vec<u64> = whole.each().map(|access| access.offset).collect();
    assert_eq!(places, [100, 150, 200, 0]);
    assert_eq!(whole.shapes(Some(7))[0], FileShape { length: 4096, read_ahead_bytes: 7 });
    for (text, part) in [
        (r#""files": [], "accesses": [[0, "read", 0, 1, 1]]"#, "accesses[0]"),
        (r#""files": [{}], "accesses": [[0, "look", 0, 1, 1]]"#, "look"),
        (r#""files": [{}], "accesses": [[0, "read", 9, 4294967296, 4294967296]]"#, "longest"),
        (r#""files": [{"name": 1}], "accesses": []"#, "name"),
    ] {
        let fault = document(text).unwrap_err();
        assert!(fault.contains(part), "{fault}");
    }
    assert!(FileAccesses::read("{}").is_err());
}
