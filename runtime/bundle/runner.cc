// The first part of a bundle: runs the programs behind it in interleaved launches, and writes what
// they measured as a capture.
//
// It judges nothing: `yamba import` computes the figures from the capture, with the code that
// computes those of `yamba run`.
#include <sys/random.h>

#include <algorithm>

#include "../yamba/meeting.h"
#include "archive.h"
#include "facts.h"
#include "fleet.h"
#include "points.h"
#include "process.h"
#include "records.h"
#include "scratch.h"
#include "width.h"
#include "writer.h"

namespace bundle {

struct Options {
    bool is_serial = false, lists = false, plans = false;
    int repeat = 1;
    std::string emulator;
    const char *scratch = nullptr, *into = nullptr;
    Member member;
    int together = -1;  // the socket through which all nodes agree on launches; -1: this node measures alone
    uint64_t seed = 0;  // of the order of launches; 0: random
};

// A benchmark at one point.
struct Entry {
    size_t program;
    Settings settings;
    int failures = 0;
    bool is_over = false;
};

// The exit status after a text on standard output.
inline int printed() { return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : (perror("standard output"), 3); }

class Runner {
  public:
    explicit Runner(const Options &options)
        : options_(options),
          run_(random_id()),
          writer_(options.is_serial, options.plans, options.repeat, run_,
                  options.into != nullptr ? options.into : "standard output"),
          scratch_(options.scratch) {
        limits_.silence_ns = archive_.number("silence_ns"), limits_.timeout_ns = archive_.number("timeout_ns");
        begun_ns_ = now_ns();
        if (options.seed != 0) seed_ = options.seed, state_ = seed_ | 1;
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }

    int run() {
        writer_.item("{\"item\":\"begin\",\"bundle\":" + quoted(archive_.one("id")) + ",\"run\":" + quoted(run_) +
                     ",\"started_unix_s\":" + unix_seconds() + ",\"seed\":" + std::to_string(seed_) + emulator() +
                     options_.member.field() + "}");
        // A serial line would take minutes for the sources; `yamba import --bundle` reads them from
        // the bundle.
        writer_.item(archive_.text(writer_.is_serial() ? "brief" : "plan"));
        if (!writer_.is_serial()) writer_.item(archive_.text("sources"));
        writer_.item("{\"item\":\"machine\",\"answers\":" + facts::answers() +
                     ",\"files\":" + facts::files(archive_.all("file")) + "}");
        describe_all();
        if (options_.plans) return print_plan();
        probe_widths();
        for (uint64_t round = 0; round < archive_.number("launches") && !stop_requested; round++) measure(round);
        writer_.item("{\"item\":\"end\",\"items\":" + std::to_string(writer_.items() + 1) +
                     ",\"entries\":" + std::to_string(points_) + ",\"interrupted\":" + (stop_requested ? "true" : "false") +
                     ",\"finished_unix_s\":" + unix_seconds() + "}");
        writer_.finish();
        if (writer_.has_failed()) return 3;
        return stop_requested ? 1 : 0;
    }

  private:
    // The JSON field with the emulator. Each launch repeats it, so that a figure under an emulator
    // is known as such even if the beginning of the run is lost.
    std::string emulator() const { return ",\"emulator\":" + (options_.emulator.empty() ? "null" : quoted(options_.emulator)); }

    static std::string random_id() {
        uint64_t bits = 0;
        char digits[20];
        if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
            bits = clock_ns(CLOCK_REALTIME) * 0x9E3779B97F4A7C15u ^ uint64_t(getpid());
        snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits));
        return digits;
    }

    static std::string unix_seconds() {
        char text[40];
        const uint64_t now = clock_ns(CLOCK_REALTIME);
        snprintf(text, sizeof text, "%llu.%03llu", static_cast<unsigned long long>(now / 1000000000),
                 static_cast<unsigned long long>(now / 1000000 % 1000));
        return text;
    }

    Output start(size_t program, std::vector<std::string> arguments, bool describes) {
        const std::string &name = archive_.programs()[program].name;
        arguments.insert(arguments.begin(), name);
        if (!describes) arguments.insert(arguments.end(), {"--record-fd", "3"});
        scratch_.enter(name);
        Executable executable(name, archive_.program(program), scratch_.path());
        return Process(executable, options_.emulator, arguments, describes).finish(limits_);
    }

    static void add(std::vector<std::string> &arguments, const Settings &settings) {
        for (const auto &setting : settings) arguments.insert(arguments.end(), {"--set", setting.first + "=" + setting.second});
    }

    Description describe(size_t program, const Settings &settings) {
        std::vector<std::string> arguments = {"--describe"};
        add(arguments, settings);
        const Output output = start(program, arguments, true);
        Description found;
        found.settings = settings;
        found.status = output.exit.kind == Exit::exited ? output.exit.number : -1;
        found.text = output.records, found.errors = output.errors;
        if (!JsonReader(found.text).whole(found.json)) found.json = Json();
        while (!found.text.empty() && found.text.back() == '\n') found.text.pop_back();
        return found;
    }

    void describe_all() {
        const bool is_quick = archive_.number("quick") != 0;
        for (size_t program = 0; program < archive_.programs().size() && !stop_requested; program++)
            expand([&](const Settings &settings) { return describe(program, settings); }, is_quick, Settings(),
                   [&](const Description &found) { enter(program, found); });
    }

    void enter(size_t program, const Description &found) {
        Entry entry{program, found.settings};
        entry.is_over = !found.is_measurable();
        entries_.push_back(entry);
        writer_.item("{\"item\":\"point\",\"entry\":" + std::to_string(points_++) + ",\"program\":" + std::to_string(program) +
                     ",\"set\":" + listed(found.settings) + ",\"status\":" + std::to_string(found.status) +
                     (found.is_described() ? ",\"description\":" + found.text : ",\"text\":" + quoted(found.errors)) + "}");
    }

    // The width of the core before the first launch: a neighbour of that moment could pass for a
    // quiet core.
    void probe_widths() {
        if (entries_.empty() || !options_.emulator.empty() || stop_requested) return;
        const Output output = start(0, {"--width-probes", "1000000000"}, false);
        learn(output.records);
        writer_.item("{\"item\":\"probes\",\"records\":" + Records(output.records).list() + "}");
    }

    void learn(const std::string &records) {
        for (size_t at = 0, end; (end = records.find('\n', at)) != std::string::npos; at = end + 1) {
            Json record;
            if (JsonReader(records.substr(at, end - at)).whole(record)) widths_.add(record);
        }
        widths_.launched();
    }

    // About the bytes that a launch sends over a serial line, frames included: docs/notes/fleet.md
    // gives 5 to 20 KB.
    static constexpr double launch_bytes = 14000;

    int print_plan() const {
        const auto measured = std::count_if(entries_.begin(), entries_.end(), [](const Entry &entry) { return !entry.is_over; });
        const double launches = double(measured) * strtod(archive_.line("launches"), nullptr);
        const double seconds = launches * (strtod(archive_.line("launch_time_ns"), nullptr) / 1e9 + 0.06);
        const double bytes = (double(writer_.bytes()) + launches * launch_bytes) * options_.repeat;
        printf("%td figures, %.0f launches, about %.0f s", measured, launches, seconds);
        if (options_.is_serial)
            printf("; then about %.0f s for %.0f KB on a line of 115200 baud", bytes * 10 / 115200, bytes / 1000);
        printf(". Nothing was measured.\n");
        return printed();
    }

    // Launches each entry once, in random order.
    void measure(uint64_t round) {
        std::vector<size_t> order;
        for (size_t i = 0; i < entries_.size(); i++)
            if (!entries_[i].is_over || options_.together >= 0) order.push_back(i);
        for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random() % i]);
        for (size_t entry : order)
            if (!stop_requested) launch(entry, round);
    }

    // xorshift64*
    uint64_t random() {
        state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1Du >> 16;
    }

    void launch(size_t number, uint64_t round) {
        Entry &entry = entries_[number];
        Meeting before, after;
        if (options_.together >= 0 && !meet(yamba::meeting::launch, identity(entry, round), before)) return;
        std::vector<std::string> arguments = {"--run"};
        add(arguments, entry.settings);
        const auto &fixed = archive_.all("argument");
        arguments.insert(arguments.end(), fixed.begin(), fixed.end());
        add_load(arguments);
        const bool is_probed = widths_.level() > 0 && options_.emulator.empty() && options_.together < 0;
        const std::string width = std::to_string(llround(widths_.level())), batch = archive_.one("short_batch_ns");
        const bool is_short = is_probed && widths_.is_contended();
        if (is_short) arguments.insert(arguments.end(), {"--batch-ns", batch});
        if (is_probed) arguments.insert(arguments.end(), {"--quiet-width", width});
        Output output = start(entry.program, arguments, false);
        if (options_.together >= 0) meet(yamba::meeting::launch_end, 1, after), add_clocks(output.records, before, after);
        if (output.exit.kind == Exit::stopped) return;
        learn(output.records);
        note(entry, output);
        writer_.item("{\"item\":\"launch\",\"entry\":" + std::to_string(number) +
                     ",\"program\":" + std::to_string(entry.program) + ",\"round\":" + std::to_string(round) +
                     ",\"quiet_width\":" + (is_probed ? width : "null") + ",\"batch_ns\":" + (is_short ? batch : "null") +
                     emulator() + ending(output) + recorded(output.records) + "}");
    }

    using Meeting = yamba::meeting::Answer;

    // The length of a batch that all nodes time at the same time: long against the errors of their
    // clocks.
    static constexpr const char *together_batch_ns = "50000000";

    // Votes, and returns whether all nodes agree. Stops the run if another one has ended.
    bool meet(yamba::meeting::Kind kind, uint64_t value, Meeting &answer) const {
        yamba::meeting::write_whole(options_.together, yamba::meeting::Vote{kind, value});
        // A program that was killed may have left an answer to its own vote.
        do {
            answer = Meeting{};
            if (!yamba::meeting::read_whole(options_.together, answer)) answer.kind = yamba::meeting::gone;
        } while (answer.kind == yamba::meeting::stretch);
        if (answer.kind == yamba::meeting::gone) stop_requested = 1;
        return answer.agreed != 0;
    }

    // Identifies a launch: it is the same on all nodes. 0 if this node does not start it.
    uint64_t identity(const Entry &entry, uint64_t round) const {
        std::string text = archive_.programs()[entry.program].name + listed(entry.settings) + std::to_string(round);
        return entry.is_over ? 0 : uint64_t(1) + crc32(text.data(), text.size());
    }

    // Every node measures in one process by the protocol for several, which the other nodes join.
    void add_load(std::vector<std::string> &arguments) const {
        if (options_.together < 0) return;
        const std::string socket = std::to_string(options_.together);
        arguments.insert(arguments.end(), {"--processes", "1", "--loaded-ns", together_batch_ns, "--meeting", socket});
    }

    // The clock of the first node by that of this node, before and after the launch.
    static void add_clocks(std::string &records, const Meeting &before, const Meeting &after) {
        char text[200];
        snprintf(text, sizeof text, "{\"event\":\"common_clock\",\"offset_ns\":[%.0f,%.0f],\"error_ns\":[%.0f,%.0f]}\n",
                 before.offset_ns, after.offset_ns, before.error_ns, after.error_ns);
        if (!records.empty() && records.back() == '\n') records += text;
    }

    // An entry ends when a launch is skipped or hangs, and after two failed launches.
    void note(Entry &entry, const Output &output) const {
        const bool is_complete = output.exit.kind == Exit::exited && output.exit.number == 0;
        if (is_complete) return;
        scratch_.forget(archive_.programs()[entry.program].name);
        const bool is_skipped = output.exit.kind == Exit::exited && output.exit.number == 4;
        const bool is_final = output.exit.kind == Exit::hung || output.exit.kind == Exit::timed_out;
        entry.is_over = is_skipped || is_final || ++entry.failures >= 2;
    }

    std::string ending(const Output &output) const {
        static const char *const kinds[] = {"exited", "signalled", "hung", "timed_out", "flooded", "stopped", "not_started"};
        std::string orphans;
        for (const std::string &name : output.orphans) orphans += (orphans.empty() ? "" : ",") + quoted(name);
        return ",\"started_ns\":" + std::to_string(output.began_ns - begun_ns_) +
               ",\"took_ns\":" + std::to_string(output.ended_ns - output.began_ns) +
               ",\"batches_took_ns\":" + std::to_string(output.last_batch_ns - output.first_batch_ns) +
               ",\"exit\":" + quoted(kinds[output.exit.kind]) + ",\"number\":" + std::to_string(output.exit.number) +
               ",\"errors\":" + quoted(output.errors) + ",\"orphans\":[" + orphans + "]";
    }

    static std::string recorded(const std::string &lines) {
        const Records records(lines);
        return ",\"crc32\":" + std::to_string(records.checksum()) + ",\"records\":" + records.list();
    }

    Options options_;
    Archive archive_;
    std::string run_;
    Writer writer_;
    Scratch scratch_;
    Limits limits_;
    std::vector<Entry> entries_;
    Widths widths_;
    uint64_t begun_ns_ = 0, points_ = 0, seed_ = strtoull(run_.c_str(), nullptr, 16) >> 11, state_ = seed_ | 1;
};

inline int usage(const char *name) {
    printf(
        "%s runs the benchmarks that it contains and prints a capture, which `yamba import` reads.\n\n"
        "  --serial           as frames with checksums, for a serial line\n"
        "  --repeat N         with --serial: sends all frames N times\n"
        "  --scratch DIR      for the files of benchmarks [default: $TMPDIR, /var/tmp, /tmp, /dev/shm or /run]\n"
        "  --emulator PROGRAM starts each benchmark through an emulator such as qemu-aarch64\n"
        "  --dry-run          prints how long it would take, also on a serial line\n"
        "  --list             prints the names of the benchmarks\n"
        "  --into FILE        writes the capture to FILE, which appears when it is complete\n"
        "  --together FD --seed N\n"
        "                     measures at the same time as other nodes, whose votes come through the socket FD\n"
        "  --fleet NAME --node NAME --job ID --rank N\n"
        "                     the place of the run in a fleet [default of --node: the host name]\n",
        name);
    return 0;
}

inline int list() {
    Archive archive;
    for (const Program &program : archive.programs()) puts(program.name.c_str());
    return printed();
}

inline bool is_number(const char *text) { return *text != '\0' && strspn(text, "0123456789") == strlen(text); }

// Runs with the capture in a file.
inline int run_into(const Options &options) {
    const OutputFile file(options.into);
    if (!file.is_open()) return perror(options.into), 3;
    const int status = Runner(options).run();
    if (status == 3) return file.discard(), status;
    if (file.complete()) return status;
    return perror(options.into), file.discard(), 3;
}

// Refuses the command line: `what` is wrong about `option`.
inline int refuse(const char *name, const std::string &option, const char *what) {
    fprintf(stderr, "%s: %s: %s\n`%s --help` shows the options\n", name, option.c_str(), what, name);
    return 2;
}

inline bool takes_number(const std::string &option) {
    return option == "--repeat" || option == "--together" || option == "--seed" || option == "--rank";
}

inline bool has_operand(const std::string &option) {
    for (const char *known : {"--scratch", "--emulator", "--into", "--fleet", "--node", "--job"})
        if (option == known) return true;
    return takes_number(option);
}

// Whether a program is found as `execvp` finds it.
inline bool is_in_path(const std::string &name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
    const char *path = getenv("PATH");
    std::string folders = path == nullptr ? "" : path;
    for (size_t at = 0, end; at <= folders.size(); at = end + 1) {
        end = std::min(folders.find(':', at), folders.size());
        if (access((folders.substr(at, end - at) + "/" + name).c_str(), X_OK) == 0) return true;
    }
    return false;
}

// Whether the operands fit each other and this machine.
inline int check(const char *name, const Options &options) {
    if (options.repeat != 1 && !options.is_serial) return refuse(name, "--repeat", "only --serial repeats its output");
    if (options.scratch != nullptr && access(options.scratch, W_OK | X_OK) != 0)
        return refuse(name, std::string("--scratch ") + options.scratch, strerror(errno));
    if (!options.emulator.empty() && !is_in_path(options.emulator))
        return refuse(name, "--emulator " + options.emulator, "there is no such program");
    return 0;
}

inline int main(int argc, char **argv) {
    Options options;
    for (int i = 1; i < argc; i++) {
        const std::string option = argv[i];
        const char *operand = i + 1 < argc ? argv[i + 1] : nullptr;
        const bool is_operand_wrong = operand != nullptr && takes_number(option) && !is_number(operand);
        if (is_operand_wrong) return refuse(argv[0], option + " " + operand, "give a whole number");
        if (option == "--serial") options.is_serial = true;
        else if (option == "--list") options.lists = true;
        else if (option == "--dry-run") options.plans = true;
        else if (option == "--help") return usage(argv[0]);
        else if (!has_operand(option)) return refuse(argv[0], option, "there is no such option");
        else if (operand == nullptr) return refuse(argv[0], option, "its operand is missing");
        else if (option == "--repeat" && atoi(operand) == 0) return refuse(argv[0], option, "give a number above 0");
        else if (option == "--repeat") options.repeat = atoi(operand), i++;
        else if (option == "--scratch") options.scratch = operand, i++;
        else if (option == "--emulator") options.emulator = operand, i++;
        else if (option == "--into") options.into = operand, i++;
        else if (option == "--together") options.together = atoi(operand), i++;
        else if (option == "--seed") options.seed = strtoull(operand, nullptr, 10), i++;
        else if (option == "--fleet") options.member.fleet = operand, i++;
        else if (option == "--node") options.member.node = operand, i++;
        else if (option == "--job") options.member.job = operand, i++;
        else options.member.rank = std::to_string(strtoull(operand, nullptr, 10)), i++;  // JSON has no 007
    }
    if (const int status = check(argv[0], options)) return status;
    if (options.lists) return list();
    for (int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, [](int) { stop_requested = 1; });
    signal(SIGPIPE, SIG_IGN);
    return options.into != nullptr && !options.plans ? run_into(options) : Runner(options).run();
}

}  // namespace bundle

int main(int argc, char **argv) { return bundle::main(argc, argv); }
