//! Benchmarks that do not do what their names claim, in ways that figures alone do not show. The
//! evidence detects them.

use serde_json::Value;

use crate::support::{Answer, Yamba};
use crate::{Missing, Skipped};

/// A class that violates the claim of its base, and the evidence that detects it.
#[derive(Clone)]
pub struct Wrong {
    pub name: &'static str,
    pub base: &'static str,
    pub evidence: &'static str,
    pub members: &'static str,
}

/// Measures the classes with the options `words`. None may have a valid figure, and each must give
/// the reason. Benchmarks that cannot be measured here make the result `Missing`.
#[track_caller]
pub fn all_are_caught(
    yamba: Yamba,
    includes: &str,
    wrong: &[Wrong],
    words: &str,
) -> Result<(), Missing> {
    let mut yamba = yamba.file("wrong.yamba", classes(includes, wrong));
    let answer = yamba.run(&format!("run wrong.yamba --quick --json {words}"));
    are_caught(&answer, wrong)
}

/// The classes as the text of a file.
pub fn classes(includes: &str, wrong: &[Wrong]) -> String {
    let mut text = format!("native {{\n{includes}\n}}\n");
    for Wrong { name, base, members, .. } in wrong {
        text += &format!("yamba {name} extends {base} on linux\n{{\n{members}\n}}\n");
    }
    text
}

/// Checks that this run's JSON document marks each class as wrong.
#[track_caller]
pub fn are_caught(answer: &Answer, wrong: &[Wrong]) -> Result<(), Missing> {
    let mut left_out = Skipped::default();
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let entries = run["benchmarks"].as_array().unwrap();
    for Wrong { name, evidence, .. } in wrong {
        let own = entries.iter().filter(|b| b["class"] == *name);
        let (skipped, measured): (Vec<&Value>, Vec<&Value>) =
            own.partition(|b| b["status"] == "skipped");
        for entry in &skipped {
            left_out.add(name, &entry["notes"].to_string());
        }
        assert!(!measured.is_empty() || !skipped.is_empty(), "{name}");
        for entry in measured {
            let notes = entry["notes"].to_string();
            assert_eq!(entry["status"], "invalid", "{name}: {notes}");
            let says = format!("{evidence} is ");
            assert!(notes.contains(&says), "{name}: {notes}");
        }
    }
    left_out.result()
}

const FALSE_ONES: &str = "native {
    #include <sys/mman.h>
}
yamba populated extends lat_mmap_touch_munmap on linux
{
    byte_t *map() { return static_cast<byte_t *>(must(mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_POPULATE, -1, 0))); }
}
yamba in_order extends lat_mem_rd
{
    size = 1 << 20 over {1 << 20} quick {1 << 20};
    void setup()
    {
        chase.build(buffer_bytes(), apart(), false, huge_pages());
        share = chase.huge_share();
    }
}
yamba spinning extends lat_futex on linux
{
    placement = \"apart\" over {\"apart\"};
    void pass()
    {
        wake(&words->there);
        while (__atomic_exchange_n(&words->back, 0, __ATOMIC_ACQUIRE) == 0) {}
    }
}
";

pub fn plausible_but_wrong_benchmarks_are_invalid() -> Result<(), Missing> {
    let mut yamba = Yamba::new().file("false_ones.yamba", FALSE_ONES);
    let answer = yamba.run("run false_ones.yamba --quick --json");
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let mut skipped = Skipped::default();
    for (class, evidence) in [
        ("populated", "resident_before_touch"),
        ("in_order", "steps_to_neighbours"),
        ("spinning", "sleeps_per_pass"),
    ] {
        let mut all = run["benchmarks"].as_array().unwrap().iter();
        let figure = all.find(|b| b["class"] == class).unwrap();
        if figure["status"] == "skipped" {
            skipped.add(class, &figure["notes"].to_string());
            continue;
        }
        assert_eq!(figure["valid"], false, "{figure}");
        assert!(figure["notes"].to_string().contains(evidence), "{figure}");
    }
    skipped.result()
}
