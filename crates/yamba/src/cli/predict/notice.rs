//! The messages of `yamba predict` while it runs.

use yamba_predict::needs::Needs;
use yamba_record::number::{counted, listed};
use yamba_session::predict::{Doubt, Notice};

use crate::cli::java::measuring;
use crate::cli::run_ref;

/// Most benchmarks or primitives that a message names.
const NAMED: usize = 6;

/// The lines of text of a notice. Empty: none.
pub(super) fn text(notice: &Notice) -> String {
    match notice {
        Notice::Interrupted { run } => {
            format!("warning: {run} was stopped before it was done\n")
        }
        Notice::LeftOut { file, run } => run_ref::missing(file, run, run.left_out()),
        Notice::OtherState { run, difference } => {
            format!("warning: {}\n", difference.describe(&format!("in {run}"), "here"))
        }
        Notice::CostsBegin { benchmarks, most } => format!(
            "the prediction needs costs that no stored run of this machine has well enough: measuring {} for at most {} s in all, for later predictions, too; those that decide the most come first: {}\n",
            counted(benchmarks.len(), "benchmark", "benchmarks"),
            most.as_secs(),
            listed(benchmarks, NAMED)
        ),
        Notice::CostsEnd { unmeasured, needs } => longer(unmeasured, needs),
        Notice::AllCostsBegin { time_s } => format!(
            "measuring the costs of all primitives for about {time_s:.0} s, for later predictions, too\n"
        ),
        Notice::JavaCostsBegin { here, benchmarks } => format!(
            "no stored run has all costs of these calls: measuring the missing ones once, for later predictions, too\n{}",
            measuring(here, *benchmarks)
        ),
        Notice::Running { application, time, is_most } => {
            let up_to = if *is_most { "up to " } else { "" };
            format!("running {application} for {up_to}{} s of its time", time.as_secs())
        }
        Notice::RunEnded => String::new(),
        Notice::Doubtful { application, doubt } => doubtful(application, doubt),
    }
}

/// The gain of a longer measurement of costs. Empty: none.
fn longer(unmeasured: &[String], needs: &Needs) -> String {
    let mut text = String::new();
    if !unmeasured.is_empty() {
        text += &format!(
            "{} not measured in this time: {}; the next `yamba predict` goes on with them, and `--thorough` measures all for some minutes\n",
            counted(unmeasured.len(), "benchmark was", "benchmarks were"),
            listed(unmeasured, NAMED)
        );
    }
    let wide: Vec<&str> = needs.imprecise().iter().map(|need| need.primitive.as_str()).collect();
    if !wide.is_empty() {
        text += &format!(
            "the costs alone make an interval of {:.1} % to each side, most of it by {}: `--thorough` measures longer\n",
            100.0 * needs.half_width(),
            listed(&wide, NAMED)
        );
    }
    text
}

fn doubtful(application: &str, doubt: &Doubt) -> String {
    match doubt {
        Doubt::UnmeasuredCalls(reason) => format!("warning: --measure: {reason}\n"),
        Doubt::Failed(end) => format!(
            "warning: {application}: {end}: the measured time is that of a command that failed\n"
        ),
        Doubt::Short { used, within } => format!(
            "{application} used only {:.1} s of processor time in {} s, so its measured time is uncertain\n",
            used.as_secs_f64(),
            within.as_secs()
        ),
        Doubt::WithoutControlGroup => "without a control group, the kernel's share of short processes is too low: run as root, where /proc/self/mounts lists a cgroup2\n".to_owned(),
    }
}
