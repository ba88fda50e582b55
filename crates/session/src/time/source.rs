//! A Yamba program made of what a person typed on a command line. What is wrong with a piece is shown in that piece,
//! as it was typed, and never in the program around it.

use std::ops::Range;

use yamba_lang::diagnostic::{Diagnostic, Label};
use yamba_lang::source::{FileId, SourceMap, Span};
use yamba_lang::{Analysis, ClassId, Input};

use super::mend;
use yamba_toolchain::embedded::Home;
use yamba_toolchain::files::{Disk, Unreadable};

/// A program under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    text: String,
    pieces: Vec<Piece>,
}

/// Something that a person typed.
#[derive(Clone, Debug)]
struct Piece {
    /// What messages call it, as they call a file.
    name: String,
    text: String,
    /// Where it stands in the program.
    range: Range<u32>,
}

impl Source {
    /// Adds text of ours.
    pub(super) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds what a person typed, and returns where it stands.
    pub(super) fn given(&mut self, name: &str, text: &str) -> Range<u32> {
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

    /// Reads the program, and `more` with it, as if it were a file of the library: what lies in the current folder has
    /// no part in it.
    pub(super) fn analyse(
        self,
        class: &str,
        more: Vec<Input>,
        home: &Home,
    ) -> Result<Analysed, Unreadable> {
        let path = home.library.join(format!("{class}.yamba"));
        let path = path.display().to_string();
        let mut roots = vec![Input {
            path: path.clone(),
            text: self.text,
        }];
        roots.extend(more);
        let disk = Disk::new(Vec::new(), home)?;
        let analysis = yamba_lang::analyse(roots, &disk);
        let own = analysis.sources.files().find(|(_, f)| f.path == path);
        let file = own.map(|(id, _)| id);
        Ok(Analysed {
            file,
            pieces: self.pieces,
            analysis,
        })
    }
}

/// A program that was read.
pub(super) struct Analysed {
    pub(super) analysis: Analysis,
    file: Option<FileId>,
    pieces: Vec<Piece>,
}

impl Analysed {
    /// A class of it, unless a piece has brought the program out of shape.
    pub(super) fn class(&self, name: &str) -> Option<ClassId> {
        let mut requested = self.analysis.requested().into_iter();
        requested.find(|id| self.analysis.class(*id).name() == name)
    }

    /// Whether a place is in the program itself, not in the library.
    pub(super) fn is_own(&self, span: Span) -> bool {
        Some(span.file) == self.file
    }

    /// What is wrong with it.
    pub(super) fn refused(&self) -> super::Refused {
        super::Refused::Diagnostics(self.told(&self.analysis.diagnostics))
    }

    /// Diagnostics with their places in the pieces, and the texts that those places are of.
    pub(super) fn told(&self, diagnostics: &[Diagnostic]) -> Told {
        let mut sources = SourceMap::default();
        for (_, file) in self.analysis.sources.files() {
            sources.add(file.path.as_str(), file.text.as_str());
        }
        let ids: Vec<FileId> = self
            .pieces
            .iter()
            .map(|p| sources.add(p.name.as_str(), p.text.as_str()))
            .collect();
        let mut diagnostics: Vec<Diagnostic> =
            diagnostics.iter().map(|d| self.moved(d, &ids)).collect();
        mend::helped(&mut diagnostics);
        Told {
            sources,
            diagnostics,
        }
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

    /// What is found wrong with the program around a piece, the piece before it has done.
    fn nearest(&self, span: Span, ids: &[FileId]) -> Option<Label> {
        if !self.is_own(span) {
            return None;
        }
        let before = |p: &&Piece| p.range.start <= span.start;
        let index = self.pieces.iter().rposition(|p| before(&p)).unwrap_or(0);
        let file = *ids.get(index)?;
        let end = self.pieces[index].text.len() as u32;
        Some(Label {
            span: Span {
                file,
                start: 0,
                end,
            },
            text: String::new(),
        })
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

/// Diagnostics and the texts that their places are of.
pub struct Told {
    /// The texts.
    pub sources: SourceMap,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
}
