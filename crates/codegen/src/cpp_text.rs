//! The author's C++ in a program, by file.

use std::collections::HashSet;

use yamba_lang::ast::{self, MemberKind, Param};
use yamba_lang::model::ClassId;
use yamba_lang::source::FileId;

use crate::context::Context;
use crate::text::add_words;

/// All classes of the program.
pub(crate) fn classes(context: &Context) -> Vec<ClassId> {
    let mut classes = Vec::new();
    for variant in &context.program.variants {
        for composition in variant.parts.iter().chain([variant]) {
            for layer in &composition.layers {
                if !classes.contains(&layer.class) {
                    classes.push(layer.class);
                }
            }
        }
    }
    classes
}

/// The files of those classes. Each precedes the files whose classes build on it.
pub(crate) fn files(context: &Context) -> Vec<FileId> {
    let mut files = Vec::new();
    for class in classes(context) {
        let file = context.analysis.class(class).file;
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// The C++ of one file: its `native` blocks, and the members of the classes that the program has
/// from it.
pub(crate) fn file_texts<'a>(context: &Context<'a>, file: FileId) -> Vec<&'a str> {
    let analysis = context.analysis;
    let natives = &analysis.files[file.0 as usize].natives;
    let mut texts: Vec<&str> = natives.iter().map(|n| analysis.cpp(*n)).collect();
    let classes = classes(context).into_iter();
    for class in classes.map(|c| analysis.class(c)).filter(|c| c.file == file) {
        for member in &class.ast.members {
            texts.extend(member_texts(context, &member.kind));
        }
    }
    texts
}

fn member_texts<'a>(context: &Context<'a>, kind: &MemberKind) -> Vec<&'a str> {
    let analysis = context.analysis;
    let cpp = match kind {
        MemberKind::Native(body) => Some(*body),
        MemberKind::State { ty, init, .. } => {
            // A type that is defined in the declaration may have functions.
            let ty = Some(analysis.cpp(*ty)).filter(|ty| ty.contains('{'));
            return ty.into_iter().chain(init.map(|i| analysis.cpp(i))).collect();
        }
        MemberKind::Assign { values, .. } | MemberKind::Param(Param { values, .. }) => values.value,
        MemberKind::Bitstring(b) => {
            let mut texts = Vec::new();
            let body = b.body.as_deref().unwrap_or_default();
            ast::walk(body, &mut |term| {
                texts.extend(term.expressions().into_iter().map(|cpp| analysis.cpp(cpp)));
            });
            return texts;
        }
        kind => kind.body(),
    };
    cpp.map(|cpp| analysis.cpp(cpp)).into_iter().collect()
}

/// The words of all C++ in the program.
pub(crate) fn words<'a>(context: &Context<'a>) -> HashSet<&'a str> {
    let mut words = HashSet::new();
    for text in files(context).into_iter().flat_map(|f| file_texts(context, f)) {
        add_words(text, &mut words);
    }
    words
}
