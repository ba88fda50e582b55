//! Caches, as the kernel lists them for each processor.

use yamba_record::machine::details::{Cache, CoreKind};

use super::source::Source;
use super::text::{cpu_list, size};

/// The caches of the first processor of each kind of core.
pub(super) fn caches(source: &impl Source, kinds: &[CoreKind]) -> Vec<Cache> {
    let firsts = kinds.iter().filter_map(|k| cpu_list(&k.cpus).first().copied());
    let mut all: Vec<Cache> = Vec::new();
    for cpu in firsts {
        for cache in processor_caches(source, cpu) {
            if !all.iter().any(|known| may_be_same(known, &cache)) {
                all.push(cache);
            }
        }
    }
    all
}

/// Whether two descriptions can be of one cache: they agree in all that both know.
fn may_be_same(one: &Cache, other: &Cache) -> bool {
    fn agree<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
        one.is_none() || other.is_none() || one == other
    }
    one.level == other.level
        && one.kind == other.kind
        && agree(one.bytes.as_ref(), other.bytes.as_ref())
        && agree(one.line.as_ref(), other.line.as_ref())
        && agree(one.ways.as_ref(), other.ways.as_ref())
        && agree(one.sets.as_ref(), other.sets.as_ref())
        && agree(one.shared_by.as_ref(), other.shared_by.as_ref())
}

fn processor_caches(source: &impl Source, cpu: u64) -> Vec<Cache> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    let names = source.list(&folder);
    let indexes = names.iter().filter(|name| name.starts_with("index"));
    let mut caches: Vec<Cache> =
        indexes.filter_map(|index| one(source, &format!("{folder}/{index}"))).collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

/// Reads the cache that a folder describes. Some systems write 0 for unknown values.
fn one(source: &impl Source, folder: &str) -> Option<Cache> {
    let number = |name: &str| source.number(&format!("{folder}/{name}"));
    let known = |name: &str| number(name).filter(|n| *n > 0);
    let (kind, bytes) = (format!("{folder}/type"), format!("{folder}/size"));
    let name = source.name(&kind)?.to_lowercase();
    let is_kind = ["data", "instruction", "unified"].contains(&name.as_str());
    Some(Cache {
        level: number("level")?,
        kind: source.understood(&kind, is_kind.then_some(name))?,
        bytes: source
            .word(&bytes)
            .and_then(|text| source.understood(&bytes, size(&text)))
            // An unknown size is written as `0K`.
            .filter(|size| *size > 0),
        line: known("coherency_line_size"),
        ways: known("ways_of_associativity"),
        sets: known("number_of_sets"),
        shared_by: source.cpus(&format!("{folder}/shared_cpu_list")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn size_of_0_is_unknown() {
        let with = |size: &str| {
            let text = format!(
                "== /c/level\n1\n== /c/type\nData\n== /c/size\n{size}\n== /c/shared_cpu_list\n0\n"
            );
            one(&Sample::new(&text), "/c").and_then(|cache| cache.bytes)
        };
        assert_eq!((with("32K"), with("0K")), (Some(32 << 10), None));
    }
}
