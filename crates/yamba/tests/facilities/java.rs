//! A Java program under the agent, and its costs measured by JMH. The jars are those of `make
//! java`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::costs::Costs;
use yamba_jvm::library::JavaCommand;
use yamba_jvm::run::{Jvm, LIMITS};

use crate::schema;
use crate::support::{Yamba, json};
use crate::{Missing, page_commands};

const PROGRAM: &str = r#"
public class Words {
    public static void main(String[] arguments) {
        String text = "the quick brown fox jumps over the lazy dog";
        long sum = 0;
        for (int round = 0; round < 200000; round++) {
            sum += text.indexOf("cat", round % 3) + text.toUpperCase(java.util.Locale.ROOT).length();
        }
        System.out.println(sum);
    }
}
"#;

const ROUNDS: f64 = 400.0;
/// A round stores references to new objects into this number of cards of an old table. A card has
/// 128 references.
const CARDS: f64 = 1024.0;
const STORES: &str = r#"
public class Stores {
    public static void main(String[] arguments) {
        Object[] table = new Object[1 << 20];
        for (int round = 0; round < 400; round++) {
            for (int card = 0; card < 1024; card++) {
                table[card * 128] = new byte[500];
            }
        }
        System.out.println(table.length);
    }
}
"#;

/// The program, compiled in the folder of the test, with the jars of `make java`.
fn prepared() -> Result<Yamba, Missing> {
    let jars = Path::new(env!("CARGO_BIN_EXE_yamba")).with_file_name("jars");
    if !jars.join("benchmarks.jar").is_file() {
        return Err(Missing::new("`make java` has not built the jars: mvn or a JDK is missing"));
    }
    compiled().map(|yamba| yamba.env("YAMBA_JAVA", &jars))
}

/// The programs, compiled in the folder of the test.
fn compiled() -> Result<Yamba, Missing> {
    let yamba = Yamba::new().file("Words.java", PROGRAM).file("Stores.java", STORES);
    let mut compiler = Command::new("javac");
    let compiled =
        compiler.args(["Words.java", "Stores.java"]).current_dir(yamba.folder.path()).status();
    match compiled {
        Ok(status) if status.success() => Ok(yamba),
        _ => Err(Missing::new("javac is missing: install a JDK")),
    }
}

/// The list for people has the same methods and benchmarks.
pub fn list_of_methods_is_a_document() -> Result<(), Missing> {
    let mut yamba = prepared()?;
    let found = json(&mut yamba, "java list --json");
    let found = found.as_array().unwrap();
    let of = |name: &str| found.iter().find(|of| of["name"] == name).unwrap();
    assert_eq!(of("java.lang.String.indexOf(String)")["size"], "this");
    assert_eq!(of("java.lang.System.nanoTime()")["size"], Value::Null);
    let text = yamba.run("java list").ok().out;
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let documents = found
        .iter()
        .map(|of| vec![of["name"].as_str().unwrap(), of["benchmark"].as_str().unwrap()]);
    assert!(rows.eq(documents), "{text}");
    Ok(())
}

/// The documents of a real JVM: its costs with one collector, profiles, and a prediction.
pub fn documents_of_garbage_collection_are_valid() -> Result<(), Missing> {
    let mut yamba = compiled()?;
    page_commands::wait_for_costs();
    let costs = json(&mut yamba, "gc characterise --collector serial --json");
    schema::holds("yamba-gc-costs/1", &costs);
    yamba.run("gc profile -o words.gc --step 1M --collector serial -- java -cp . Words").ok();
    let text = std::fs::read_to_string(yamba.folder.path().join("words.gc")).unwrap();
    schema::holds("yamba-gc-profile/1", &serde_json::from_str(&text).unwrap());
    other_collectors_have_runs(&yamba, costs);
    let predict = "gc predict words.gc --collector serial --heap 64M --measure --runs 1 --json";
    let predicted = json(&mut yamba, predict);
    schema::holds("yamba-gc-predictions/1", &predicted);
    assert!(predicted["predictions"][0]["collections"]["measured"].is_number());
    dirty_cards_follow_from_stores(&mut yamba);
    Ok(())
}

/// The JVM writes decimal commas in this locale unless Yamba prevents it.
pub fn pauses_are_read_in_a_locale_with_decimal_commas() -> Result<(), Missing> {
    let yamba = compiled()?;
    let locale = yamba.folder.path().join("nb_NO.UTF-8");
    let made = Command::new("localedef").args(["-i", "nb_NO", "-f", "UTF-8"]).arg(&locale).status();
    if !made.is_ok_and(|status| status.success()) {
        return Err(Missing::new("localedef cannot make nb_NO"));
    }
    let folder = yamba.folder.path().to_owned();
    page_commands::wait_for_costs();
    let mut yamba = yamba.env("LOCPATH", &folder).env("LC_ALL", "nb_NO.UTF-8");
    yamba.run("gc profile -o words.gc --step 1M --collector serial -- java -cp . Words").ok();
    let text = std::fs::read_to_string(folder.join("words.gc")).unwrap();
    let profile: Value = serde_json::from_str(&text).unwrap();
    let runs = profile["serial"]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{runs:?}");
    for run in runs {
        let young = |key: &str| run["young"][key].as_f64().unwrap();
        assert!(young("collections") > 0.0 && young("pause_ns") > 0.0, "{run}");
        // Serial collects in one thread, which does little else.
        let share = young("pause_ns") / young("cpu_ns");
        assert!(share > 0.1, "{run}");
    }
    Ok(())
}

/// The costs of Serial stand for those of Parallel, which would take a minute to measure.
fn other_collectors_have_runs(yamba: &Yamba, costs: Value) {
    let mut costs: Costs = serde_json::from_value(costs).unwrap();
    let serial = costs.collectors["serial"].clone();
    costs.collectors.insert("parallel".to_owned(), serial);
    let folder = yamba.folder.path().to_str().unwrap();
    let command = ["java", "-cp", folder, "Words"].map(str::to_owned);
    let found = yamba_jvm::run::profile(
        &Jvm::find(None).unwrap(),
        &costs,
        &[Collector::Parallel],
        &JavaCommand::parse(&command).unwrap(),
        1 << 20,
        LIMITS,
        &|_| (),
    );
    let found = found.unwrap();
    assert!(found.others.keys().eq(["parallel"]), "{:?}", found.others);
    for priced in [&found.serial, &found.others["parallel"]] {
        let heaps: Vec<f64> = priced.runs.iter().map(|run| run.heap_bytes).collect();
        assert!(heaps.len() == 2 && heaps[0] < heaps[1], "{heaps:?}");
        for run in &priced.runs {
            let young = run.young;
            assert!(young.collections > 0.0 && young.cpu_ns > 0.0 && young.bytes > 0.0);
        }
    }
    // The run with G1 counts cards, and needs no costs.
    assert!(found.cards.is_some(), "{:?}", found.not_measured);
}

/// A collection finds the cards of the last rounds dirty, and no card gets dirty without a store.
/// The heaps of the two runs have 24 and 64 MB, of which Eden takes at most 60 %.
fn dirty_cards_follow_from_stores(yamba: &mut Yamba) {
    yamba.run("gc profile -o stores.gc --step 1M --collector serial -- java -cp . Stores").ok();
    let text = std::fs::read_to_string(yamba.folder.path().join("stores.gc")).unwrap();
    let profile: Value = serde_json::from_str(&text).unwrap();
    let value = |name: &str| profile["cards"][name].as_f64().unwrap();
    let allocated_bytes = value("allocated_bytes") / 2.0;
    let [small, large] = [24e6, 64e6].map(|heap| (allocated_bytes / (0.6 * heap)).floor());
    let collections = small + large;
    let of_start = 5000.0;
    let expected = CARDS * collections..2.0 * (CARDS * ROUNDS + of_start);
    assert!(collections >= 10.0, "{}", profile["cards"]);
    assert!(expected.contains(&value("dirty")), "{}", profile["cards"]);
    assert_eq!(value("woken_share"), 1.0);
}

pub fn java_program_is_traced_and_predicted() -> Result<(), Missing> {
    let mut yamba = prepared()?;
    let said = yamba.run("trace --java -o words.vector -- java -cp . Words").ok().err;
    assert!(said.contains("calls of the class library each run"), "{said}");
    let text = std::fs::read_to_string(yamba.folder.path().join("words.vector")).unwrap();
    let vector: Value = serde_json::from_str(&text).unwrap();
    let uses = vector["primitives"].as_array().unwrap();
    let of = |name: &str| uses.iter().find(|used| used["name"] == name).unwrap();
    let index = of("java.lang.String.indexOf(String,int)");
    assert_eq!((index["size"].as_f64(), index["count"].as_f64()), (Some(43.0), Some(200_000.0)));
    let upper = of("java.lang.String.toUpperCase(Locale)");
    assert!(upper["time_ns"].as_f64() > Some(0.0), "{upper}");
    yamba.run("java measure --quick --for words.vector").ok();
    let found = json(&mut yamba, "predict words.vector --json");
    let prediction = &found["predictions"][0];
    assert_eq!(prediction["is_as_traced"], true);
    // The prediction is a sum of parts, which may differ from their total in the last bit.
    let [predicted, traced] =
        [&prediction["predicted_ns"], &vector["kernel_ns"]].map(|ns| ns.as_f64().unwrap());
    assert!((predicted / traced - 1.0).abs() < 1e-12, "{predicted} {traced}");
    Ok(())
}
