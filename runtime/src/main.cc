// The main() of a generated program: executes the command of its arguments.

#include <sys/wait.h>

#include "command_line.h"
#include "core_pairs.h"
#include "crash.h"
#include "describe.h"
#include "far_end/talk.h"
#include "harness.h"
#include "load.h"
#include "width_probes.h"
#include "yamba/cache_curve.h"
#include "yamba/clock.h"
#include "yamba/compose_command.h"
#include "yamba/conditions.h"
#include "yamba/disk.h"
#include "yamba/far_end.h"
#include "yamba/isa_hooks.h"
#include "yamba/memory.h"
#include "yamba/must.h"
#include "yamba/names.h"
#include "yamba/parameters.h"
#include "yamba/placement.h"
#include "yamba/platform.h"
#include "yamba/record_writer.h"
#include "yamba/refuse.h"
#include "yamba/scratch.h"
#include "yamba/subject.h"

namespace yamba {
namespace runtime {

// A benchmark object with its parameters settled. It lives as long as the process: its composed
// code may still run in a thread when the process ends.
struct Point {
    ParameterSource source;
    Subject *subject;
};

// The index of the variant for this machine; negative: -1 - i for reasons[i].
inline int world(const ProgramInfo &info) {
    size_t answers = 0;
    for (size_t i = 0; i < info.atoms.size; i++) answers |= size_t(info.atom_holds[i]() ? 1 : 0) << i;
    return info.worlds[answers];
}

inline Point configure(const ProgramInfo &info, const Variant &variant, const Values<Setting> &settings) {
    Point point{{}, variant.create()};
    point.source.settings = settings;
    point.subject->configure(point.source);
    if (!point.source.understood(info.name)) {
        fprintf(stderr, "%s: %s\n", info.name, point.source.fault.c_str());
        exit(usage_status);
    }
    return point;
}

// Ends the program if its parameters do not fulfil a condition of the benchmark, or if it refuses
// them.
inline void check(const Point &point) {
    Text refused = objection(*point.subject, point.source);
    const char *unmet = refused.empty() ? point.subject->unmet() : nullptr;
    if (refused.empty() && unmet == nullptr) return;
    if (unmet != nullptr) fprintf(stderr, "%s: not with these parameters: it requires %s\n", program_name, unmet);
    else fprintf(stderr, "%s\n", refused.c_str());
    exit(usage_status);
}

// Adds the probes by which the processor was chosen.
inline void add_probed(Text &place) {
    place.add(",\"probed\":[");
    for (size_t i = 0; i < placement.probed.size(); i++) {
        const ProcessorProbes &each = placement.probed[i];
        place.addf(i == 0 ? "{\"cpu\":%d,\"quiet_width\":" : ",{\"cpu\":%d,\"quiet_width\":", each.cpu).number(each.quiet_width);
        place.add(",\"quiet_share\":").number(each.quiet_share);
        place.add(",\"waited_share\":").number(each.waited_ns / each.elapsed_ns).add(",\"widths\":[");
        for (size_t j = 0; j < each.widths.size(); j++) place.add(j == 0 ? "" : ",").number(each.widths[j]);
        place.add("],\"windows\":[");
        for (size_t j = 0; j < each.windows.size(); j++) place.add(j == 0 ? "" : ",").number(each.windows[j]);
        place.add("]}");
    }
    place.add("]");
}

inline void record_place(Record &record, const Plan &plan) {
    Text &place = record.key("placement");
    place.add("{\"kind\":").quote(placement.pinned() ? "pinned" : "free").add(",\"allowed\":[");
    for (size_t i = 0; i < placement.allowed.size(); i++) place.addf(i == 0 ? "%d" : ",%d", placement.allowed.data()[i]);
    place.add("],\"cpu\":");
    if (placement.pinned() && plan.workers() <= 1) place.addf("%d", placement.cpu);
    else place.add("null");
    if (!placement.probed.empty()) add_probed(place);
    place.add("}");
}

inline void record_begin(const ProgramInfo &info, const Variant &variant, const Point &point, const Plan &plan,
                         const ClockError &error, bool realtime) {
    Record record("begin");
    record.text("class", info.name).text("isa", info.isa).text("system", info.system);
    describe::add_ports(record.key("ports"), variant.ports);
    describe::add_point(record.key("parameters"), point.source);
    record.text("unit", point.subject->unit()).text("figure", point.subject->figure());
    record_place(record, plan);
    record.truth("realtime", realtime);
    record.count("processes", plan.processes > 1 ? plan.processes : 1).count("threads", threads);
    record.key("clock")
        .add("{\"name\":")
        .quote(clock_name)
        .add(",\"resolution_ns\":")
        .number(error.resolution)
        .add(",\"cost_ns\":")
        .number(error.cost)
        .add("}");
    record.key("platform")
        .addf(
            "{\"page_size\":%zu,\"pointer_size\":%zu,\"cache_line\":%zu,\"l1d_size\":%zu,\"l1i_size\":%zu,\"l2_size\":%zu,\"last_"
            "cache_size\":%zu,"
            "\"memory_size\":%zu,\"cpus\":%zu,\"read_ahead\":%zu,\"scratch_is_memory\":%s,\"disk_room\":%llu,\"disk_room_each\":%"
            "llu}",
            platform.page_size, platform.pointer_size, platform.cache_line, platform.l1d_size, platform.l1i_size,
            platform.l2_size, platform.last_cache_size, platform.memory_size, platform.cpus, platform.read_ahead,
            platform.scratch_is_memory ? "true" : "false", static_cast<unsigned long long>(platform.disk_room),
            static_cast<unsigned long long>(platform.disk_room_each));
}

inline void note_assumptions() {
    if (!platform.assumed.empty()) Record("note").text("text", Text("not detected, assumed: ").add(platform.assumed).c_str());
}

inline int skip(const ProgramInfo &info, const char *reason, Command command) {
    if (command == Command::describe) {
        Text json = describe::skipped(info, reason);
        write_all(STDOUT_FILENO, json.c_str(), json.size());
        return 0;
    }
    fprintf(stderr, "%s: %s\n", info.name, reason);
    return skipped_status;
}

// Measures the clock, and makes the chains that measure cycle and width long enough for it.
inline ClockError suit_clock() {
    ClockError error = measure_clock();
    cycle::suit_clock(error.worst());
    width::suit_clock(error.worst());
    window::suit_clock(error.worst());
    return error;
}

// Measures the curve of load latencies, or probes the width of the core, without a benchmark.
inline void measure_machine(const Arguments &a) {
    choose_clock();
    place::keep(a.plan.free, a.plan.cpu);
    window::whole = value_of(window::whole_buffers, placement.cpu);
    suit_clock();
    if (a.command == Command::cache_curve) cache_curve::record(a.curve_limit);
    else if (a.command == Command::core_pairs) core_pairs::record(a.plan.choice.seed);
    else if (a.plan.choice.is_wanted && placement.pinned()) width::record_all_probes(double(a.probe_ns), a.plan.choice.seed);
    else width::record_probes(double(a.probe_ns));
    Record("end");
}

// Sets the numbers of processes and threads that a benchmark may ask for.
inline void enter_load(const Plan &plan) {
    if (plan.processes > 1) processes = plan.processes;
    if (plan.threads > 1) threads = plan.threads;
}

// Why the benchmark is not measured in several threads; empty if it is, or if there is one thread.
inline Text no_threads(Subject &subject) {
    Text reason;
    if (threads <= 1) return reason;
    const char *name = subject.process_wide();
    if (!system::has_thread_usage)
        reason.add(
            "not in several threads: this system does not count the resources of a single thread; measure processes, with -P");
    else if (!subject.runs_in_threads())
        reason.add("not in several threads: its `runs_in_threads` says no; measure processes, with -P");
    else if (name != nullptr)
        reason.addf(
            "not in several threads: its C++ has `%s`, which concerns the whole process; measure processes, with -P, or define "
            "`bool "
            "runs_in_threads() { return true; }` if each thread may do so",
            name);
    return reason;
}

// One object of the benchmark for each thread, all with the parameters of the first one.
inline Values<Subject *> subjects(const ProgramInfo &info, const Variant &variant, const Point &first, uint64_t count) {
    Values<Setting> settings;
    for (const Settled &p : first.source.settled) settings.push_back(Setting{Text(p.name), p.value.plain.c_str()});
    Values<Subject *> all;
    all.push_back(first.subject);
    // Each lives as long as the process: its parameters may be texts of its source.
    while (all.size() < count) all.push_back((new Point(configure(info, variant, settings)))->subject);
    return all;
}

inline void run_point(const ProgramInfo &info, const Variant &variant, const Values<Setting> &settings, Plan plan) {
    measured_process = getpid();
    disk::launch();
    Point point = configure(info, variant, settings);
    check(point);
    measured = &point.source;
    if (plan.is_loaded() && point.subject->circle_groups() > 0)
        exit(skip(info, "a circle is two threads on one processor: several at the same time would only wait for each other",
                  Command::run));
    enter_load(plan);
    Text reason = no_threads(*point.subject);
    if (!reason.empty()) exit(skip(info, reason.c_str(), Command::run));
    if (read_clock == system_clock) choose_clock();
    // The far end begins on the usual processor, which may be one of this machine, and places its
    // partners by the system's cores.
    if (!far_end::machine.empty()) plan.choice.is_wanted = false, plan.choice.home = -1, placement.tested.clear();
    const quietest::Stay stay;
    place::keep(plan.free, plan.cpu, plan.choice.home);
    ClockError error = suit_clock();
    // Only benchmarks that wait have partners.
    const double quiet_width = quietest::settle(plan.choice, stay, plan.is_loaded() || point.subject->may_wait());
    if (plan.choice.until_quiet) plan.quiet_width = quiet_width;
    window::whole = value_of(window::whole_buffers, placement.cpu);
    // Before there are other processes with processors of their own.
    if (plan.is_loaded() && placement.pinned()) place::arrange();
    bool realtime = plan.realtime && (plan.is_loaded() ? load::enter_realtime() : place::enter_realtime());
    record_begin(info, variant, point, plan, error, realtime);
    note_assumptions();
    if (plan.threads > 0) load::measure_threads(subjects(info, variant, point, plan.threads), variant.pass_hooks, plan, error);
    else if (plan.processes > 0) load::measure(*point.subject, variant.pass_hooks, plan, error);
    else measure(*point.subject, variant.pass_hooks, plan, error);
    Record("end");
}

// Runs the far end. A benchmark with a far end serves at the end of its `setup`, until the near end
// is gone. Several far ends are pinned to processors round-robin, like the processes that they
// belong to.
inline int run_far(const ProgramInfo &info, const Variant &variant, const Values<Setting> &settings, uint64_t index) {
    is_far_end = true;
    Point point = configure(info, variant, settings);
    check(point);
    place::keep(false, -1);
    int cpu = load::processor(Plan{}, index);
    if (cpu >= 0 && system::stay_on(&cpu, 1)) placement.cpu = cpu;
    point.subject->prepare();
    point.subject->setup();
    fprintf(stderr, "%s: --far: with these parameters it has no far end\n", info.name);
    return usage_status;
}

// Runs a point in its own process: a crash costs only that figure, and no point inherits another's
// memory.
inline int fork_point(const ProgramInfo &info, const Variant &variant, const Values<Setting> &settings, const Plan &plan) {
    fflush(nullptr);
    pid_t child = must(fork());
    if (child == 0) {
        run_point(info, variant, settings, plan);
        exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : failed_status;
}

// Iterates over the values of the first swept parameter that is not yet fixed; later parameters may
// depend on it.
inline int sweep(const ProgramInfo &info, const Variant &variant, const Arguments &arguments, Values<Setting> &fixed) {
    Point point = configure(info, variant, fixed);
    for (const Settled &p : point.source.settled) {
        if (p.set || !(p.has_over || (arguments.quick && p.has_quick))) continue;
        int worst = 0;
        for (const Spelling &value : arguments.quick &&p.has_quick ? p.quick : p.over) {
            fixed.push_back(Setting{Text(p.name), value.plain.c_str()});
            int status = sweep(info, variant, arguments, fixed);
            fixed.pop_back();
            worst = status > worst ? status : worst;
        }
        return worst;
    }
    return fork_point(info, variant, fixed, arguments.plan);
}

inline void describe_program(const ProgramInfo &info, int variant, const Values<Setting> &settings, const Plan &plan) {
    Point point = configure(info, info.variants.data[variant], settings);
    Text refused = objection(*point.subject, point.source);
    const char *unmet = refused.empty() ? point.subject->unmet() : nullptr;
    enter_load(plan);  // bounds of evidence may depend on it
    Text reason = no_threads(*point.subject);
    Text json = !reason.empty() ? describe::skipped(info, reason.c_str())
                                : describe::program(info, variant, point.source, *point.subject, unmet, refused);
    write_all(STDOUT_FILENO, json.c_str(), json.size());
}

inline int compose(const ProgramInfo &info, const Variant &variant, const Arguments &a) {
    Point point = configure(info, variant, a.settings);
    check(point);
    return compose_command(info, variant, *point.subject, a.member, a.argc, a.argv);
}

}  // namespace runtime

int main(const ProgramInfo &info, int argc, char **argv) {
    program_name = info.name;
    measured_process = getpid();
    Arguments arguments = parse_arguments(info, argc, argv);
    catch_crashes(info.isa);
    if (is_of_machine(arguments.command)) {
        detect_platform(platform, arguments.plan.workers());
        runtime::measure_machine(arguments);
        return 0;
    }
    int world = runtime::world(info);
    if (world < 0) return runtime::skip(info, info.reasons.data[-1 - world], arguments.command);
    const Variant &variant = info.variants.data[world];
    detect_platform(platform, arguments.plan.workers());
    switch (arguments.command) {
        case Command::describe: runtime::describe_program(info, world, arguments.settings, arguments.plan); return 0;
        case Command::compose: return runtime::compose(info, variant, arguments);
        case Command::run: runtime::run_point(info, variant, arguments.settings, arguments.plan); return 0;
        case Command::far: return runtime::run_far(info, variant, arguments.settings, arguments.process);
        case Command::cache_curve:
        case Command::width_probes:
        case Command::core_pairs: break;  // above: they depend on no variant
        case Command::sweep: return runtime::sweep(info, variant, arguments, arguments.settings);
    }
    return usage_status;
}

}  // namespace yamba
