//! Every piece of Yamba in the documentation is checked. After the fence's ```yamba may stand:
//! `members` (the inside of a class), `terms` (the inside of a bitstring on x86_64), `error[KIND]`
//! (the first error that it must give). `pages` runs complete programs.

use std::collections::BTreeSet;
use std::fs;

use yamba_lang::{Input, Severity};
use yamba_toolchain::embedded::Home;
use yamba_toolchain::files::Disk;
use yamba_toolchain::render;

use crate::pages::page::{self, Block, Page};
use crate::support::root;

#[test]
fn every_snippet_of_documents_works() {
    let home = Home {
        runtime: root().join("runtime"),
        library: root().join("library"),
        suite: root().join("suite"),
    };
    let disk = Disk::new(Vec::new(), &home).unwrap();
    let pages = page::all();
    let each = pages.iter().flat_map(|p| p.blocks.iter().map(move |b| (p, b)));
    let snippets: Vec<(&Page, &Block)> = each.filter(|(_, b)| b.is("yamba")).collect();
    assert!(snippets.len() >= 15, "{} snippets", snippets.len());
    let fault = |(page, block): &(&Page, &Block)| fault(&page.place(block.line), block, &disk);
    let faults: Vec<String> = snippets.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn fault(place: &str, block: &Block, disk: &Disk) -> Option<String> {
    let snippet = &block.text;
    let expected = block.marks.error();
    let text = if block.marks.has("members") {
        format!("yamba abstract example {{ {snippet} }}")
    } else if block.marks.has("terms") {
        format!(
            "yamba example on x86_64 {{ import(x86_64); unsigned int n; void benchmark() {{}} static void function() {{}} bitstring other = 0x90; bitstring example_bits(unsigned int index) {{ {snippet} }} }}"
        )
    } else {
        snippet.clone()
    };
    let path = "documentation/snippet.yamba".to_owned();
    let analysis = yamba_lang::analyse(vec![Input { path, text }], disk);
    let first = analysis.diagnostics.iter().find(|d| d.severity == Severity::Error);
    if first.map(|d| d.code) == expected {
        return None;
    }
    let shown = render::diagnostics(&analysis.sources, &analysis.diagnostics, false);
    Some(format!("{place}: expected {expected:?}\n{shown}"))
}

/// `UPDATE_EXPECT=1` rewrites the page.
#[test]
fn page_of_the_suite_matches_its_files() {
    let listed = crate::support::Yamba::new().run("list --md").ok().out;
    let page = format!("{SUITE_HEAD}{listed}");
    let path = root().join("docs/suite.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, page).unwrap();
    } else {
        let have = fs::read_to_string(&path).unwrap();
        assert_eq!(have, page, "run the tests with UPDATE_EXPECT=1");
    }
}

/// Each listed counterpart of an lmbench program or report row exists in the suite under that name.
#[test]
fn every_lmbench_program_and_report_row_has_a_benchmark() {
    let listed = crate::support::Yamba::new().run("list --json").ok().out;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let listed = listed.as_array().unwrap().iter();
    let known: BTreeSet<&str> = listed.filter_map(|row| row["name"].as_str()).collect();
    let (lmbench, report) = (rows("docs/lmbench.md"), rows("docs/report-2016.md"));
    for (others, ours) in lmbench.iter().chain(&report) {
        for name in ours.split('`').skip(1).step_by(2) {
            let name = name.split(' ').next().unwrap();
            let is_part = name.starts_with(['_', '-']) || !name.contains('_');
            let is_value = name.contains('=') || known.contains(name);
            let is_pattern = name.ends_with('*');
            assert!(
                is_part || is_value || is_pattern || OPERATIONS.iter().any(|o| name.starts_with(o)),
                "{others}: {name}"
            );
        }
    }
    for program in LMBENCH {
        let is_it = |others: &&str| {
            *others == program
                || others.starts_with(&format!("{program} "))
                || others.starts_with(&format!("{program},"))
        };
        let mut rows = lmbench.iter().filter(|(others, _)| is_it(&others.as_str()));
        let has_ours = rows.any(|(_, ours)| ours.contains('`'));
        assert!(has_ours, "{program}");
    }
    assert!(report.iter().filter(|(_, ours)| ours.contains('`')).count() >= 20);
}

/// Parameter values listed beside their benchmark.
const OPERATIONS: [&str; 4] = ["int_", "int64_", "float_", "double_"];

/// The programs of lmbench3's second table.
const LMBENCH: [&str; 39] = [
    "bw_file_rd",
    "bw_mem",
    "bw_mmap_rd",
    "bw_pipe",
    "bw_tcp",
    "bw_unix",
    "lat_connect",
    "lat_ctx",
    "lat_dram_page",
    "lat_fcntl",
    "lat_fifo",
    "lat_fs",
    "lat_http",
    "lat_mem_rd",
    "lat_mmap",
    "lat_ops",
    "lat_pagefault",
    "lat_pipe",
    "lat_pmake",
    "lat_proc",
    "lat_rpc",
    "lat_select",
    "lat_sem",
    "lat_sig",
    "lat_syscall",
    "lat_tcp",
    "lat_udp",
    "lat_unix",
    "lat_unix_connect",
    "lat_usleep",
    "cache",
    "disk",
    "line",
    "lmdd",
    "mhz",
    "par_mem",
    "par_ops",
    "stream",
    "tlb",
];

/// For tables with a column `ours`: the first cell of each row, and its cell in that column.
fn rows(page: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut ours = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(line) = line.strip_prefix('|') else {
            ours = None;
            continue;
        };
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let Some(column) = cells.iter().position(|c| *c == "ours") {
            ours = Some(column);
        } else if let Some(cell) = ours.and_then(|column| cells.get(column)) {
            found.push((cells[0].to_owned(), (*cell).to_owned()));
        }
    }
    found
}

const SUITE_HEAD: &str = "\
# The suite

What `yamba run` measures, by folder of `suite/`. Generated by `yamba list --md`. `yamba list NAME` shows the rest: what a
benchmark isolates, what it excludes, how it could be wrong, how to read it, and where it runs. Optional benchmarks run
only if you name them, or one of their tags: most are system calls for [predictions](prediction.md). Demonstrations run
only if you name them.

";
