// The arguments of a generated program.
#pragma once

#include <stdio.h>

#include "harness.h"
#include "yamba/cache_curve.h"
#include "yamba/must.h"
#include "yamba/parameters.h"

namespace yamba {

enum class Command { sweep, run, far, describe, compose, cache_curve, width_probes, core_pairs };

// Whether the command measures the machine, without a benchmark.
constexpr bool is_of_machine(Command command) {
    return command == Command::cache_curve || command == Command::width_probes || command == Command::core_pairs;
}

struct Arguments {
    Command command = Command::sweep;
    Values<Setting> settings;
    Plan plan;
    bool quick = false;
    uint64_t process = 0;          // the concurrent process that this far end serves
    const char *member = nullptr;  // the member to compose
    int argc = 0;                  // number of its arguments
    char **argv = nullptr;
    uint64_t probe_ns = 0;  // how long to probe the width of the core
    size_t curve_limit = cache_curve::most_bytes;
};

namespace arguments {

[[noreturn]] inline void refuse(const char *option, const char *wrong) {
    fprintf(stderr, "%s: %s: %s\n", program_name, option, wrong);
    exit(usage_status);
}

[[noreturn]] inline void usage(const ProgramInfo &info, int status) {
    fprintf(
        status == 0 ? stdout : stderr,
        "Measures %s on %s-%s. Records go to standard output, one JSON object a line.\n\n"
        "  %s [--quick]                   every point of its sweep\n"
        "  %s --run                       one point\n"
        "  %s --far                       the far end of one point, which talks to the near one on standard input and output\n"
        "  %s --describe                  parameters and evidence\n"
        "  %s --compose MEMBER ARGS...    the bits of a bitstring\n"
        "  %s --cache-curve [BYTES]       the latency of loads in buffers of up to BYTES\n"
        "  %s --width-probes NS           the width of the core for NS nanoseconds\n"
        "  %s --core-pairs                which processors share a core\n\n"
        "  --set NAME=VALUE   gives a parameter its value (64, 0x40, 64K, 64M, true)\n"
        "  --batches N      measures at least N batches\n"
        "  --time-ns N        and goes on until N nanoseconds are spent\n"
        "  --slow-batches N measures N where one pass takes longer than that\n"
        "  --batch-ns N     makes a batch last at least N nanoseconds\n"
        "  --precision X      or until half of the median's confidence interval is at most this share of the median\n"
        "  --quiet-width X    or until enough batches were measured while the width probe took X cycles\n"
        "  --quiet-widths L   the quiet widths of processors, such as 0=1702,1=1690\n"
        "  --whole-buffers L  entries of processors' reorder buffers: fewer show another thread\n"
        "  --until-quiet      uses that of its processor as --quiet-width\n"
        "  --choose SEED      measures on the quietest processor; SEED selects those to probe if there are many\n"
        "  --home N           or on this one, if no other is clearly quieter\n"
        "  --cores L          processors that share a core by a test: 0+2,1 are two cores\n"
        "  --warmup-ns N      runs so long before anything is timed\n"
        "  --singles N        then times up to N operations alone\n"
        "  --processes N      runs in N processes at the same time\n"
        "  --threads N        runs in N threads of one process at the same time\n"
        "  --loaded-ns N      where a batch lasts at least N nanoseconds\n"
        "  --process N        with --far: of the Nth of them, from 0\n"
        "  --cpu N            stays on this processor\n"
        "  --free             may run on any\n"
        "  --pinned           keeps the benchmark's own threads on its processor, too\n"
        "  --realtime         in a real-time class\n"
        "  --no-lock          without locking its memory\n"
        "  --meeting N        with --processes: waits for other nodes through this socket\n"
        "  --record-fd N      writes records there\n",
        info.name, info.isa, info.system, info.name, info.name, info.name, info.name, info.name, info.name, info.name, info.name);
    exit(status);
}

inline Setting setting(const char *option, const char *text) {
    const char *equals = strchr(text, '=');
    if (equals == nullptr || equals == text) refuse(option, "write NAME=VALUE");
    Text name;
    name.add(text, size_t(equals - text));
    return {name, equals + 1};
}

template <class T>
T number(const char *option, const char *text) {
    T value;
    if (parse::Fault wrong = parse::whole(text, value)) refuse(option, wrong);
    return value;
}

inline double part(const char *option, const char *text) {
    double value;
    if (parse::Fault wrong = parse::any(text, value)) refuse(option, wrong);
    if (value < 0) refuse(option, "is negative");
    return value;
}

// A list such as "0=1702,1=1690".
inline Values<OfProcessor> widths(const char *option, const char *text) {
    Values<OfProcessor> all;
    while (*text != '\0') {
        const size_t length = strcspn(text, ",");
        Text item;
        item.add(text, length);
        Setting each = setting(option, item.c_str());
        all.push_back(OfProcessor{number<int>(option, each.name.c_str()), part(option, each.text)});
        text += length + (text[length] == ',' ? 1 : 0);
    }
    return all;
}

// A list such as "0+2,1": two cores, the first with two hardware threads.
inline Values<TestedCore> cores(const char *option, const char *text) {
    Values<TestedCore> all;
    for (size_t core = 0; *text != '\0';) {
        const size_t length = strcspn(text, "+,");
        Text item;
        item.add(text, length);
        all.push_back(TestedCore{number<int>(option, item.c_str()), core});
        core += text[length] == ',' ? 1 : 0;
        text += length + (text[length] != '\0' ? 1 : 0);
    }
    return all;
}

}  // namespace arguments

inline Arguments parse_arguments(const ProgramInfo &info, int argc, char **argv) {
    Arguments a;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        auto is = [&](const char *name) { return strcmp(option, name) == 0; };
        auto operand = [&]() -> const char * {
            if (++i >= argc) arguments::refuse(option, "needs a value");
            return argv[i];
        };
        if (is("--describe")) a.command = Command::describe;
        else if (is("--run")) a.command = Command::run;
        else if (is("--far")) a.command = Command::far;
        else if (is("--quick")) a.quick = true;
        else if (is("--set")) a.settings.push_back(arguments::setting(option, operand()));
        else if (is("--batches")) a.plan.batches = arguments::number<uint64_t>(option, operand());
        else if (is("--time-ns")) a.plan.time = arguments::number<uint64_t>(option, operand());
        else if (is("--slow-batches")) a.plan.slow_batches = arguments::number<uint64_t>(option, operand());
        else if (is("--batch-ns")) a.plan.batch = double(arguments::number<uint64_t>(option, operand()));
        else if (is("--precision")) a.plan.precision = arguments::part(option, operand());
        else if (is("--quiet-width")) a.plan.quiet_width = arguments::part(option, operand());
        else if (is("--quiet-widths")) a.plan.choice.widths = arguments::widths(option, operand());
        else if (is("--whole-buffers")) window::whole_buffers = arguments::widths(option, operand());
        else if (is("--until-quiet")) a.plan.choice.until_quiet = true;
        else if (is("--choose"))
            a.plan.choice.is_wanted = true, a.plan.choice.seed = arguments::number<uint64_t>(option, operand());
        else if (is("--home")) a.plan.choice.home = arguments::number<int>(option, operand());
        else if (is("--cores")) placement.tested = arguments::cores(option, operand());
        else if (is("--warmup-ns")) a.plan.warmup = arguments::number<uint64_t>(option, operand()), a.plan.warmup_told = true;
        else if (is("--singles")) a.plan.singles = arguments::number<uint64_t>(option, operand());
        else if (is("--processes")) a.plan.processes = arguments::number<uint64_t>(option, operand());
        else if (is("--threads")) a.plan.threads = arguments::number<uint64_t>(option, operand());
        else if (is("--process")) a.process = arguments::number<uint64_t>(option, operand());
        else if (is("--loaded-ns")) a.plan.loaded_batch = arguments::number<uint64_t>(option, operand());
        else if (is("--cpu")) a.plan.cpu = arguments::number<int>(option, operand());
        else if (is("--free")) a.plan.free = true;
        else if (is("--pinned")) a.plan.pinned = true;
        else if (is("--realtime")) a.plan.realtime = true;
        else if (is("--meeting")) a.plan.meeting = arguments::number<int>(option, operand());
        else if (is("--no-lock")) a.plan.lock = false;
        else if (is("--record-fd")) record_fd = arguments::number<int>(option, operand());
        else if (is("--compose")) a.command = Command::compose, a.member = operand();
        else if (is("--cache-curve")) {
            a.command = Command::cache_curve;
            if (i + 1 < argc && argv[i + 1][0] != '-') a.curve_limit = arguments::number<size_t>(option, operand());
        } else if (is("--width-probes")) {
            a.command = Command::width_probes;
            a.probe_ns = arguments::number<uint64_t>(option, operand());
        } else if (is("--core-pairs")) a.command = Command::core_pairs;
        else if (is("--help")) arguments::usage(info, 0);
        else if (a.command == Command::compose && (option[0] != '-' || (option[1] >= '0' && option[1] <= '9')))
            a.argv = a.argc++ == 0 ? argv + i : a.argv;
        else arguments::usage(info, usage_status);
    }
    if (a.plan.processes > 0 && a.plan.threads > 0) arguments::refuse("--threads", "not together with --processes");
    return a;
}

}  // namespace yamba
