//! Benchmarks of signals, switches, faults, timers and locks that do something else than their
//! names claim. Each figure alone would look plausible; the evidence detects the fault.

use crate::Missing;
use crate::evidence::{Wrong, all_are_caught};
use crate::support::Yamba;

const INCLUDES: &str = "#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>";

const WRONG: [Wrong; 12] = [
    // The other thread has a lower priority, so the processor stays where it is.
    Wrong {
        name: "yield_without_switch",
        base: "lat_yield_switch",
        evidence: "turns_per_call",
        members: "const char *peer_priority() { return \"lower\"; }",
    },
    Wrong {
        name: "priority_without_switch",
        base: "lat_priority_switch",
        evidence: "turns_per_call",
        members: "void give_way() { change(peer.id(), -1); }",
    },
    // One signal more than deliveries: the receiver finds the next one without sleeping.
    Wrong {
        name: "signal_already_pending",
        base: "direct_semaphore",
        evidence: "sleeps_per_signal",
        members: "priority = \"equal\" over {\"equal\"} quick {\"equal\"};
            void connect() { super::connect(); signal(to_high); }",
    },
    Wrong {
        name: "queued_signal_already_pending",
        base: "direct_signal",
        evidence: "sleeps_per_signal",
        members: "priority = \"equal\" over {\"equal\"} quick {\"equal\"};
            void connect() { super::connect(); signal(to_high); }",
    },
    Wrong {
        name: "fault_already_mapped",
        base: "lat_fault_user",
        evidence: "faults_per_touch",
        members: "void arm() {}",
    },
    Wrong {
        name: "fault_without_protection",
        base: "lat_fault_signal",
        evidence: "faults_per_touch",
        members: "void arm() {}",
    },
    Wrong {
        name: "touch_of_mapped_pages",
        base: "lat_page_mapping",
        evidence: "faults_per_page",
        members: "phase = \"touch\" over {\"touch\"};
            huge = false over {false};
            void before_pass() { super::before_pass(); must(madvise(place, bytes(), MADV_POPULATE_WRITE)); faults = double(rusage.minor_faults()); }",
    },
    Wrong {
        name: "timer_fires_early",
        base: "lat_expiry_timerfd",
        evidence: "too_early",
        members: "delay = 1000 over {1000};
            void wait_until(const timespec &time)
            {
                timespec sooner = time;
                sooner.tv_nsec -= 900000;
                if (sooner.tv_nsec < 0) sooner.tv_nsec += 1000000000, sooner.tv_sec--;
                super::wait_until(sooner);
            }",
    },
    Wrong {
        name: "broadcast_to_one",
        base: "lat_wake_futex",
        evidence: "woken_per_wake",
        members: "woken = \"all\" over {\"all\"};
            void wake_all() { wake_one(); }",
    },
    Wrong {
        name: "move_to_the_same_processor",
        base: "lat_migrate",
        evidence: "moved_per_call",
        members: "void setup() { super::setup(); processor[1] = processor[0]; sets[1] = sets[0]; }",
    },
    // A query instead of a barrier.
    Wrong {
        name: "barrier_without_interrupt",
        base: "lat_interrupt_barrier",
        evidence: "interrupts_per_barrier",
        members: "void benchmark(iter_t iterations) { while (iterations-- > 0) must(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0)); }",
    },
    Wrong {
        name: "message_with_other_words",
        base: "lat_message_memory",
        evidence: "right_per_call",
        members: "void send(int direction, const uint64_t *first, size_t count)
            {
                super::send(direction, first, direction == to_high ? 1 : count);
            }",
    },
];

pub fn evidence_detects_planted_faults() -> Result<(), Missing> {
    all_are_caught(Yamba::new(), INCLUDES, &WRONG, "--launches 1")
}

/// The caches are left as they are.
const WARM: [Wrong; 1] = [Wrong {
    name: "caches_not_filled",
    base: "lat_syscall_cold",
    evidence: "probe_slowdown",
    members: "caches = \"cold\" over {\"cold\"};
        void before_pass() { time_chain(); probe_ns = time_chain(); }",
}];

pub fn warm_caches_are_no_cold_ones() -> Result<(), Missing> {
    all_are_caught(Yamba::new(), INCLUDES, &WARM, "--launches 1")
}

/// A guest that leaves by another instruction.
#[cfg(target_arch = "x86_64")]
const OTHER_EXIT: [Wrong; 1] = [Wrong {
    name: "exit_of_another_kind",
    base: "lat_vcpu_exit",
    evidence: "right_per_entry",
    members: "by = \"port\" over {\"port\"};
        bitstring leave() { 0xF4 }",
}];

#[cfg(target_arch = "x86_64")]
pub fn exit_for_another_reason_is_detected() -> Result<(), Missing> {
    all_are_caught(Yamba::new(), INCLUDES, &OTHER_EXIT, "--launches 1")
}

#[cfg(not(target_arch = "x86_64"))]
pub fn exit_for_another_reason_is_detected() -> Result<(), Missing> {
    Err(Missing::new("the guest of lat_vcpu_exit has code of x86_64"))
}
