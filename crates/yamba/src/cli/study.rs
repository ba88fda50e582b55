//! `yamba study`

pub(super) mod of_run;
mod template;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use yamba_record::Run;
use yamba_report::markdown;
use yamba_store::Detail;

use super::common_options::RunName;
use super::run::{self as running, Effort};
use super::run_ref::{self, Runs};
use super::{
    Answer, Failure, Libraries, StoreOption, TargetOption, Terminal, arguments, output,
    system_failure,
};
use crate::views::study::{Extent, page, view};
use yamba_harness::Stop;
use yamba_session::hardware::compare;
use yamba_session::study::{self, Opened, Request, StudyRow};

/// Measure a study and judge its predictions
///
/// A study is a file: text, measurements, and for each what it should cost and why. Verdicts are
/// computed: the interval of a figure lies within the predicted range, below it, above it, or
/// straddles an end of it; in that case the verdict is `unknown`. Without a name, the studies
/// that ship are listed.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  yamba study                              which studies ship
  yamba study system --quick               the whole machine, briefly
  yamba study pagefault --md > report.md   a document with text and tables
  yamba study system --from latest         the figures of a run that is kept
  yamba study system --from latest --html > page.html      a page of that run
  yamba study new course.toml              a study to fill in
  yamba study course.toml --lib .          with benchmarks of this folder

Exit status: 0 all figures are valid or skipped, whatever the verdicts; 1 one is not, or is not in the run;
2 wrong usage or input, or a run that has nothing of the study."
)]
pub(super) struct Study {
    #[command(subcommand)]
    make: Option<Make>,
    /// A study that ships, by its name, or a file
    #[arg(value_name = "NAME|FILE.toml")]
    study: Option<String>,
    /// Take the figures of this run instead of measuring: a stored run, or a run's document
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "set", "quick", "thorough", "time", "processes", "launches", "batches", "warmup", "precision", "percentiles", "seed",
        "disk_limit", "realtime", "placement", "cpu", "dry_run", "target", "name",
    ])]
    from: Option<String>,
    /// Give a parameter of the study this value; may be repeated
    ///
    /// In each measurement that names it.
    #[arg(long, value_name = "NAME=VALUE", value_parser = running::parameters::assignment)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    name: RunName,
    /// Build, and tell what would be measured and how long it takes
    #[arg(long)]
    dry_run: bool,
    /// One JSON document: each row with its figure, prediction and verdict
    #[arg(long, group = "form")]
    json: bool,
    /// A Markdown document with the study's text, tables and reasons
    #[arg(long, group = "form", conflicts_with = "dry_run")]
    md: bool,
    /// The report page of the run, with the study's table before its figures
    #[arg(long, group = "form", conflicts_with = "dry_run")]
    html: bool,
    /// Measure built programs, as where no compiler is: docs/release.md
    #[arg(long, conflicts_with = "from")]
    prebuilt: bool,
    #[command(flatten)]
    lib: Libraries,
    #[command(flatten)]
    target: TargetOption,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    effort: Effort,
}

#[derive(Subcommand)]
enum Make {
    /// Write a study to fill in
    ///
    /// No file is ever overwritten.
    New {
        /// Where it goes
        #[arg(value_name = "FILE.toml", default_value = "study.toml")]
        file: PathBuf,
    },
    /// Compare what `yamba hardware` found on two machines
    ///
    /// A machine differs from another one in a parameter if the intervals have nothing in common.
    Hardware {
        /// Two stored runs, or files of `yamba hardware --json`
        #[arg(value_names = ["A", "B"], num_args = 2, required = true)]
        machines: Vec<String>,
        /// One JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreOption,
    },
}

impl Study {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match &self.make {
            Some(Make::New { file }) => return template::write(file).map(|()| Answer::Done),
            Some(Make::Hardware { machines, json, store }) => {
                let compared = compare(machines, &store.choice())?;
                let view = crate::views::hardware::comparison;
                return output::json_or_view(*json, &compared, view).map(|()| Answer::Done);
            }
            None => {}
        }
        let Some(named) = &self.study else {
            return self.list().map(|()| Answer::Done);
        };
        if self.html {
            // Fails before the measurement if the page cannot name the store.
            run_ref::place(&self.store, self.from.as_deref())?;
        }
        running::parameters::each_once(&self.set, &[])?;
        let terminal = Terminal::default();
        let opened = study::open(&self.request(named), &terminal)?;
        let (run, set_parameters) = match &self.from {
            Some(reference) => self.kept(reference)?,
            None => match self.measure(&opened, &terminal)? {
                Some(run) => (run, Vec::new()),
                None => return Ok(Answer::Done),
            },
        };
        let study = &opened.study;
        let rows = study::rows(study, &run, &set_parameters);
        self.has_any(named, &run, &rows)?;
        self.show(study, &run, &rows)?;
        let is_bad = run.interrupted || rows.iter().any(StudyRow::is_failure);
        Ok(if is_bad { Answer::No } else { Answer::Done })
    }

    fn list(&self) -> Result<(), Failure> {
        let all = study::shipped()?;
        let each = all.iter();
        let each = each.map(|(name, title)| json!({"name": name, "title": title}));
        output::json_or_text(self.json, &each.collect::<Vec<_>>(), |_| {
            let rows = all.into_iter().map(|(name, title)| vec![name, title]);
            output::columns(&rows.collect::<Vec<_>>())
        })
    }

    fn request(&self, named: &str) -> Request {
        Request {
            named: named.to_owned(),
            set: self.set.clone(),
            libraries: self.lib.dirs.clone(),
            target: self.target.target.clone(),
            prebuilt: self.prebuilt,
        }
    }

    /// The stored run, and the parameters that its command line set.
    fn kept(&self, reference: &str) -> Result<(Run, Vec<String>), Failure> {
        // A variation within launches is computed from samples.
        let mut runs = Runs::new(self.store.choice());
        let run = run_ref::load_for_page(&mut runs, reference, Detail::Samples)?;
        let set_parameters = run.producer.set_parameters().into_iter().map(str::to_owned);
        let set_parameters = set_parameters.collect();
        Ok((run, set_parameters))
    }

    /// Fails if the named run has no entry of the study, since the user probably meant another run.
    fn has_any(&self, named: &str, run: &Run, rows: &[StudyRow<'_>]) -> Result<(), Failure> {
        if self.from.is_none() || rows.iter().any(|r| r.status.is_some()) {
            return Ok(());
        }
        let message = format!("run {} has nothing that {named} asks for", run_ref::plain(&run.id));
        Err(Failure::new(message).help(format!(
            "`yamba study {named}` measures it; `yamba runs` shows what each run measured"
        )))
    }

    /// Measures the study. `None` for a dry run.
    fn measure(&self, opened: &Opened, terminal: &Terminal) -> Result<Option<Run>, Failure> {
        let mut options = self.effort.options()?;
        options.origin.tags = self.name.tags(&self.store)?;
        let prepared = opened.prepare(options, &arguments(), terminal)?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        if self.dry_run {
            let plan = prepared.dry_run(&stop)?;
            running::dry_run::print(&plan, &opened.selection, &prepared.topics, self.json)?;
            return Ok(None);
        }
        let measured = prepared.measure(&stop, &self.store.choice(), terminal)?;
        running::note_stored(&measured);
        Ok(Some(measured.run))
    }

    fn show(&self, study: &study::Study, run: &Run, rows: &[StudyRow<'_>]) -> Result<(), Failure> {
        if self.json {
            output::json(&study::Answer::new(study, run, rows))
        } else if self.md {
            output::result(&markdown::document(&view(study, run, rows, Extent::Whole), 1))
        } else if self.html {
            let page = page(study, run, 0, rows);
            let place = run_ref::place(&self.store, self.from.as_deref())?;
            let runs = std::slice::from_ref(run);
            output::content(&yamba_report::html(runs, &[page], &[place], None))
        } else {
            output::result(&output::text(&view(study, run, rows, Extent::Brief)))
        }
    }
}
