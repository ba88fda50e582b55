//! Times the ten functions by criterion.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

macro_rules! functions {
    ($($name:ident)*) => {
        unsafe extern "C" {
            $(fn $name() -> std::ffi::c_ulong;)*
        }

        fn all(criterion: &mut Criterion) {
            $(criterion.bench_function(stringify!($name), |bencher| {
                // SAFETY: the functions have no preconditions.
                bencher.iter(|| black_box(unsafe { $name() }))
            });)*
        }
    };
}

functions! {
    add_numbers
    length_of_text
    copy_page
    hash_text
    search_sorted
    walk_list
    sort_numbers
    print_number
    allocate_memory
    ask_parent
}

criterion_group!(benches, all);
criterion_main!(benches);
