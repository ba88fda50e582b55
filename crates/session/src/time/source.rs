//! Builds a Yamba program from texts on a command line. Errors are shown at their place in the
//! user's text, never in the generated program around it.

use std::ops::Range;

use yamba_lang::diagnostic::{Diagnostic, Label};
use yamba_lang::source::{FileId, SourceMap, Span};
use yamba_lang::{Analysis, ClassId, Input};

use super::compiler_help;
use yamba_toolchain::embedded::Home;
use yamba_toolchain::files::{Disk, Unreadable};

/// A program under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    text: String,
    pieces: Vec<Piece>,
}

/// A text of the user in the program.
#[derive(Clone, Debug)]
struct Piece {
    /// The name that messages show in the place of a file name.
    name: String,
    text: String,
    /// The range of the text in the program.
    range: Range<u32>,
}

impl Source {
    /// Adds generated text.
    pub(super) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a text of the user, and returns its range.
    pub(super) fn add_user_text(&mut self, name: &str, text: &str) -> Range<u32> {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let range = start..self.text.len() as u32;
        self.pieces.push(Piece {
            name: name.to_owned(),
            text: text.to_owned(),
            range: range.clone(),
        });
        range
    }

    /// Analyses the program, and `more` with it, as if it were a file of the library: files in the
    /// current folder are ignored.
    pub(super) fn analyse(
        self,
        class: &str,
        more: Vec<Input>,
        home: &Home,
    ) -> Result<Analysed, Unreadable> {
        let path = home.library.join(format!("{class}.yamba"));
        let path = path.display().to_string();
        let mut roots = vec![Input { path: path.clone(), text: self.text }];
        roots.extend(more);
        let disk = Disk::new(Vec::new(), home)?;
        let analysis = yamba_lang::analyse(roots, &disk);
        let own = analysis.sources.files().find(|(_, f)| f.path == path);
        let file = own.map(|(id, _)| id);
        Ok(Analysed { file, pieces: self.pieces, analysis })
    }
}

/// An analysed program.
pub(super) struct Analysed {
    pub(super) analysis: Analysis,
    file: Option<FileId>,
    pieces: Vec<Piece>,
}

impl Analysed {
    /// The class with this name; `None` if a text of the user broke the structure of the program.
    pub(super) fn class(&self, name: &str) -> Option<ClassId> {
        let mut requested = self.analysis.requested().into_iter();
        requested.find(|id| self.analysis.class(*id).name() == name)
    }

    /// Whether a place is in the program itself, not in the library.
    pub(super) fn is_own(&self, span: Span) -> bool {
        Some(span.file) == self.file
    }

    /// The diagnostics of the program as an error.
    pub(super) fn refused(&self) -> super::Refused {
        super::Refused::Diagnostics(self.located(&self.analysis.diagnostics))
    }

    /// Maps the places of diagnostics from the generated program to the user's texts. The sources
    /// of the result contain these texts.
    pub(super) fn located(&self, diagnostics: &[Diagnostic]) -> LocatedDiagnostics {
        let mut sources = SourceMap::default();
        for (_, file) in self.analysis.sources.files() {
            sources.add(file.path.as_str(), file.text.as_str());
        }
        let pieces = self.pieces.iter();
        let ids = pieces.map(|p| sources.add(p.name.as_str(), p.text.as_str()));
        let ids: Vec<FileId> = ids.collect();
        let moved = diagnostics.iter().map(|d| self.moved(d, &ids));
        let mut diagnostics: Vec<Diagnostic> = moved.collect();
        compiler_help::helped(&mut diagnostics, &sources);
        LocatedDiagnostics { sources, diagnostics }
    }

    fn moved(&self, diagnostic: &Diagnostic, ids: &[FileId]) -> Diagnostic {
        let place = |label: &Label| {
            let span = self.span(label.span, ids)?;
            let text = label.text.clone();
            Some(Label { span, text })
        };
        let outside = |label: &Label| !self.is_own(label.span);
        let mut moved = diagnostic.clone();
        let kept = |label: &Label| place(label).or_else(|| outside(label).then(|| label.clone()));
        moved.secondary = diagnostic.secondary.iter().filter_map(kept).collect();
        moved.primary = place(&diagnostic.primary)
            .or_else(|| moved.secondary.first().cloned())
            .or_else(|| self.nearest(diagnostic.primary.span, ids))
            .unwrap_or_else(|| diagnostic.primary.clone());
        moved
    }

    /// The user's text to which an error elsewhere in the generated program is attributed: the last
    /// text that begins before the error.
    fn nearest(&self, span: Span, ids: &[FileId]) -> Option<Label> {
        if !self.is_own(span) {
            return None;
        }
        let before = |p: &&Piece| p.range.start <= span.start;
        let index = self.pieces.iter().rposition(|p| before(&p)).unwrap_or(0);
        let file = *ids.get(index)?;
        let end = self.pieces[index].text.len() as u32;
        Some(Label { span: Span { file, start: 0, end }, text: String::new() })
    }

    fn span(&self, span: Span, ids: &[FileId]) -> Option<Span> {
        let inside = |p: &Piece| p.range.start <= span.start && span.start <= p.range.end;
        if !self.is_own(span) {
            return None;
        }
        let index = self.pieces.iter().position(inside)?;
        let range = &self.pieces[index].range;
        Some(Span {
            file: ids[index],
            start: span.start - range.start,
            end: span.end.min(range.end) - range.start,
        })
    }
}

/// Diagnostics with the texts that they refer to.
pub struct LocatedDiagnostics {
    /// The texts.
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
}
