//! Benchmarks that start threads of their own, and the processors that they get.

use serde_json::Value;

use crate::support::Yamba;

/// Each pass takes about as long as thousands of switches between threads, so that others beside
/// these tests do not hide them.
const PARALLEL: &str = "native {
    #include <thread>
    #include <vector>
    inline void work(unsigned times) { for (volatile unsigned i = 0; i < times; i = i + 1) {} }
    inline void together(unsigned workers)
    {
        std::vector<std::thread> all;
        for (unsigned i = 0; i < workers; i++) all.emplace_back(work, 400000 / workers);
        for (std::thread &one : all) one.join();
    }
}
yamba parallel
{
    param unsigned workers = 0 over {0, 2};
    void benchmark() { if (workers) together(workers); else work(400000); }
}
";

const NOTE: &str = "its threads run in parallel";

/// For each entry of a run: where it and each of its launches ran, and whether it has the note.
fn placements(out: &str) -> Vec<(String, bool)> {
    let run: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out}"));
    let entries = run["benchmarks"].as_array().unwrap().iter();
    let placement = |entry: &Value| {
        assert_eq!(entry["status"], "ok", "{entry:#}");
        let kind = entry["placement"]["kind"].as_str().unwrap().to_owned();
        for launch in entry["launches"].as_array().unwrap() {
            assert_eq!(launch["placement"]["kind"], kind.as_str(), "{launch:#}");
        }
        (kind, entry["notes"].to_string().contains(NOTE))
    };
    entries.map(placement).collect()
}

fn expected(all: &[(&str, bool)]) -> Vec<(String, bool)> {
    all.iter().map(|(k, n)| ((*k).to_owned(), *n)).collect()
}

#[test]
#[ignore = "needs g++"]
fn benchmark_with_own_threads_gets_all_processors() {
    let sharing = "bool shares_processor() { return true; }\n    void benchmark()";
    let partners = PARALLEL.replace("void benchmark()", sharing);
    let yamba = Yamba::new().file("parallel.yamba", PARALLEL);
    let mut yamba =
        yamba.file("partners.yamba", partners.replace("yamba parallel", "yamba partners"));
    let mut of = |words: &str| {
        let words = format!("run {words} --quick --time 50ms --json --raw");
        placements(&yamba.run(&words).ok().out)
    };
    let (pinned, freed) = (("pinned", false), ("free", true));
    assert_eq!(of("parallel.yamba"), expected(&[pinned, freed]), "without the option");
    for words in ["partners.yamba", "parallel.yamba --placement pinned"] {
        assert_eq!(of(words), expected(&[pinned; 2]), "{words}");
    }
    let free = of("parallel.yamba --placement free");
    assert_eq!(free, expected(&[("free", false); 2]));
}

/// Which of the threads need more processors is not known, so they stay where they are.
#[test]
#[ignore = "needs g++"]
fn benchmark_with_own_threads_below_threads_has_a_note() {
    let mut yamba = Yamba::new().file("parallel.yamba", PARALLEL);
    for (option, expected) in [("", [false, true]), ("--placement free", [false, false])] {
        // A batch begins when all threads run at the same time. Beside many other processes, they
        // wait long for that.
        let words =
            format!("run parallel.yamba -T 2 {option} --quick --time 50ms --timeout 20min --json");
        let run: Value = serde_json::from_str(&yamba.run(&words).ok().out).unwrap();
        let entries = run["benchmarks"].as_array().unwrap().iter();
        let note = "threads that it starts used ";
        let counts = entries.map(|entry| entry["notes"].to_string().matches(note).count());
        assert_eq!(counts.collect::<Vec<_>>(), expected.map(usize::from), "{option}");
    }
}

#[test]
#[ignore = "needs g++"]
fn statement_with_own_threads_gets_all_processors() {
    let work =
        "std::thread t([] { for (volatile int i = 0; i < 400000; i = i + 1) {} }); t.join();";
    let of = |words: &[&str]| {
        let words = [&["time", "--include", "thread", "--json", "--raw", work], words].concat();
        placements(&Yamba::new().run_words(&words).ok().out)
    };
    assert_eq!(of(&[]), expected(&[("free", true)]));
    assert_eq!(of(&["--placement", "pinned"]), expected(&[("pinned", false)]));
    assert_eq!(of(&["--placement", "free"]), expected(&[("free", false)]));
    let plain = ["time", "getppid();", "--json", "--raw"];
    let plain = placements(&Yamba::new().run_words(&plain).ok().out);
    assert_eq!(plain, expected(&[("pinned", false)]));
}

/// A program that nothing starts once more names the options.
#[test]
#[ignore = "needs g++"]
fn program_alone_refuses_to_measure_threads_on_one_processor() {
    let mut yamba = Yamba::new().file("parallel.yamba", PARALLEL);
    let built = yamba.run("build parallel.yamba").ok().out;
    let program = built.split_whitespace().last().unwrap().to_owned();
    let run = |more: &[&str]| {
        let words =
            ["--run", "--set", "workers=2", "--batches", "2", "--time-ns", "1", "--no-lock"];
        let output = yamba.other(&program).args(words).args(more).output().unwrap();
        let records = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), records)
    };
    let (status, records) = run(&[]);
    assert_eq!(status, Some(3), "{records}");
    let last: Value = serde_json::from_str(records.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["needs_free"]), (&"error".into(), &true.into()));
    assert!(last["text"].as_str().unwrap().contains("--placement free"), "{last}");
    for option in ["--free", "--pinned"] {
        let (status, records) = run(&[option]);
        assert_eq!(status, Some(0), "{option}: {records}");
    }
}

#[test]
#[ignore = "needs g++"]
fn flags_of_the_compiler_reach_it() {
    let text = "native {
        #ifdef _OPENMP
        #include <omp.h>
        #endif
    }
    yamba asks
    {
        compile { flag \"-fopenmp\", \"-Wno-unused\"; }
        volatile unsigned x = 0;
        void benchmark() { for (int i = 0; i < 50; i++) x = x + 1; }
        evidence int threads_of_a_region()
        {
            int threads = 0;
            #ifdef _OPENMP
            #pragma omp parallel num_threads(3)
            #pragma omp single
            threads = omp_get_num_threads();
            #endif
            return threads;
        }
    }
    ";
    let answer = |text: &str, options: &str| {
        let mut yamba = Yamba::new().file("asks.yamba", text);
        let words = format!("run asks.yamba --quick --time 20ms --json {options}");
        let run: Value = serde_json::from_str(&yamba.run(&words).ok().out).unwrap();
        run["benchmarks"][0]["evidence"]["threads_of_a_region"]["median"].as_f64()
    };
    assert_eq!(answer(text, ""), Some(3.0));
    let plain = text.replace("compile { flag \"-fopenmp\", \"-Wno-unused\"; }", "");
    assert_eq!(answer(&plain, ""), Some(0.0));
    assert_eq!(answer(&plain, "--flag -fopenmp"), Some(3.0));
    let mut yamba = Yamba::new().file("asks.yamba", &plain);
    for (flag, fault) in [
        ("-O3", "no option that `flag` takes"),
        ("-march=native", "has a setting of its own"),
        ("-fpack-struct", "how data lies in memory"),
    ] {
        let refused = yamba.run(&format!("build asks.yamba --flag {flag}"));
        refused.refused(&[&format!("--flag: `{flag}`"), fault]);
    }
}
