//! The rows of the tables: lmbench's name of each, and the corresponding point of a Yamba benchmark.

use yamba_record::Benchmark;

use super::figure::{bandwidth, either, latency};

/// A row of lmbench's table: its name there, and one point of a Yamba benchmark.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) benchmark: &'static str,
    pub(super) set: &'static [&'static str],
}

impl Row {
    /// The benchmark and its parameters, joined by `between`: `lat_pipe placement=same` with a space.
    pub(super) fn point(&self, between: &str) -> String {
        let words = [self.benchmark].into_iter().chain(self.set.iter().copied());
        words.collect::<Vec<&str>>().join(between)
    }
}

const fn row(name: &'static str, benchmark: &'static str, set: &'static [&'static str]) -> Row {
    Row {
        name,
        benchmark,
        set,
    }
}

pub(super) struct Table {
    pub(super) title: &'static str,
    /// The heading of the first column.
    pub(super) head: &'static str,
    pub(super) rows: &'static [Row],
    pub(super) figure: fn(&Benchmark) -> Option<String>,
}

pub(super) const TABLES: [Table; 6] = [
    Table {
        title: "Latency (table 4): the median of the processes' medians",
        head: "lmbench",
        rows: LATENCY,
        figure: latency,
    },
    Table {
        title: "Bandwidth (table 5): all processes together",
        head: "lmbench",
        rows: BANDWIDTH,
        figure: bandwidth,
    },
    Table {
        title: "Files (table 6): bandwidth of all together, latency of each",
        head: "lmbench",
        rows: FILES,
        figure: either,
    },
    Table {
        title: "A load from memory (figure 4), in the order of addresses",
        head: "size",
        rows: FORWARD,
        figure: latency,
    },
    Table {
        title: "A load from memory, in random order",
        head: "size",
        rows: RANDOM,
        figure: latency,
    },
    Table {
        title: "The other programs of lmbench's that scale: bandwidth of all together, all else of each",
        head: "lmbench",
        rows: OTHERS,
        figure: either,
    },
];

const SAME: &str = "placement=same";
const LOOPBACK: &str = "host=loopback";
/// A size that exceeds the caches.
const LARGE: &str = "size=64M";

const LATENCY: &[Row] = &[
    row("null call", "lat_syscall_getppid", &[]),
    row("null I/O: read", "lat_syscall_read", &[]),
    row("null I/O: write", "lat_syscall_write", &[]),
    row("stat", "lat_syscall_stat", &[]),
    row("open/close", "lat_open_close", &[]),
    row(
        "select (100 TCP)",
        "lat_select",
        &["kind=tcp", "descriptors=100"],
    ),
    row("signal install", "lat_sig_install", &[]),
    row("signal handler", "lat_sig_catch", &[]),
    row("fork process", "lat_fork_exit", &[]),
    row("exec process", "lat_proc_exec", &["program=tiny"]),
    row("sh process", "lat_proc_shell", &["program=/bin/true"]),
    row("pipe", "lat_pipe", &[SAME]),
    row("unix socket", "lat_unix", &[SAME, "message=1"]),
    row("UDP", "lat_udp", &[SAME, LOOPBACK, "message=1"]),
    row("TCP", "lat_tcp", &[SAME, LOOPBACK, "message=1"]),
    row("rpc (UDP)", "lat_rpc", &["transport=udp", SAME, LOOPBACK]),
    row("rpc (TCP)", "lat_rpc", &["transport=tcp", SAME, LOOPBACK]),
];

const BANDWIDTH: &[Row] = &[
    row("pipe", "bw_pipe", &[SAME, "message=64K"]),
    row("unix socket", "bw_unix", &[SAME, "message=64K"]),
    row("TCP", "bw_tcp", &[SAME, LOOPBACK, "message=64K"]),
    row("bcopy (libc)", "bw_mem_copy", &[LARGE]),
    row("bcopy (hand)", "bw_mem_cp", &[LARGE]),
    row("memory read", "bw_mem_rd", &[LARGE]),
    row("memory write", "bw_mem_wr", &[LARGE]),
    row("STREAM copy", "stream_copy", &[]),
    row("STREAM scale", "stream_scale", &[]),
    row("STREAM sum", "stream_add", &[]),
    row("STREAM triad", "stream_triad", &[]),
    row("STREAM2 fill", "stream2_fill", &[]),
    row("STREAM2 copy", "stream2_copy", &[]),
    row("STREAM2 daxpy", "stream2_daxpy", &[]),
    row("STREAM2 sum", "stream2_sum", &[]),
];

/// The number of page faults per pass. A pass outlasts a time slice of the scheduler; in a shorter one, the load would not be visible.
const LONG_PASS: &str = "touches=8192";

/// One page in sixteen, as in lmbench.
const APART: &str = "stride=64K";

const FILES: &[Row] = &[
    row(
        "bw_file_rd, shared",
        "bw_file_rd",
        &["touch=true", "open_inside=false", "shared=true"],
    ),
    row(
        "bw_file_rd, own files",
        "bw_file_rd",
        &["touch=true", "open_inside=false", "shared=false"],
    ),
    row(
        "bw_mmap_rd, shared",
        "bw_mmap_rd",
        &["map_inside=false", "shared=true"],
    ),
    row(
        "bw_mmap_rd, own files",
        "bw_mmap_rd",
        &["map_inside=false", "shared=false"],
    ),
    row("lat_mmap, shared", "lat_mmap", &["size=4M", "shared=true"]),
    row(
        "lat_mmap, own files",
        "lat_mmap",
        &["size=4M", "shared=false"],
    ),
    row(
        "lat_pagefault, shared",
        "lat_pagefault_minor",
        &[LONG_PASS, APART, "shared=true"],
    ),
    row(
        "lat_pagefault, own files",
        "lat_pagefault_minor",
        &[LONG_PASS, APART, "shared=false"],
    ),
    row(
        "lat_pagefault, own files on storage",
        "pagefault",
        &["scale=16"],
    ),
];

/// The paper's stride: one cache line of its machine, half a line of current ones.
const STRIDE: &str = "stride=32";

const FORWARD: &[Row] = &[
    row("16 KiB", "lat_mem_rd_forward", &["size=16K", STRIDE]),
    row("64 KiB", "lat_mem_rd_forward", &["size=64K", STRIDE]),
    row("256 KiB", "lat_mem_rd_forward", &["size=256K", STRIDE]),
    row("1 MiB", "lat_mem_rd_forward", &["size=1M", STRIDE]),
    row("4 MiB", "lat_mem_rd_forward", &["size=4M", STRIDE]),
    row("16 MiB", "lat_mem_rd_forward", &["size=16M", STRIDE]),
    row("64 MiB", "lat_mem_rd_forward", &["size=64M", STRIDE]),
    row("128 MiB", "lat_mem_rd_forward", &["size=128M", STRIDE]),
];

const RANDOM: &[Row] = &[
    row("16 KiB", "lat_mem_rd", &["size=16K"]),
    row("64 KiB", "lat_mem_rd", &["size=64K"]),
    row("256 KiB", "lat_mem_rd", &["size=256K"]),
    row("1 MiB", "lat_mem_rd", &["size=1M"]),
    row("4 MiB", "lat_mem_rd", &["size=4M"]),
    row("16 MiB", "lat_mem_rd", &["size=16M"]),
    row("64 MiB", "lat_mem_rd", &["size=64M"]),
    row("128 MiB", "lat_mem_rd", &["size=128M"]),
];

const OTHERS: &[Row] = &[
    row("lat_syscall fstat", "lat_syscall_fstat", &[]),
    row("lat_sig prot", "lat_sig_protection", &[]),
    row("lat_proc procedure", "lat_call", &["arguments=0"]),
    row(
        "lat_select (100 files)",
        "lat_select",
        &["kind=file", "descriptors=100"],
    ),
    row("lat_usleep", "lat_usleep", &["microseconds=1000"]),
    row(
        "lat_ctx (2p/0K)",
        "lat_ctx",
        &["partners=2", "footprint=0", SAME],
    ),
    row(
        "lat_ctx (16p/16K)",
        "lat_ctx",
        &["partners=16", "footprint=16K", SAME],
    ),
    row("lat_fifo", "lat_fifo", &[SAME]),
    row("lat_fcntl", "lat_fcntl", &[SAME]),
    row("lat_sem", "lat_sem", &[SAME]),
    row("lat_unix_connect", "lat_unix_connect", &[SAME]),
    row("lat_pmake (4 jobs)", "lat_pmake", &["jobs=4"]),
    row(
        "lat_fs, created in a folder for all",
        "lat_fs",
        &["operation=create", "size=0", "shared=true"],
    ),
    row(
        "lat_fs, created in own folders",
        "lat_fs",
        &["operation=create", "size=0", "shared=false"],
    ),
    row(
        "lat_fs, deleted from a folder for all",
        "lat_fs",
        &["operation=delete", "size=0", "shared=true"],
    ),
    row(
        "lat_fs, deleted from own folders",
        "lat_fs",
        &["operation=delete", "size=0", "shared=false"],
    ),
    row("lat_ops, int mul", "lat_ops", &["operation=int_mul"]),
    row("lat_ops, double add", "lat_ops", &["operation=double_add"]),
    row("par_ops, int mul", "par_ops", &["operation=int_mul"]),
    row("par_ops, double add", "par_ops", &["operation=double_add"]),
    row("par_mem", "par_mem", &["size=64M"]),
    row("lat_dram_page", "lat_dram_page", &[]),
    row("bw_mem frd", "bw_mem_frd", &[LARGE]),
    row("bw_mem fwr", "bw_mem_fwr", &[LARGE]),
    row("bw_mem fcp", "bw_mem_fcp", &[LARGE]),
    row("bw_mem rdwr", "bw_mem_rdwr", &[LARGE]),
    row("bw_mem bzero", "bw_mem_bzero", &[LARGE]),
];
