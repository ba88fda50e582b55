//! Caches, as the kernel lists them for each processor.

use yamba_record::machine::details::{Cache, CoreKind};

use super::source::Source;
use super::text::{cpu_list, size};

/// The caches of the first processor of each kind of core.
pub(super) fn caches(source: &impl Source, kinds: &[CoreKind]) -> Vec<Cache> {
    let firsts = kinds
        .iter()
        .filter_map(|k| cpu_list(&k.cpus).first().copied());
    let mut all: Vec<Cache> = Vec::new();
    for cpu in firsts {
        for cache in of(source, cpu) {
            if !all.contains(&cache) {
                all.push(cache);
            }
        }
    }
    all
}

fn of(source: &impl Source, cpu: u64) -> Vec<Cache> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    let names = source.list(&folder);
    let indexes = names.iter().filter(|name| name.starts_with("index"));
    let mut caches: Vec<Cache> = indexes
        .filter_map(|index| one(source, &format!("{folder}/{index}")))
        .collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

/// Reads the cache that a folder describes. Some systems write 0 for unknown values.
fn one(source: &impl Source, folder: &str) -> Option<Cache> {
    let number = |name: &str| source.number(&format!("{folder}/{name}"));
    let known = |name: &str| number(name).filter(|n| *n > 0);
    Some(Cache {
        level: number("level")?,
        kind: source.word(&format!("{folder}/type"))?.to_lowercase(),
        bytes: source
            .word(&format!("{folder}/size"))
            .and_then(|s| size(&s)),
        line: known("coherency_line_size"),
        ways: known("ways_of_associativity"),
        sets: known("number_of_sets"),
        shared_by: source.word(&format!("{folder}/shared_cpu_list")),
    })
}
