// Processor, scheduling class and memory locking of a benchmark. By default it stays on one
// processor, so that no migration is measured.
#pragma once

#include "floating.h"
#include "must.h"
#include "parameters.h"
#include "record_writer.h"
#include "system.h"

namespace yamba {

// A number that is known of a processor.
struct OfProcessor {
    int cpu;
    double value;
};

// The number of this processor; NAN if it is unknown.
inline double value_of(const Values<OfProcessor> &all, int cpu) {
    for (const OfProcessor &each : all)
        if (each.cpu == cpu) return each.value;
    return not_known;
}

// Probes of a processor, before a launch chose its own.
struct ProcessorProbes {
    int cpu;
    double quiet_width;      // the width of its core without neighbours, in cycles of 10 000 instructions; NAN: unknown
    Values<double> widths;   // the probes; NAN: interrupted
    Values<double> windows;  // the entries of the reorder buffer at each probe, at least; NAN: not clear
    double elapsed_ns = 0;   // duration of the visits
    double waited_ns = 0;    // time of the visits in which others had the processor
    double quiet_share = 0;
};

// The core of a processor, as a test with a competitor found it.
struct TestedCore {
    int cpu;
    size_t core;  // processors of one core have the same number
};

struct Placement {
    Values<int> allowed;             // processors that this process could use when it started
    Values<int> order;               // the allowed processors in the order in which workers and partners get them
    Values<TestedCore> tested;       // these are believed, whatever the system says of the processors' cores
    Values<ProcessorProbes> probed;  // empty if nothing was chosen by probes
    int cpu = -1;                    // the processor that the benchmark is pinned to; -1: not pinned
    bool is_chosen = false;          // whether the user or a load chose that processor
    bool pinned() const { return cpu >= 0; }
};
inline Placement placement;

namespace place {

void note(const char *text);

// Pins this process to a processor: `wanted`, or if negative `home`, the processor of earlier
// launches, or if that is negative the fastest one. `free` leaves it unpinned. Failure is only
// noted; the measurement continues.
void keep(bool free, int wanted, int home = -1);

// The allowed processors of the same kind as this one.
Values<int> alike(int cpu);

// A number of the core of a processor, by the test or else by the system; negative if unknown.
long core_of(int cpu);

// Whether the processors are hardware threads of one core; false if unknown.
bool share_core(int one, int other);

// Fills `placement.order`, from the processor of this process on: at first those that share no core
// with an earlier one, and of these the quietest.
void arrange();

// The processor `places` positions after `cpu` in that order, which is a circle.
int after(int cpu, uint64_t places);

// Records that a partner of this process runs on `partner_cpu`, if that is another hardware thread
// of the core of `cpu`: the partner lengthens this process's width probes, and is no neighbour.
void note_partner(int cpu, int partner_cpu);

// Removes the pinning for this process.
void roam();

// Ends the launch: other threads of the benchmark ran for this share of its time, on the processor
// that it is pinned to.
[[noreturn]] void fail_confined(double share);

bool enter_realtime();

// Locks the memory that is mapped now; later mappings stay unlocked. Returns false if the system
// refuses.
bool lock_memory_silently();

// Locks memory and notes a refusal in the record.
void lock_memory();

}  // namespace place
}  // namespace yamba
