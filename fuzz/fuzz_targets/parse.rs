//! `cargo +nightly fuzz run --features libfuzzer parse`
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| yamba_fuzz::parse(text));
