//! The command as its users run it, and rules of the code base. `cargo test` runs only tests that
//! need no C++ compiler; `make test` runs all.

mod ab;
mod arguments;
mod batches;
mod budget;
mod bundle;
mod ci_example;
mod commands;
mod compare;
mod compilers;
mod documents;
mod everywhere;
mod export;
#[allow(dead_code, reason = "tests/facilities uses the rest")]
#[path = "../far/mod.rs"]
mod far;
mod far_end;
mod fleet;
mod fleet_report;
mod foreign;
mod gc;
mod hardware;
mod help;
mod hostile;
mod house;
mod inputs;
mod java;
mod json;
mod layers;
mod load;
mod machine;
mod machines;
mod ordinary_user;
mod own_code;
mod own_threads;
mod page_cache;
#[allow(dead_code, reason = "tests/facilities walks the pages")]
mod pages;
mod papers;
mod placement;
mod prebuilt;
mod predict;
mod predict_elapsed;
mod predict_traced;
mod programs;
mod refused;
mod results;
mod run_options;
mod run_whole;
mod schema;
mod servers;
mod shells;
mod stored_runs;
mod study;
mod support;
mod terminal;
mod time;
mod trace;
mod trust;
#[allow(dead_code, reason = "tests/facilities uses the rest")]
mod user;
mod vectors;
mod verdicts;
