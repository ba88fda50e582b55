//! Tests that depend on what a kernel or container permits: name spaces, mounts, control groups, block devices, tracing. No package provides these,
//! so a test that lacks one is reported as ignored with its reason. A missing program is a failure.
//! All of them compile and measure. Without `--include-ignored` they are only listed.
#![cfg(target_os = "linux")]

mod bounds;
mod disks;
mod evidence;
#[allow(dead_code, reason = "the command-line tests use the rest")]
#[path = "../far/mod.rs"]
mod far;
mod far_host;
mod files;
mod loop_device;
mod memory_group;
mod mounted;
mod network;
#[allow(
    dead_code,
    unused_imports,
    reason = "the command-line tests use the rest"
)]
#[path = "../cli/pages/mod.rs"]
mod pages;
mod remote;
mod root;
#[allow(dead_code, reason = "the command-line tests use the rest")]
#[path = "../cli/support.rs"]
mod support;
mod system_calls;
#[path = "../cli/user.rs"]
mod user;

use libtest_mimic::{Arguments, Completion, Trial};

/// A facility that this machine or user lacks and that cannot be installed.
#[derive(Debug)]
pub struct Missing(String);

impl Missing {
    /// `what` is the reason that the report shows.
    pub fn new(what: impl Into<String>) -> Missing {
        Missing(what.into())
    }
}

/// Benchmarks that were skipped within a test.
#[derive(Default)]
pub struct Skipped(Vec<String>);

impl Skipped {
    /// Fails if a package provides the missing part.
    #[track_caller]
    pub fn add(&mut self, name: &str, notes: &str) {
        assert!(!notes.contains("apt install"), "{name}: {notes}");
        self.0.push(format!("{name}: {notes}"));
    }

    /// The test is ignored if any benchmark was skipped. Call this after all checks.
    pub fn result(self) -> Result<(), Missing> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Missing(self.0.join("; ")))
    }
}

trait Outcome {
    fn completion(self) -> Completion;
}

impl Outcome for () {
    fn completion(self) -> Completion {
        Completion::Completed
    }
}

impl Outcome for Result<(), Missing> {
    fn completion(self) -> Completion {
        match self {
            Ok(()) => Completion::Completed,
            Err(Missing(what)) => Completion::ignored_with(what),
        }
    }
}

macro_rules! trials {
    ($($module:ident { $($test:ident)* })*) => {
        vec![$($(trial(concat!(stringify!($module), "::", stringify!($test)), $module::$test)),*),*]
    };
}

fn trial<O: Outcome>(name: &str, test: impl FnOnce() -> O + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || Ok(test().completion()))
        .with_kind("needs g++")
        .with_ignored_flag(true)
}

fn main() {
    let trials = trials! {
        bounds {
            fork_bomb_costs_only_its_own_figure
            fork_bomb_of_root_is_ended_without_control_groups
            fork_bomb_of_an_ordinary_user_is_ended
            fork_bomb_below_the_users_own_limit_is_ended
            launch_that_takes_all_memory_is_ended
            file_is_no_longer_than_the_disk_limit
            timeout_ends_a_launch_wherever_it_is
            timeout_lets_the_last_will_be_carried_out
            timed_statement_that_never_ends_is_ended
            killed_run_leaves_no_control_group
        }
        disks {
            a_full_disk_costs_nothing
            store_on_a_read_only_disk_is_refused_and_left_unchanged
            store_in_a_folder_that_may_not_be_written_is_read_from_a_copy
        }
        evidence {
            what_only_looks_right_is_invalid
        }
        far_host {
            packets_go_to_another_machine
            what_does_not_go_there_is_invalid
            another_address_may_be_named
            a_way_that_only_ssh_has_is_told
            a_slow_network_is_in_the_figure
            a_network_that_loses_packets_holds_nobody_up
            nginx_serves_from_another_machine
            an_nginx_that_dies_on_another_machine
        }
        files {
            evidence_catches_what_is_not_as_the_name_says
            evidence_catches_what_is_not_of_the_named_disk
            a_file_cache_that_was_never_full_is_invalid
            a_file_system_upon_another_hides_no_page
            a_file_system_that_forgets_what_is_opened_anew
            a_disk_that_gets_full_costs_one_figure
            whoever_is_killed_no_process_and_no_file_is_left
        }
        loop_device {
            of_a_block_device_the_kernel_counts_as_much
        }
        memory_group {
            the_limit_of_a_memory_control_group_is_kept_to
        }
        network {
            without_a_network_it_is_said_what_mends_that
            many_at_the_same_time_do_not_connect
            no_process_outlives_a_killed_run
            what_measures_something_else_is_invalid
            what_does_not_cross_the_network_is_invalid
            nginx_tells_whether_a_connection_is_new
            an_nginx_that_is_not_as_others
            a_page_for_which_there_is_no_room
        }
        remote {
            evidence_fails_where_it_must
            a_mounted_file_that_does_not_come_from_elsewhere
            a_mounted_file_that_comes_from_elsewhere
            the_programs_of_others_are_named_with_their_versions
            what_is_not_installed_is_told
            a_server_that_dies_is_told
        }
        root {
            commands_of_pages_work_for_root
        }
        system_calls {
            nothing_is_asked_of_the_system_in_a_timed_interval
            madvise_on_locked_memory_names_may_fault
            madvise_that_fails_otherwise_says_nothing_of_locked_memory
        }
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
