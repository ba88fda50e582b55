//! From syntax trees to resolved classes.

use crate::model::{Analysis, ClassId, Program, Target};
use crate::{Files, Input};

/// See [`crate::analyse`].
pub(crate) fn analyse(roots: Vec<Input>, files: &dyn Files) -> Analysis {
    let _ = (roots, files);
    todo!("resolve")
}

impl Analysis {
    /// Every pair of an instruction set and an operating system of the library.
    pub fn targets(&self) -> Vec<Target> {
        todo!()
    }
    /// The classes of the files that were named, in order.
    pub fn requested(&self) -> Vec<ClassId> {
        todo!()
    }
    /// Whether a class is a benchmark that a person can run somewhere: no port, no mere shape.
    pub fn is_listed(&self, class: ClassId) -> bool {
        let _ = class;
        todo!()
    }
    /// The class of this name: of a requested file first, else any that was read.
    pub fn find_class(&self, name: &str) -> Option<ClassId> {
        let _ = name;
        todo!()
    }
    /// What a class is on a target. Call only on an analysis without errors.
    pub fn program(&self, class: ClassId, target: &Target) -> Program {
        let _ = (class, target);
        todo!()
    }
    /// The string that initialises the state `name` of the instruction set `isa`, if it has it.
    pub fn isa_property(&self, isa: &str, name: &str) -> Option<String> {
        let _ = (isa, name);
        todo!()
    }
    /// The tags of a class and its bases.
    pub fn tags(&self, class: ClassId) -> Vec<String> {
        let _ = class;
        todo!()
    }
}
