//! The paper's Figures 2 and 3.

use crate::support::{build, hex, root};

#[test]
#[ignore = "needs i686-linux-gnu-g++"]
fn five_touches_give_the_bytes_of_the_paper() {
    let text =
        std::fs::read_to_string(root().join("tests/paper/figure2_3.yamba")).expect("the figures");
    let built = build(&text, "Y_pagefault_x86_32", "x86_32");
    let touches: String =
        (0..5u32).map(|i| format!("8B83{:08X}8B00", (4 * i).swap_bytes())).collect();
    assert_eq!(hex(&built, "pagefault_func", &["5"]), format!("5589E5538B5D08{touches}5B5DC3"));
    assert_eq!(hex(&built, "pagefault_dummy_func", &["5"]), "5589E5538B5D085B5DC3");
}
