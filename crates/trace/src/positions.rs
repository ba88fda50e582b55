//! The positions of open files, from the calls that open, move, copy and close descriptors.

use std::collections::HashMap;

use crate::call::{Arguments, Call, Property};

/// Number of an open file, which several descriptors may share.
type Open = usize;

/// The positions of all traced processes. A descriptor that was open before has no position.
#[derive(Debug, Default)]
pub struct Positions {
    /// The table of each process. Threads share one.
    of_process: HashMap<u32, usize>,
    tables: Vec<HashMap<i64, Open>>,
    /// The position of each open file, in bytes.
    positions: Vec<i64>,
}

impl Positions {
    /// Follows a call that has returned.
    pub fn follow(&mut self, process: u32, call: &Call) {
        let Some(result @ 0..) = call.result else {
            return;
        };
        let arguments = call.arguments;
        match call.name.as_ref() {
            "open" | "openat" | "openat2" | "creat" if arguments.has(Property::Appends) => {
                self.table(process).remove(&result);
            }
            "open" | "openat" | "openat2" | "creat" => {
                self.positions.push(0);
                let open = self.positions.len() - 1;
                self.table(process).insert(result, open);
            }
            "lseek" => {
                if let Some(open) = self.open(process, arguments, 0) {
                    self.positions[open] = result;
                }
            }
            // The call of 32-bit processes writes the position to its third argument.
            "_llseek" => {
                let open = self.open(process, arguments, 0);
                if let (Some(open), Some(position)) = (open, arguments.pair(2).first()) {
                    self.positions[open] = *position;
                }
            }
            "dup" | "dup2" | "dup3" => self.copy(process, arguments, result),
            // `F_SETFL`. The flag is one of the open file, and so of all its descriptors.
            "fcntl" | "fcntl64" if arguments.has(Property::Appends) => {
                if let Some(open) = self.open(process, arguments, 0) {
                    let tables = self.tables.iter_mut();
                    tables.for_each(|table| table.retain(|_, other| *other != open));
                }
            }
            "fcntl" | "fcntl64" if arguments.has(Property::Duplicates) => {
                self.copy(process, arguments, result);
            }
            "close" => {
                let closed = arguments.descriptor(0).unwrap_or(-1);
                self.table(process).remove(&closed);
            }
            _ => {}
        }
    }

    /// Forgets all positions: calls that are missing in the record may have moved them.
    pub fn forget(&mut self) {
        self.tables.iter_mut().for_each(HashMap::clear);
    }

    /// Follows the making of a process or thread.
    pub fn begin(&mut self, parent: u32, child: u32, shares_files: bool) {
        let copied = self.table(parent).clone();
        let index = if shares_files {
            self.of_process[&parent]
        } else {
            self.tables.push(copied);
            self.tables.len() - 1
        };
        self.of_process.insert(child, index);
    }

    /// Moves the position behind an access of this length. Returns its first byte. `None`: the
    /// position is unknown.
    pub fn advance(
        &mut self,
        process: u32,
        arguments: &dyn Arguments,
        descriptor: usize,
        length: i64,
    ) -> Option<i64> {
        let open = self.open(process, arguments, descriptor)?;
        let first = self.positions[open];
        self.positions[open] = first.saturating_add(length);
        Some(first)
    }

    fn open(&mut self, process: u32, arguments: &dyn Arguments, index: usize) -> Option<Open> {
        let descriptor = arguments.descriptor(index)?;
        self.table(process).get(&descriptor).copied()
    }

    fn copy(&mut self, process: u32, arguments: &dyn Arguments, to: i64) {
        match self.open(process, arguments, 0) {
            Some(open) => self.table(process).insert(to, open),
            None => self.table(process).remove(&to),
        };
    }

    fn table(&mut self, process: u32) -> &mut HashMap<i64, Open> {
        let tables = &mut self.tables;
        let index = self.of_process.entry(process).or_insert_with(|| {
            tables.push(HashMap::new());
            tables.len() - 1
        });
        &mut tables[*index]
    }
}
