//! Programs of other processes that the kernel runs at its trace points, as BPF does.

use std::collections::BTreeSet;

use yamba_record::machine::details::Tracer;

use super::source::Source;

/// Open files of a process that are looked at. A server's thousands of connections would take a
/// second, and a tracer has few files.
const FILES: usize = 1000;

/// The processes other than `own` that keep a program at a trace point. Without privilege, those of
/// other users are unknown.
pub(super) fn tracers(source: &impl Source, own: u32) -> Vec<Tracer> {
    let ids = source.list("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
    ids.filter(|id| *id != own).filter_map(|id| tracer(source, id)).collect()
}

fn tracer(source: &impl Source, id: u32) -> Option<Tracer> {
    let folder = format!("/proc/{id}/fdinfo");
    let files = source.list(&folder).into_iter().take(FILES);
    let points: BTreeSet<String> =
        files.filter_map(|file| trace_point(&source.read(&format!("{folder}/{file}"))?)).collect();
    (!points.is_empty()).then(|| Tracer {
        process: u64::from(id),
        name: source.word(&format!("/proc/{id}/comm")),
        points: points.into_iter().collect(),
    })
}

/// The trace point in the description of a file that keeps a program there.
fn trace_point(description: &str) -> Option<String> {
    let field = |name: &str| {
        let mut lines = description.lines();
        lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    };
    field("link_type")?;
    field("tp_name").filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    /// As Linux 6.18 writes them: two trace points, a clock's event, a map and a terminal.
    #[test]
    fn processes_with_programs_at_trace_points_are_found() {
        let own = "== /proc/4/comm\nyamba\n== /proc/4/fdinfo/3\nlink_type:\traw_tracepoint\ntp_name:\tsys_exit\n";
        let other = "== /proc/7/comm\nagent\n== /proc/7/fdinfo/0\npos:\t0\nflags:\t02\n== /proc/7/fdinfo/12\npos:\t0\nlink_type:\traw_tracepoint\nlink_id:\t5373\nprog_tag:\t11a1\nprog_id:\t2559\ntp_name:\tsys_enter\ncookie:\t0\n== /proc/7/fdinfo/13\nlink_type:\tperf\nlink_id:\t4\ntype:\t2\nevent_type:\ttracepoint\ntp_name:\tsched_switch\n== /proc/7/fdinfo/14\nlink_type:\tperf\nevent_type:\tevent\n== /proc/7/fdinfo/15\nmap_type:\t2\nmap_id:\t1905\n";
        let idle = "== /proc/9/comm\nsh\n== /proc/9/fdinfo/0\npos:\t0\n== /proc/loadavg\n0.1\n";
        let sample = Sample::new(&[own, other, idle].concat());
        let agent = Tracer {
            process: 7,
            name: Some("agent".to_owned()),
            points: vec!["sched_switch".to_owned(), "sys_enter".to_owned()],
        };
        assert_eq!(tracers(&sample, 4), [agent]);
    }
}
