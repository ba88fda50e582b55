#include "yamba/placement.h"

namespace yamba {
namespace place {

static Values<int> allowed() {
    static int all[16384];
    size_t n = system::allowed_processors(all, sizeof all / sizeof *all);
    Values<int> out;
    for (size_t i = 0; i < n; i++) out.push_back(all[i]);
    return out;
}

static bool is_allowed(int cpu) {
    for (int each : placement.allowed)
        if (each == cpu) return true;
    return false;
}

// The last processor of the fastest kind: the first one often handles most interrupts.
static int best() {
    int best = -1;
    uint64_t strength = 0;
    for (int cpu : placement.allowed) {
        uint64_t here = system::processor_strength(cpu);
        if (best < 0 || here >= strength) best = cpu, strength = here;
    }
    return best;
}

void note(const char *text) { Record("note").text("text", text); }

void keep(bool free, int wanted) {
    placement.allowed = allowed();
    if (free || placement.allowed.empty()) {
        if (!free) note("this system gives no way to keep a process on one processor: migrations are part of the figure");
        return;
    }
    if (wanted >= 0 && !is_allowed(wanted)) fail("this process may not run on processor %d", wanted);
    int cpu = wanted >= 0 ? wanted : best();
    if (system::stay_on(&cpu, 1)) placement.cpu = cpu, placement.is_chosen = wanted >= 0;
    else note("the system refused to keep this process on one processor: migrations are part of the figure");
}

void roam() {
    if (placement.pinned() && !system::stay_on(placement.allowed.data(), placement.allowed.size()))
        fail("cannot run on all processors again");
}

void fail_confined(double share) {
    Text text;
    text.addf("its threads share processor %d with it and run for %.0f %% of the time, so they cannot run in parallel; ",
              placement.cpu, 100 * share);
    text.add("help: `yamba run --placement free` lets them run on all processors, `--placement pinned` keeps them on one");
    if (before_last_words != nullptr) before_last_words();
    Record("error").text("text", text.c_str()).text("class", program_name).truth("needs_free", true);
    end_early(failed_status);
}

bool enter_realtime() {
    if (system::enter_realtime()) return true;
    note("not in a real-time class: that needs root, CAP_SYS_NICE or a limit (`ulimit -r`) of at least 1");
    return false;
}

bool lock_memory_silently() {
    const bool held = system::lock_memory();
    if (held) locked_process = getpid();
    return held;
}

void lock_memory() {
    const bool held = lock_memory_silently();
    Record("locked").truth("held", held);
    if (!held) note("memory is not locked: that needs root, CAP_IPC_LOCK or a higher limit (`ulimit -l`)");
}

}  // namespace place
}  // namespace yamba
