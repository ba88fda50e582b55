//! Tests that depend on what a kernel or container permits: name spaces, mounts, control groups,
//! block devices, tracing. No package provides these, so a test that lacks one is reported as
//! ignored with its reason. A missing program is a failure. All of them compile and measure.
//! Without `--include-ignored` they are only listed.
#![cfg(target_os = "linux")]

mod bounds;
mod calls32;
mod disks;
mod elapsed;
mod empty_root;
mod evidence;
#[allow(dead_code, reason = "the command-line tests use the rest")]
#[path = "../far/mod.rs"]
mod far;
mod far_host;
mod files;
mod fleet;
mod java;
mod kernel_paths;
mod loop_device;
mod memory_group;
mod mounted;
mod mpi;
mod network;
mod page_commands;
#[allow(dead_code, unused_imports, reason = "the command-line tests use the rest")]
#[path = "../cli/pages/mod.rs"]
mod pages;
mod recovery;
mod remote;
#[allow(dead_code, unused_imports, reason = "the command-line tests use the rest")]
#[path = "../cli/schema.rs"]
mod schema;
mod slurm;
#[allow(dead_code, reason = "the command-line tests use the rest")]
#[path = "../cli/support.rs"]
mod support;
mod system_calls;
mod tracer;
mod tracing;
#[path = "../cli/user.rs"]
mod user;

use std::num::NonZero;

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
        // The longest test starts first, so that the others run beside it.
        page_commands {
            commands_of_pages_work_for_ordinary_user
        }
        calls32 {
            strace_counts_the_calls_of_a_32_bit_process
            bpf_counts_the_calls_of_a_32_bit_process
        }
        bounds {
            fork_bomb_loses_only_its_own_figure
            fork_bomb_of_root_is_killed_without_control_groups
            fork_bomb_of_ordinary_user_is_killed
            fork_bomb_below_user_limit_is_killed
            launch_that_takes_all_memory_is_killed
            file_size_is_limited_by_disk_limit
            timeout_kills_launch_in_every_phase
            cleanup_runs_after_timeout
            endless_statement_is_killed
            killed_run_leaves_no_control_group
        }
        disks {
            run_is_rescued_if_the_store_disk_is_full
            store_on_a_read_only_disk_is_refused_and_left_unchanged
            store_in_a_folder_that_may_not_be_written_is_read_from_a_copy
        }
        empty_root {
            bundle_measures_in_an_empty_root
        }
        evidence {
            plausible_but_wrong_benchmarks_are_invalid
        }
        far_host {
            packets_go_to_another_machine
            traffic_that_bypasses_the_far_host_is_invalid
            another_address_may_be_given
            route_that_only_ssh_has_is_reported
            slow_network_raises_the_figure
            lossy_network_does_not_block_the_run
            nginx_serves_from_another_machine
            dead_remote_nginx_is_reported
        }
        files {
            evidence_detects_wrong_file_benchmarks
            evidence_detects_reads_of_another_disk
            launches_of_reads_from_storage_begin_on_processors_that_are_spread
            file_cache_that_was_never_full_is_invalid
            stacked_file_system_does_not_hide_pages
            file_system_that_drops_pages_on_open_is_handled
            disk_that_fills_up_loses_one_figure
            kill_of_any_process_leaves_no_process_and_no_file
        }
        fleet {
            killed_task_and_drained_node_are_named_and_resumed
            unreachable_host_of_ssh_is_named
            mpich_starts_tasks_and_a_load_at_the_same_time
            mpirun_starts_a_task_on_each_host
            tasks_measure_at_the_same_time_over_mpi
        }
        java {
            java_program_is_traced_and_predicted
            list_of_methods_is_a_document
        }
        kernel_paths {
            evidence_detects_planted_faults
            warm_caches_are_no_cold_ones
            exit_for_another_reason_is_detected
        }
        loop_device {
            kernel_counts_of_block_device_match_the_figure
        }
        memory_group {
            memory_limit_of_control_group_is_respected
        }
        mpi {
            ranks_of_mpirun_are_measured
            mpi_benchmark_of_something_else_is_invalid
            missing_mpi_is_reported
            killed_run_ends_mpirun
        }
        network {
            missing_network_has_help
            lat_connect_with_several_processes_is_skipped
            no_process_outlives_a_killed_run
            network_benchmark_of_something_else_is_invalid
            traffic_that_does_not_cross_the_network_is_invalid
            nginx_distinguishes_new_connections
            unusual_nginx_is_handled
            page_too_large_for_the_disk_is_reported
        }
        recovery {
            command_of_the_message_copies_undamaged_runs
        }
        remote {
            evidence_detects_wrong_remote_reads
            local_file_is_rejected_as_mounted_file
            remote_file_is_accepted_as_mounted_file
            external_programs_are_recorded_with_versions
            missing_program_is_reported
            dead_server_is_reported
        }
        system_calls {
            no_system_call_in_a_timed_batch
            madvise_on_locked_memory_names_may_fault
            madvise_that_fails_otherwise_says_nothing_of_locked_memory
        }
        tracer {
            kinds_of_descriptors_are_those_at_the_time_of_the_call
            states_of_ended_threads_are_used_again
            trace_of_a_running_process_has_its_last_calls
            bpf_counts_interrupt_work_as_the_kernel
        }
        tracing {
            bpf_counts_the_calls_that_strace_counts
            bpf_records_the_places_of_reads_that_strace_shows
            bpf_counts_several_runs_together
            bpf_follows_a_thousand_children
            bpf_counts_all_calls_while_its_tracer_is_stopped
            rounds_give_times_without_the_tracer
            kinds_of_page_faults_are_distinguished
            calls_that_sleep_are_distinguished
            rounds_of_a_command_that_fails_are_counted
            clock_readings_without_system_calls_are_counted
            rounds_start_a_server_again
            bpf_times_a_run_as_the_kernel_accounts_it
            bpf_does_not_count_waiting
            bpf_keeps_user_time_between_short_calls
            killed_bpf_tracer_leaves_the_process_running
            ordinary_user_gets_counts_by_strace
            filter_that_refuses_bpf_is_named
        }
        elapsed {
            sleeping_is_waiting_in_the_call_that_sleeps
            elapsed_time_of_processes_counts_no_time_twice
            parallel_processes_take_less_elapsed_than_processor_time
            fsync_waits_on_a_disk_and_not_in_memory
            rounds_have_elapsed_times
        }
        // These wait for the first test and use its cache.
        java {
            documents_of_garbage_collection_are_valid
            pauses_are_read_in_a_locale_with_decimal_commas
        }
        page_commands {
            commands_of_pages_work_for_root
        }
    };
    let mut arguments = Arguments::from_args();
    // Most of these tests wait for disks, time limits and other processes. More of them at a time
    // would disturb each other's measurements.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    arguments.test_threads.get_or_insert(processors + 1);
    libtest_mimic::run(&arguments, trials).exit();
}
