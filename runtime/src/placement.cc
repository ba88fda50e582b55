#include "yamba/placement.h"

#include "quietest.h"
#include "yamba/subject.h"

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

Values<int> alike(int cpu) {
    Values<int> out;
    for (int each : placement.allowed)
        if (system::processor_strength(each) == system::processor_strength(cpu)) out.push_back(each);
    return out;
}

long core_of(int cpu) {
    constexpr long first_tested = 1 << 20;  // beyond the numbers of processors
    for (const TestedCore &each : placement.tested)
        if (each.cpu == cpu) return first_tested + long(each.core);
    return system::first_of_core(cpu);
}

bool share_core(int one, int other) {
    const long core = core_of(one);
    return core >= 0 && core == core_of(other);
}

// How much noisier a processor is than the quietest, in steps that two short visits can show.
// Unknown processors may be quiet.
static int noise(int cpu) {
    double most = 0, own = -1;
    for (const ProcessorProbes &each : placement.probed) {
        most = fmax(most, each.quiet_share);
        if (each.cpu == cpu) own = each.quiet_share;
    }
    if (placement.probed.empty()) return 0;
    return own < 0 ? 1 : int((most - own) / quietest::clear_gain);
}

// A processor with what decides its position.
struct Ranked {
    int cpu;
    long core;
    int noise;
};

// The number of processors in `chosen` on this core.
static int sharing(const Values<Ranked> &chosen, long core) {
    int count = 0;
    for (const Ranked &each : chosen) count += core >= 0 && each.core == core ? 1 : 0;
    return count;
}

void arrange() {
    Values<Ranked> left, chosen;
    size_t own = 0;
    while (own + 1 < placement.allowed.size() && placement.allowed[own] != placement.cpu) own++;
    for (size_t i = 0; i < placement.allowed.size(); i++) {
        const int cpu = placement.allowed[(own + i) % placement.allowed.size()];
        left.push_back(Ranked{cpu, core_of(cpu), noise(cpu)});
    }
    placement.order.clear();
    while (!left.empty()) {
        size_t best = 0;
        for (size_t i = 1; i < left.size() && !chosen.empty(); i++) {
            const int here = sharing(chosen, left[i].core), least = sharing(chosen, left[best].core);
            if (here < least || (here == least && left[i].noise < left[best].noise)) best = i;
        }
        placement.order.push_back(left[best].cpu);
        chosen.push_back(left[best]), left.erase(left.begin() + long(best));
    }
}

int after(int cpu, uint64_t places) {
    if (placement.order.empty()) arrange();
    size_t at = 0;
    while (at + 1 < placement.order.size() && placement.order[at] != cpu) at++;
    return placement.order[(at + size_t(places)) % placement.order.size()];
}

void note_partner(int cpu, int partner_cpu) {
    if (partner_cpu != cpu && processes <= 1 && threads <= 1 && share_core(cpu, partner_cpu))
        Record("partner").count("cpu", uint64_t(partner_cpu));
}

void note(const char *text) { Record("note").text("text", text); }

// `home`, if it is an allowed processor of the fastest kind; or else the best one.
static int usual(int home) {
    const int cpu = best();
    for (int each : alike(cpu))
        if (each == home) return home;
    return cpu;
}

void keep(bool free, int wanted, int home) {
    placement.allowed = allowed();
    if (free || placement.allowed.empty()) {
        if (!free) note("this system gives no way to keep a process on one processor: migrations are part of the figure");
        return;
    }
    if (wanted >= 0 && !is_allowed(wanted)) fail("this process may not run on processor %d", wanted);
    int cpu = wanted >= 0 ? wanted : usual(home);
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
