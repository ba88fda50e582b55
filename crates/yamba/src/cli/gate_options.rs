//! The limits of a gate, for commands that compare.

use clap::Args;
use yamba_compare::gate::Limits;
use yamba_record::Run;

use super::{Failure, quantity, run_ref};

/// The limits of a gate.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct GateOptions {
    /// Exit with 1 if a benchmark is slower by more than this, as 5%, with both sides measured
    /// together. GLOB=SHARE: the limit of these benchmarks; of several the last that matches counts
    #[arg(long, value_name = "[GLOB=]SHARE", value_parser = limit)]
    pub fail_above: Vec<Limit>,
    /// With --fail-above: exit with 1 also if a benchmark is undecided or lost (no figure in B), or
    /// a process failed
    #[arg(long, requires = "fail_above")]
    pub strict: bool,
}

/// The benchmarks that a limit is for, if not for all, and the limit.
pub(super) type Limit = (Option<String>, f64);

fn limit(text: &str) -> Result<Limit, String> {
    match text.rsplit_once('=') {
        Some(("", _)) => Err("write GLOB=SHARE, as 'lat_*=10%', or a share alone".to_owned()),
        Some((names, share)) => Ok((Some(names.to_owned()), quantity::share(share)?)),
        None => Ok((None, quantity::share(text)?)),
    }
}

impl GateOptions {
    /// Whether a limit is there.
    pub fn is_on(&self) -> bool {
        !self.fail_above.is_empty()
    }

    /// Checks what can be checked before the benchmarks are known.
    ///
    /// # Errors
    /// If two limits are for all benchmarks, or a glob is wrong.
    pub fn check(&self) -> Result<(), Failure> {
        let general = self.fail_above.iter().filter(|(pattern, _)| pattern.is_none());
        if general.count() > 1 {
            return Err(Failure::new("--fail-above: two limits are for all benchmarks")
                .help("give one, and others for names or globs: --fail-above 'lat_*=10%'"));
        }
        let mut patterns = self.fail_above.iter().filter_map(|(pattern, _)| pattern.as_ref());
        patterns.try_for_each(|pattern| run_ref::means(pattern, "").map(|_| ()))
    }

    /// The limit of each benchmark of these runs.
    ///
    /// # Errors
    /// Those of [`check`](GateOptions::check), or if a name or glob matches nothing.
    pub fn limits(&self, runs: &[&Run]) -> Result<Limits, Failure> {
        self.check()?;
        let mut limits = Limits::default();
        for (pattern, limit) in &self.fail_above {
            let Some(pattern) = pattern else {
                limits.general = Some(*limit);
                continue;
            };
            let names = runs.iter().flat_map(|run| &run.benchmarks).map(|b| &b.name);
            let mut is_known = false;
            for name in names {
                if run_ref::means(pattern, name)? {
                    is_known = true;
                    limits.own.insert(name.clone(), *limit);
                }
            }
            if !is_known {
                return Err(run_ref::unknown(pattern, runs));
            }
        }
        Ok(limits)
    }
}
