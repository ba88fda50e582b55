//! Events of a prediction that the user should know about. None of them ends it.

use std::process::ExitStatus;
use std::time::Duration;

use yamba_compare::identity::Difference;
use yamba_predict::needs::Needs;
use yamba_record::Run;

use crate::java::JavaHere;

/// An event while applications are predicted.
pub enum Notice<'a> {
    /// A run that the user named was stopped before it was done.
    Interrupted {
        /// The run, as the user names it.
        run: &'a str,
    },
    /// A file of another program has results that the run lacks.
    LeftOut {
        /// The file, as the user names it.
        file: &'a str,
        /// The run that was read from it.
        run: &'a Run,
    },
    /// The application is measured on this machine in another state than that of the costs.
    OtherState {
        /// The run with the costs.
        run: &'a str,
        /// The difference between the machine of the run and this one.
        difference: &'a Difference,
    },
    /// Costs are measured that no stored run of this machine has well enough.
    CostsBegin {
        /// The benchmarks, the one that decides the most first.
        benchmarks: Vec<&'a str>,
        /// The most time that this takes.
        most: Duration,
    },
    /// That measurement has ended.
    CostsEnd {
        /// The benchmarks that were not measured.
        unmeasured: &'a [String],
        /// The costs that the predictions need, with those that are known now.
        needs: &'a Needs,
    },
    /// The costs of all primitives are measured.
    AllCostsBegin {
        /// The expected time, in seconds.
        time_s: f64,
    },
    /// Costs of a Java virtual machine are measured that no stored run has.
    JavaCostsBegin {
        /// The virtual machine.
        here: &'a JavaHere,
        /// Number of the benchmarks.
        benchmarks: usize,
    },
    /// An application runs from now on, to be measured.
    Running {
        /// Its name.
        application: &'a str,
        /// How much processor time it uses.
        time: Duration,
        /// Whether it may use less.
        is_most: bool,
    },
    /// The application has ended.
    RunEnded,
    /// The measured time of an application is doubtful.
    Doubtful {
        /// Its name.
        application: &'a str,
        /// The reason.
        doubt: &'a Doubt,
    },
}

/// Why the measured time of an application is doubtful.
#[derive(Clone, Debug)]
pub enum Doubt {
    /// The part of its calls that clock ticks miss was not measured, for this reason.
    UnmeasuredCalls(String),
    /// The command failed.
    Failed(ExitStatus),
    /// It used little processor time.
    Short {
        /// The processor time.
        used: Duration,
        /// How long it ran.
        within: Duration,
    },
    /// Without a control group, the kernel's share of short processes is too low.
    WithoutControlGroup,
}
