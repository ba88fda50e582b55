//! `cargo +nightly fuzz run --features libfuzzer analyse`
#![no_main]

use std::sync::LazyLock;

static LIBRARY: LazyLock<yamba_fuzz::Library> = LazyLock::new(yamba_fuzz::Library::read);

libfuzzer_sys::fuzz_target!(|text: &str| yamba_fuzz::analyse(text, &LIBRARY));
