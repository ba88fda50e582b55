//! The kernel time that clock ticks charge to the user.
//!
//! Linux takes no clock tick while interrupts are disabled, as in the last part of a system call or
//! page fault. The tick is taken as soon as the program runs again, and the whole tick counts as
//! user time. A loop that only makes calls has next to no user time of its own, so its user time by
//! ticks is the missing kernel time. Ticks charge more of a call from a 32-bit program: 47 to 51 ns
//! instead of 23 to 28 ns on a Zen 5. That is not measured, see [`unmeasured_calls`].

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::thread;

use rustix::process::getppid;

use super::control_group::Times;
use crate::pages::Pages;

/// Processor time of each measurement, in ns. With 250 ticks, the kernel's part of a call is right
/// within 4 %.
const ENOUGH_NS: f64 = 1e9;

/// Calls or page faults between two readings of the clock.
const PASS: usize = 4096;

/// The kernel time that ticks charge to the user.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TickBorder {
    /// For each system call, in ns.
    pub call_ns: f64,
    /// For each page fault, in ns.
    pub fault_ns: f64,
}

impl TickBorder {
    /// Measures this machine for about 2 s, with calls of a 64-bit program.
    ///
    /// # Errors
    /// If memory for the page faults cannot be mapped, or the clock cannot be read.
    pub fn measure() -> io::Result<TickBorder> {
        let measured = thread::spawn(|| -> io::Result<TickBorder> {
            let call_ns = user_ns_each_call()?;
            let pages = Pages::map(PASS)?;
            let fault_ns = user_ns_each(|| {
                (0..PASS).for_each(|page| pages.touch(page));
                pages.release();
            })?;
            Ok(TickBorder { call_ns, fault_ns })
        });
        measured.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The kernel time that ticks charge to the user for these numbers of calls and page faults, in
    /// ns.
    pub fn missed_ns(self, [calls, faults]: [f64; 2]) -> f64 {
        calls * self.call_ns + faults * self.fault_ns
    }
}

/// The error in the kernel times of an application whose first program is a 32-bit program:
/// [`TickBorder::measure`] does not measure its calls.
pub fn unmeasured_calls(program: &str) -> Option<String> {
    is_32_bit(program).then(|| {
        format!(
            "{program} is a 32-bit program, whose calls were not measured, so that kernel times without the tracer may be too low"
        )
    })
}

/// Whether the file of a program, which is searched in `PATH`, has 32-bit code of x86. Only this
/// file counts, and not the programs that it starts.
fn is_32_bit(program: &str) -> bool {
    let begins = |path: &Path| -> io::Result<[u8; 20]> {
        let mut begin = [0; 20];
        File::open(path)?.read_exact(&mut begin)?;
        Ok(begin)
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|folder| folder.join(program));
    let found = if program.contains('/') {
        begins(Path::new(program)).ok()
    } else {
        places.find_map(|place| begins(&place).ok())
    };
    // ELFCLASS32 is 1, and EM_386 is 3. Programs for x32 have 32-bit files, too, and make 64-bit
    // calls.
    found.is_some_and(|begin| begin.starts_with(b"\x7fELF\x01") && begin[18..] == [3, 0])
}

fn user_ns_each_call() -> io::Result<f64> {
    user_ns_each(|| {
        for _ in 0..PASS {
            std::hint::black_box(getppid());
        }
    })
}

/// User time of this thread by clock ticks, in ns for each of [`PASS`] calls.
fn user_ns_each(mut pass: impl FnMut()) -> io::Result<f64> {
    let before = used()?;
    let mut calls = 0;
    loop {
        pass();
        calls += PASS;
        let now = used()?;
        if now.all_ns() - before.all_ns() >= ENOUGH_NS {
            return Ok((now.user_ns - before.user_ns).max(0.0) / calls as f64);
        }
    }
}

/// The processor time of this thread.
fn used() -> io::Result<Times> {
    // SAFETY: all bytes 0 are a valid value of this struct of numbers, which the call then fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a value of the right type.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    Ok(Times { user_ns: ns(usage.ru_utime), kernel_ns: ns(usage.ru_stime) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(rounds: u32) {
        for round in 0..rounds {
            std::hint::black_box(round);
        }
    }

    fn pass(with_calls: bool) {
        for _ in 0..PASS {
            if with_calls {
                std::hint::black_box(getppid());
            }
            spin(20);
        }
    }

    /// Kernel time of a call in a mixture of calls and user work, in ns: by ticks and border, the
    /// truth, and by ticks alone. User work alone takes all time but that of the calls, which is
    /// the kernel's. Passes with and without calls alternate, since the machine's speed changes.
    fn kernel_ns_each_call() -> [f64; 3] {
        let border = TickBorder::measure().unwrap();
        let used_ns = || used().unwrap().all_ns();
        let kernel_before = used().unwrap().kernel_ns;
        let (mut kernel_ns, mut calls) = (0.0, 0.0);
        let begun = used_ns();
        while used_ns() - begun < 2.0 * ENOUGH_NS {
            let first = used_ns();
            pass(false);
            let second = used_ns();
            pass(true);
            kernel_ns += used_ns() - second - (second - first);
            calls += PASS as f64;
        }
        let by_ticks = used().unwrap().kernel_ns - kernel_before;
        let found = by_ticks + border.missed_ns([calls, 0.0]);
        [found, kernel_ns, by_ticks].map(|ns| ns / calls)
    }

    /// The median of the rounds counts: beside 15 busy threads on two processors of a shared host,
    /// 3 of 46 rounds had an error above 25 %, as the truth itself was 105 to 174 ns.
    #[test]
    fn kernel_time_with_the_border_is_that_beside_known_user_time() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(unmeasured_calls(own.to_str().unwrap()), None);
        let error = |[found, truth, _]: &[f64; 3]| found / truth - 1.0;
        let mut rounds = [(); 5].map(|()| kernel_ns_each_call());
        rounds.sort_by(|a, b| error(a).total_cmp(&error(b)));
        assert!(
            error(&rounds[2]).abs() < 0.25,
            "with the border, truth, and ticks alone, in ns a call: {rounds:?}"
        );
    }

    #[test]
    fn width_of_a_program_is_that_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let width = |class: u8, processor: u8| {
            let mut file = b"\x7fELF".to_vec();
            file.resize(20, 0);
            (file[4], file[18]) = (class, processor);
            std::fs::write(&path, file).unwrap();
            is_32_bit(path.to_str().unwrap())
        };
        assert!(width(1, 3));
        // The same class for EM_X86_64, and the same processor with the other class.
        assert!(!width(1, 62) && !width(2, 3));
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        assert!(!is_32_bit(path.to_str().unwrap()));
        assert!(!is_32_bit("no such program"));
    }

    #[test]
    fn missed_time_is_that_of_calls_and_faults() {
        let border = TickBorder { call_ns: 40.0, fault_ns: 100.0 };
        assert_eq!(border.missed_ns([3.0, 2.0]), 320.0);
    }
}
