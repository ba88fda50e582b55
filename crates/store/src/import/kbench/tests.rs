//! Tests of the reader of Kanata Bench's table, with the output that the paper prints.

use crate::import::cases::{has, left_out, read_text, refused};

const OUTPUT: &str = include_str!("../samples/kanata-bench.txt");

const NAME: &str = "kanata_bench initial=30 delta=1 groups=5 group_size=30";

#[test]
fn table_has_the_statistics_of_the_paper() {
    let run = read_text(OUTPUT).unwrap();
    let entry = &run.benchmarks[0];
    let circles = entry.details.circles.as_ref().unwrap();
    assert_eq!(
        (circles.unit.as_str(), circles.initial, circles.delta, circles.group_size),
        ("cycles", 30, 1, 30)
    );
    let launch = &circles.launches[0];
    let sizes: Vec<u64> = launch.groups.iter().map(|g| g.test_size).collect();
    assert_eq!(sizes, [30, 31, 32, 33, 34]);
    assert_eq!(launch.groups[0].accumulated[..3], [138832.0, 137993.0, 137349.0]);
    assert_eq!(launch.groups[4].accumulated[29], 154971.0);
    let primary = launch.primary.unwrap();
    assert_eq!((primary.test_size, entry.details.samples.len()), (34, 30));
    assert!((primary.mean - launch.groups[4].mean_per_circle.unwrap()).abs() < 1e-9);
    assert!(primary.standard_deviation.is_some());
}

/// The figure is the median of the largest tests: 155455.5 cycles for 34 circles.
#[test]
fn figure_is_one_circle() {
    let run = read_text(OUTPUT).unwrap();
    let mut largest = run.benchmarks[0].details.samples.clone();
    largest.sort_by(f64::total_cmp);
    let middle = (largest[14] + largest[15]) / 2.0;
    has(OUTPUT, &[&format!("{NAME}: {middle} cycles")], &[]);
}

#[test]
fn each_table_is_a_launch() {
    let run = read_text(&format!("{OUTPUT}\nbooting\n\n{OUTPUT}")).unwrap();
    let entry = &run.benchmarks[0];
    assert_eq!(entry.launches.len(), 2);
    assert_eq!(entry.details.circles.as_ref().unwrap().launches.len(), 2);
    let other = OUTPUT.replace("Delta: 1", "Delta: 2");
    let run = read_text(&format!("{OUTPUT}{other}")).unwrap();
    assert_eq!(run.benchmarks[0].launches.len(), 0);
    assert_eq!(left_out(&run).len(), 1);
}

#[test]
fn table_that_is_not_whole_is_refused() {
    refused(&OUTPUT.replace("\nDone!", ""), "not followed by");
    refused(&OUTPUT.replace("138832 ", ""), "a row has 4 numbers");
    refused(&OUTPUT.replace("138832", "13883x"), "something else than cycles");
    refused(&OUTPUT.replace("of Groups: 5", "of Groups: 6"), "of 6 groups");
}
