//! `yamba tag`

use super::{Failure, StoreOption, output, run_ref};
use clap::Args;
use serde_json::json;

/// Name a stored run, or remove a name
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba tag latest baseline            from now on `yamba show baseline` means this run
  yamba tag 3f2a before-upgrade quiet  two names at once
  yamba tag baseline quiet --remove
  yamba tag latest v1 --json | jq -r .id         which run it was

A tag that several runs have means the latest of them.")]
pub(super) struct Tag {
    /// The beginning of an id, a tag, `latest`, or `latest~N`
    #[arg(value_name = "RUN")]
    run: String,
    /// Tags: letters, digits and . _ / -
    #[arg(value_name = "TAG", required = true)]
    tags: Vec<String>,
    /// Take these away
    #[arg(long)]
    remove: bool,
    /// One JSON document: {id, tags}, all that the run then has
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Tag {
    pub(super) fn run(self) -> Result<(), Failure> {
        if !self.remove {
            for tag in &self.tags {
                check(tag)?;
            }
        }
        let mut store = self.store.choice().existing()?;
        let run = run_ref::find(&mut store, &self.run)?;
        let lacks = |tag: &&String| !run.head.tags.contains(tag);
        if let Some(tag) = self.tags.iter().find(lacks).filter(|_| self.remove) {
            return Err(Failure::new(format!("run {} has no tag {tag}", run.id))
                .help("`yamba runs` shows the tags of each"));
        }
        for tag in &self.tags {
            store.tag(&run.id, tag, !self.remove)?;
        }
        let tags = run_ref::find(&mut store, &run.id)?.head.tags;
        if self.json {
            return output::json(&json!({"id": run.id, "tags": tags}));
        }
        let has = match tags.join(" ") {
            none if none.is_empty() => "no tags".to_owned(),
            tags => run_ref::plain(&tags),
        };
        output::result(&format!("{}: {has}\n", run_ref::plain(&run.id)))
    }
}

/// Rejects invalid and ambiguous tags.
pub(super) fn check(tag: &str) -> Result<(), Failure> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    if tag.is_empty() || !tag.chars().all(is_allowed) {
        return Err(Failure::new(format!("{tag:?} cannot be a tag"))
            .help("a tag is made of letters, digits and . _ / -"));
    }
    if matches!(tag, "latest" | "latest-vector") {
        return Err(Failure::new(format!("`{tag}` cannot be a tag: it means the latest one"))
            .help("choose another name"));
    }
    if tag.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')) {
        return Err(Failure::new(format!("{tag} cannot be a tag: a run's id may begin so"))
            .help("add a character that is no hexadecimal digit, as in v1 or day-20"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_cannot_be_an_id_or_latest() {
        for good in ["baseline", "v1", "feature/x-2_b.c", "day-20", "ABC", "latest-one"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in
            ["", "a b", "latest", "latest-vector", "latest~1", "2026", "cafe", "grün", "x\x1b"]
        {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
