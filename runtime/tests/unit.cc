// Tests the runtime's parts individually.
#include <float.h>
#include <sys/wait.h>

#include <string>

namespace unit {

template <class T>
yamba::parse::Fault fault_of(const char *text) {
    T value{};
    return yamba::parse::any(text, value);
}

template <class T>
T value_of(const char *text) {
    T value{};
    CHECK(yamba::parse::any(text, value) == nullptr);
    return value;
}

void text_is_always_json() {
    auto quoted = [](const char *s) { return yamba::Text().quote(s); };
    CHECK(quoted("a\"b\\c\n").is("\"a\\\"b\\\\c\\u000a\""));
    CHECK(quoted("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80").is("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""));
    CHECK(quoted("\xFF").is("\"\xEF\xBF\xBD\""));
    CHECK(quoted("\xC0\x80x").is("\"\xEF\xBF\xBD\xEF\xBF\xBDx\""));
    CHECK(quoted("\xE2\x82").is("\"\xEF\xBF\xBD\xEF\xBF\xBD\""));
    CHECK(quoted("\xED\xA0\x80").is("\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""));
    CHECK(quoted(nullptr).is("null"));
    auto number = [](double v) { return yamba::Text().number(v); };
    CHECK(number(0.1).is("0.1"));
    CHECK(number(1.0 / 3).is("0.3333333333333333"));
    CHECK(number(1e300).is("1e+300"));
    auto single = [](float v) { return yamba::Text().number(double(v), true); };
    CHECK(single(0.1f).is("0.1") && single(1.0f / 3).is("0.33333334") && single(16777216).is("16777216"));
    CHECK(single(1000000).is("1000000") && single(3e10f).is("30000000000") && single(1e20f).is("1e+20") &&
          single(FLT_MAX).is("3.4028235e+38"));
    CHECK(single(-0.0f).is("-0") && single(FLT_TRUE_MIN).is("1.4013e-45") && single(INFINITY).is("null"));
    CHECK(number(double(0.1f)).is("0.10000000149011612") && single(0.30000001192092896f).is("0.3"));
    CHECK(yamba::spell(0.1f).json.is("0.1") && yamba::spell(0.1f).plain.is("0.1") && yamba::spell(0.1).json.is("0.1"));
    char printed[yamba::longest_value];
    auto prints = [&](yamba::Value v, const char *text) { return std::string(printed, yamba::print(printed, v)) == text; };
    CHECK(prints(yamba::shown(0.1f), "0.1") && prints(yamba::shown(0.1), "0.1") && prints(yamba::shown(-2.5e-9), "-2.5e-09"));
    // Every float reads back as itself, through the parser of --set.
    uint32_t bits = 1;
    for (int i = 0; i < 20000; i++, bits = bits * 1664525 + 1013904223) {
        float value;
        memcpy(&value, &bits, sizeof value);
        if (__builtin_isfinite(value)) CHECK(value_of<float>(single(value).c_str()) == value);
    }
    CHECK(number(NAN).is("null") && number(INFINITY).is("null") && number(-INFINITY).is("null"));
    yamba::Text copy = number(5), moved = static_cast<yamba::Text &&>(copy);
    CHECK(moved.is("5") && copy.empty());
    copy = moved;
    CHECK(copy.is("5"));
}

void settings_are_parsed_to_their_ends() {
    CHECK(value_of<int>("64") == 64 && value_of<int>("-64") == -64 && value_of<int>("0x40") == 64 && value_of<int>("+7") == 7);
    CHECK(value_of<size_t>("64K") == 65536 && value_of<size_t>("1m") == 1048576 && value_of<uint64_t>("2G") == uint64_t(2) << 30);
    CHECK(value_of<int64_t>("-9223372036854775808") == INT64_MIN && value_of<uint64_t>("18446744073709551615") == UINT64_MAX);
    CHECK(value_of<signed char>("-128") == -128 && value_of<unsigned char>("255") == 255);
    CHECK(value_of<double>("1.5") == 1.5 && value_of<double>("1.5K") == 1536 && value_of<float>("-2") == -2);
    CHECK(value_of<bool>("true") && value_of<bool>("1") && !value_of<bool>("no"));
    CHECK(strcmp(value_of<const char *>("any text"), "any text") == 0);
    using namespace yamba::parse;
    CHECK(fault_of<int>("2147483648") == out_of_range && fault_of<int>("-2147483649") == out_of_range);
    CHECK(fault_of<unsigned>("-1") == out_of_range && fault_of<unsigned char>("256") == out_of_range);
    CHECK(fault_of<uint64_t>("18446744073709551616") == out_of_range && fault_of<uint64_t>("99999999999T") == out_of_range);
    CHECK(fault_of<float>("1e300") == out_of_range);
    for (const char *wrong : {"", "-", "abc", "12abc", "1KB", "K", "0x", " 1", "--1", "1 "})
        CHECK(fault_of<int>(wrong) == not_a_number);
    for (const char *wrong : {"", "abc", "nan", "1.5X"}) CHECK(fault_of<double>(wrong) == not_a_number);
    CHECK(fault_of<bool>("maybe") != nullptr && fault_of<bool>("") != nullptr);
}

void sweeps_have_the_values_they_say() {
    CHECK((yamba::values<int>(16, 32u, 64L) == yamba::Values<int>{16, 32, 64}));
    CHECK((yamba::log_values<int>(16, 64, 1) == yamba::Values<int>{16, 32, 64}));
    CHECK((yamba::log_values<int>(16, 32, 2) == yamba::Values<int>{16, 23, 32}));
    CHECK((yamba::log_values<int>(1, 2, 8) == yamba::Values<int>{1, 2}));
    CHECK(yamba::log_values<int>(0, 8, 1).empty() && yamba::log_values<int>(8, 4, 1).empty() &&
          yamba::log_values<int>(1, 8, 0).empty());
    CHECK((yamba::linear_values<int>(0, 10, 5) == yamba::Values<int>{0, 5, 10}));
    CHECK((yamba::linear_values<int>(3, 0, -1) == yamba::Values<int>{3, 2, 1, 0}));
    CHECK(yamba::linear_values<double>(0, 1, 0.1).size() == 11 && yamba::linear_values<int>(0, 1, 0).empty());
}

void a_wrong_setting_is_named_with_what_there_is() {
    {
        yamba::ParameterSource source;
        int8_t narrow = 0;
        size_t size = 0;
        source.settle(size, "size", "size_t", [] { return 1 << 20; });
        source.settle(narrow, "lowest", "int8_t", [] { return -128; });
        CHECK(source.understood("sample") && narrow == -128);
        source.settle(narrow, "narrow", "int8_t", [] { return 300; });
        source.settle(size, "size", "size_t", [] { return -1; });
        CHECK(!source.understood("sample"));
        CHECK(source.fault.is("narrow is of type int8_t, which cannot hold its value 300"));
    }
    auto fault = [](const char *name, const char *text) {
        yamba::ParameterSource source;
        source.settings.push_back({yamba::Text(name), text});
        int scale;
        bool on;
        source.settle(scale, "scale", "int", [] { return 16; });
        source.settle(on, "on", "bool", [] { return false; });
        source.understood("sample");
        return source.fault;
    };
    CHECK(fault("scale", "8").empty());
    CHECK(fault("scal", "8").is("--set scal=8: sample has no parameter `scal`; it has scale (int), on (bool)"));
    CHECK(fault("scale", "9G").is("--set scale=9G: scale is of type int; `9G` is out of range"));
    CHECK(fault("on", "x").is("--set on=x: on is of type bool; `x` is neither true nor false"));
}

struct Checked {
    const char *what;
    void check_parameters() {
        if (strcmp(what, "scale") == 0) yamba::refuse("scale", "it must be %d or more", 16);
        if (strcmp(what, "on") == 0) yamba::refuse("on", "it must be true");
        if (strcmp(what, "other") == 0) yamba::refuse("other", "there is none");
    }
};

void what_is_refused_is_told_as_it_was_given() {
    auto refused = [](const char *what) {
        yamba::ParameterSource source;
        source.settings.push_back({yamba::Text("scale"), "0x8"});
        int scale;
        bool on;
        source.settle(scale, "scale", "int", [] { return 16; });
        source.settle(on, "on", "bool", [] { return false; });
        Checked subject = {what};
        yamba::Text text = yamba::objection(subject, source);
        CHECK(yamba::checked == nullptr);
        return text;
    };
    CHECK(refused("nothing").empty());
    CHECK(refused("scale").is("benchmark: --set scale=0x8: it must be 16 or more"));
    CHECK(refused("on").is("benchmark: on=false: it must be true"));
    CHECK(refused("other").is("benchmark: other: there is none"));
}

void versions_are_compared_number_by_number() {
    using yamba::condition::version_at_least;
    CHECK(version_at_least("6.1.0-13-amd64", {6, 1}) && version_at_least("6.10", {6, 9}) && version_at_least("7", {6, 99}));
    CHECK(!version_at_least("6.9", {6, 10}) && !version_at_least("5.15.1", {6}) && version_at_least("6", {6, 0}) &&
          !version_at_least("6", {6, 1}));
    CHECK(version_at_least("6.1", {}) && !version_at_least("", {1}));
}

void features_are_whole_words() {
#ifndef YAMBA_SYSTEM_POSIX
    using namespace yamba::system;
    CHECK(is_word("fpu vme avx512f", "avx512f") && !is_word("fpu avx512f", "avx512") && !is_word("fpu", "pu") &&
          !is_word("fpu", ""));
    CHECK(!is_word("hyperv_clocksource_tsc_page acpi_pm", "tsc") && is_word("kvm-clock tsc acpi_pm", "tsc") &&
          !is_word("sse4_1 sse4_2", "sse4") && is_word("sse4_1", "sse4_1"));
    CHECK(is_extension(" rv64imafdc_zba_zbb", "zba") && is_extension("rv64imafdc_zba_zbb\n", "zbb") &&
          !is_extension("rv64imafdc_zba_zbb", "zb"));
    CHECK(is_letter_extension(" rv64imafdc_zba", "c") && !is_letter_extension(" rv64imafd_zbc", "c"));
#endif
}

void failure_is_known_by_its_value() {
    using yamba::means_failure;
    CHECK(means_failure(-1) && !means_failure(0) && !means_failure(3) && means_failure(ssize_t(-5)));
    CHECK(means_failure(static_cast<void *>(nullptr)) && means_failure(reinterpret_cast<void *>(intptr_t(-1))) &&
          !means_failure("x"));
    CHECK(means_failure(SIZE_MAX) && !means_failure(size_t(7)) && means_failure(false) && !means_failure(true));
    CHECK(yamba::class_of("void {anonymous}::yamba_lat_pipe::setup()").is("lat_pipe"));
    CHECK(yamba::class_of("virtual void (anonymous namespace)::variant_0::yamba_a_b::f(int)").is("a_b"));
    CHECK(yamba::class_of("void helper()").is(yamba::program_name));
}

// With a clock from a fixed list, the resolution is its smallest step and the cost its mean step.
void the_clock_is_measured() {
    static uint64_t reading;
    yamba::read_clock = [] { return reading++ / 4 * 30; };
    yamba::ClockError error = yamba::measure_clock();
    CHECK(error.resolution == 30 && error.cost == 7.5 && error.worst() == 30);
    // A reading takes 35 ns, and the clock steps by 10 ns.
    yamba::read_clock = [] { return reading++ * 35 / 10 * 10; };
    error = yamba::measure_clock();
    CHECK(error.resolution == 10 && error.worst() > 30);
    // A counter whose steps are far shorter than a reading, which takes 60 to 72 ticks: no step is
    // known, and the shortest time is one at most.
    yamba::read_clock = [] { return reading++, reading * 66 + reading * reading % 7; };
    error = yamba::measure_clock();
    CHECK(error.resolution >= 60 && error.resolution <= 66);
    yamba::read_clock = [] { return uint64_t(5); };
    error = yamba::measure_clock();
    CHECK(error.resolution == 0 && error.cost == 0);
}

// A counter of `hz`, shown in whole ns. A reading takes `cost` to `cost + jitter` ns, and one is
// interrupted.
struct Counter {
    double hz, cost, jitter, at;
    uint32_t random;
    int readings;
    uint64_t read() {
        random = random * 1664525 + 1013904223;
        at += cost + jitter * (random >> 8) / (1 << 24) + (++readings == 250 ? 70001.3 : 0);
        return uint64_t(floor(at * hz / 1e9) * 1e9 / hz);
    }
};

Counter counter;

// Steps that are no whole number of ns are found whether a reading is shorter or longer than a
// step.
void steps_of_counters_are_found() {
    yamba::read_clock = [] { return counter.read(); };
    for (double hz : {24e6, 54e6, 14.318e6, 3.579545e6, 10e6, 100e6})
        for (double cost : {20.0, 45.0, 150.0, 700.0}) {
            const double step = 1e9 / hz;
            counter = {hz, cost, cost / 2, 12345.6, 1, 0};
            const double found = yamba::measure_clock().resolution;
            CHECK(found > step * 0.999 && found < step * 1.01);
        }
    counter = {1e9, 20, 10, 12345.6, 1, 0};
    // Steps of 1 ns look like no steps, and the shortest reading takes 20 ns.
    CHECK(yamba::measure_clock().resolution >= 20 && yamba::measure_clock().resolution <= 21);
    static uint64_t reading;
    // A clock that the timer interrupt sets, a little earlier or later.
    yamba::read_clock = [] { return ++reading, reading / 90 * 4000000 + reading / 90 * 7919 % 500; };
    const double found = yamba::measure_clock().resolution;
    CHECK(found > 3.9e6 && found < 4.1e6);
}

uint64_t now;
uint64_t simulated() { return now += 10; }

// The simulated disturbance, set by the tests.
yamba::Usage usage;
yamba::Usage simulated_usage() {
    yamba::Usage used = usage;
    used.cpu_ns += double(now);
    return used;
}

double waited;
double simulated_wait() { return waited; }

double other_threads_ns = 0;
double simulated_process_time() { return simulated_usage().cpu_ns + other_threads_ns; }

// Records the order of the harness's calls.
struct Recorder final : yamba::Subject {
    yamba::Text calls;
    uint64_t most_passes = 0;
    uint64_t pass_time = 100, dummy_pass_time = 0;
    uint64_t runs = 0, faster_after = UINT64_MAX;  // after this many runs a pass takes a tenth of its time
    uint64_t each = 3, slow_every = 0;             // operations of a pass; every so many runs, one takes 5 us more
    int slow_calls = 0;                            // the first calls take 0.4 ms more, as with cold caches
    uint64_t busy_from = UINT64_MAX, busy_to = 0;  // of these runs, each takes 10 ms more
    const char *kind = "latency";

    void configure(yamba::ParameterSource &) override {}
    void prepare() override { calls.add("P"); }
    void setup() override { calls.add("S"); }
    void before_pass() override { calls.add("("); }
    void before_batch() override { calls.add("["); }
    void after_pass() override { calls.add(")"); }
    void cleanup() override { calls.add("C"); }
    void finish() override { calls.add("F"); }
    uint64_t operations() override { return each; }
    double value() override { return 42; }
    void run(uint64_t passes) override {
        calls.add("b");
        if (slow_every > 0 && (runs + 1) % slow_every == 0) now += 5000;
        if (runs >= busy_from && runs < busy_to) now += 10000000;
        now += passes * (runs++ < faster_after ? pass_time : pass_time / 10) + (slow_calls-- > 0 ? 400000 : 0);
        if (passes > most_passes) most_passes = passes;
    }
    void run_dummy(uint64_t passes) override {
        calls.add("d");
        now += passes * dummy_pass_time;
    }
    void evidence(yamba::EvidenceSink &sink) override {
        calls.add("e");
        sink.value("passes", double(yamba::batch.passes));
        CHECK(yamba::batch.operations == each * yamba::batch.passes && yamba::batch.nanoseconds > 0);
    }
    size_t bounds(yamba::Bound *, size_t) override { return 0; }
    const char *figure() override { return kind; }
    const char *unit() override { return "ns"; }
};

// Measures with the records written to `file`.
void measure_to(int file, yamba::Subject &subject, bool pass_hooks, yamba::Plan plan) {
    now = 0;
    yamba::read_clock = simulated;
    yamba::read_usage = simulated_usage;
    yamba::read_waited = simulated_wait;
    yamba::read_process_time = simulated_process_time;
    yamba::record_fd = file;
    yamba::measure(subject, pass_hooks, plan, {10, 10});
}

void measure_into(yamba::Subject &subject, bool pass_hooks, yamba::Plan plan) {
    int nowhere = open("/dev/null", O_WRONLY);
    measure_to(nowhere, subject, pass_hooks, plan);
    close(nowhere);
}

Recorder measured(const char *kind, bool pass_hooks, yamba::Plan plan) {
    Recorder subject;
    subject.kind = kind;
    measure_into(subject, pass_hooks, plan);
    return subject;
}

void one_pass_a_batch_with_hooks() {
    Recorder subject = measured("latency", true, {2, 0});
    // Prepare, set up, a warm-up without evidence, two batches with evidence before after_pass,
    // clean up, finish.
    CHECK(subject.calls.is("PS([b)([d)([be)([d)([be)([d)CF"));
    CHECK(subject.most_passes == 1);
}

void a_quantity_is_asked_once_a_batch() { CHECK(measured("value", false, {2, 0}).calls.is("PS([be)([be)CF")); }

void passes_grow_until_a_batch_is_long_enough() {
    Recorder subject = measured("latency", false, {11, 0});
    // At 100 ns per pass, 0.2 ms need 2000 passes; the growth check takes twice as many.
    CHECK(subject.most_passes >= 4000 && subject.most_passes < 4800);
    size_t evidence = 0;
    for (const char *c = subject.calls.c_str(); *c != '\0'; c++) evidence += *c == 'e';
    CHECK(evidence == 11);
}

// Beside a neighbour the harness asks for shorter batches.
void batches_are_as_long_as_planned() {
    Recorder subject;
    yamba::Plan plan{11, 0};
    plan.batch = 50000;
    measure_into(subject, false, plan);
    CHECK(subject.most_passes >= 1000 && subject.most_passes < 1200);
}

// A batch sized by slow first passes, or by passes without the processor, would always be too
// short.
void slow_first_passes_do_not_size_a_batch() {
    Recorder subject;
    subject.slow_calls = 6;
    measure_into(subject, false, {11, 0});
    CHECK(subject.most_passes >= 4000 && subject.most_passes < 4800);
}

// The records that `work` writes.
template <class Work>
yamba::Text recorded(Work work) {
    char name[] = "/tmp/yamba-unit-XXXXXX";
    int file = mkstemp(name);
    CHECK(file >= 0);
    yamba::record_fd = file;
    work();
    yamba::Text text;
    char block[4096];
    lseek(file, 0, SEEK_SET);
    for (ssize_t n; (n = read(file, block, sizeof block)) > 0;) text.add(block, size_t(n));
    close(file), unlink(name);
    return text;
}

// Measures, and counts the occurrences of `what` in the records.
size_t records_with(Recorder &subject, yamba::Plan plan, const char *what, bool pass_hooks = false) {
    const yamba::Text text = recorded([&] { measure_to(yamba::record_fd, subject, pass_hooks, plan); });
    size_t count = 0;
    for (const char *s = text.c_str(); (s = strstr(s, what)) != nullptr; s++) count++;
    return count;
}

// Ten trials show the growth of a steady benchmark. If other load hides it, trials are repeated
// until it shows.
void growth_trials_are_repeated_until_growth_shows() {
    yamba::Plan plan{11, 0};
    plan.time = 1000000000, plan.warmup = 0;
    Recorder sized, steady, busy;
    const uint64_t sizing = records_with(sized, plan, "\"purpose\":\"size\"");
    CHECK(records_with(steady, plan, "\"purpose\":\"growth\"") == 10);
    busy.busy_from = sizing, busy.busy_to = sizing + 14;
    CHECK(records_with(busy, plan, "\"purpose\":\"growth\"") == 16);
}

// A note reports passes that become faster after the sizing.
void short_intervals_are_said() {
    Recorder steady, faster;
    faster.faster_after = 200;
    CHECK(records_with(steady, {400, 0}, "far shorter than they were made") == 0);
    CHECK(records_with(faster, {400, 0}, "far shorter than they were made") == 1);
}

// One-pass classes get an explicitly requested warm-up, too; it does not fill the record.
void a_warm_up_that_was_asked_for_is_given() {
    yamba::Plan plan{2, 0};
    plan.warmup = 100000;
    Recorder one_pass, passes;
    CHECK(records_with(one_pass, plan, "\"purpose\":\"warm-up\"", true) == 1);
    plan.warmup_told = true;
    Recorder quantity;
    quantity.kind = "value";
    CHECK(records_with(quantity, plan, "\"dummy_ns\":0,\"trial\":", true) == 6);
    CHECK(now >= 100000 && now < 150000);
    CHECK(records_with(one_pass, plan, "\"purpose\":\"warm-up\"", true) == 6);
    CHECK(now >= 100000 && now < 150000);
    plan.warmup = 100000000;
    CHECK(records_with(passes, plan, "\"purpose\":\"warm-up\"") == 6);
    CHECK(now >= 100000000 && now < 110000000);
}

// A request above the usual limit of batches is honoured.
void batches_beyond_the_usual_most_are_measured() {
    Recorder subject;
    yamba::Plan plan{10050, 0};
    CHECK(records_with(subject, plan, "\"event\":\"batch\"", true) == 10050);
}

// Every tenth operation takes 5 us longer. Each time has the cost of the clock, which is recorded.
void single_operations_are_timed_alone() {
    Recorder subject;
    subject.each = 1, subject.slow_every = 10, subject.dummy_pass_time = 7;
    yamba::Plan plan{11, 40000000};
    plan.singles = 50;
    CHECK(records_with(subject, plan, "5110.0") == 5);
    CHECK(records_with(subject, plan, "\"event\":\"singles\",\"dummy_ns\":17,\"ns\":[") == 1);
    subject.calls = {};
    CHECK(records_with(subject, plan, "\"dummy_ns\":17,\"ns\":[", true) == 1);
    CHECK(strstr(subject.calls.c_str(), "([d)([d)([b)([b)") != nullptr && strstr(subject.calls.c_str(), "([b)([b)CF") != nullptr);
    // A quarter of the time, at 630 ns an operation in the mean.
    plan.time = 40000, plan.singles = 1000;
    const size_t few = records_with(subject, plan, "10.0,");
    CHECK(few >= 10 && few <= 25);
    subject.each = 3;
    CHECK(records_with(subject, plan, "\"singles\"") == 0);
    subject.each = 1, subject.kind = "bandwidth";
    CHECK(records_with(subject, plan, "\"singles\"") == 0);
}

// A benchmark that takes no time may have a dummy that does.
void a_dummy_that_takes_time_ends_the_growth() {
    Recorder subject;
    subject.pass_time = 0, subject.dummy_pass_time = 100;
    measure_into(subject, false, {11, 0});
    CHECK(subject.most_passes >= 4000 && subject.most_passes < 4800);
}

// Every third batch loses the processor and does not count as one of the eleven.
struct Disturbed final : yamba::Subject {
    uint64_t batches = 0;
    bool waiting = false;
    bool crowded = false;  // every third batch waits in the run queue for others
    int64_t step = 0;      // of the clock, in the fifth batch
    void configure(yamba::ParameterSource &) override {}
    void prepare() override {}
    void setup() override {}
    void before_pass() override {}
    void after_pass() override {}
    void cleanup() override {}
    void finish() override {}
    uint64_t operations() override { return 1; }
    bool may_wait() override { return waiting; }
    double value() override { return 0; }
    void run(uint64_t) override {
        now += 1000;
        waited += crowded && batches % 3 == 0 ? 900 : 300;
        if (step == 0 && batches % 3 == 0) usage.involuntary++;
        if (step != 0 && batches == 5) {
            now += uint64_t(step);
            // The thread's own clock does not step.
            usage.cpu_ns -= double(step);
        }
    }
    void run_dummy(uint64_t) override {}
    void evidence(yamba::EvidenceSink &) override { batches++; }
    size_t bounds(yamba::Bound *, size_t) override { return 0; }
    const char *figure() override { return "latency"; }
    const char *unit() override { return "ns"; }
};

uint64_t batches_with_disturbance(bool waiting, uint64_t time, int64_t step = 0, bool crowded = false) {
    Disturbed subject;
    subject.waiting = waiting;
    subject.crowded = crowded;
    subject.step = step;
    yamba::Plan plan;
    plan.time = time;
    plan.lock = false;
    now = 0;
    usage = {};
    yamba::read_clock = simulated;
    yamba::read_usage = simulated_usage;
    yamba::read_waited = simulated_wait;
    yamba::read_process_time = simulated_process_time;
    yamba::record_fd = open("/dev/null", O_WRONLY);
    yamba::measure(subject, true, plan, {10, 10});
    close(yamba::record_fd);
    usage = {};
    return subject.batches;
}

// A benchmark with page faults in each pass, or one in each batch.
struct Faulting final : yamba::Subject {
    uint64_t batches = 0, each_pass = 0, each_batch = 0;
    void configure(yamba::ParameterSource &) override {}
    void prepare() override {}
    void setup() override {}
    void before_pass() override {}
    void after_pass() override {}
    void cleanup() override {}
    void finish() override {}
    uint64_t operations() override { return 1; }
    double value() override { return 0; }
    void run(uint64_t passes) override {
        now += 1000 * passes;
        usage.minor_faults += each_pass * passes + each_batch;
    }
    void run_dummy(uint64_t) override {}
    void evidence(yamba::EvidenceSink &) override { batches++; }
    size_t bounds(yamba::Bound *, size_t) override { return 0; }
    const char *figure() override { return "latency"; }
    const char *unit() override { return "ns"; }
};

uint64_t batches_with_faults(uint64_t each_pass, uint64_t each_batch) {
    Faulting subject;
    subject.each_pass = each_pass;
    subject.each_batch = each_batch;
    yamba::Plan plan;
    plan.time = 2000000;
    plan.batch = 100000;
    plan.lock = false;
    now = 0;
    usage = {};
    yamba::read_clock = simulated;
    yamba::read_usage = simulated_usage;
    yamba::read_waited = simulated_wait;
    yamba::record_fd = open("/dev/null", O_WRONLY);
    yamba::measure(subject, false, plan, {10, 10});
    close(yamba::record_fd);
    usage = {};
    return subject.batches;
}

// A measurement with too few undisturbed batches goes on for longer.
void faults_in_every_pass_disturb_no_batch() {
    const uint64_t none = batches_with_faults(0, 0);
    CHECK(none >= 11 && batches_with_faults(1, 0) == none && batches_with_faults(3, 0) == none);
    CHECK(batches_with_faults(0, 1) > 2 * none);
}

void disturbed_batches_are_replaced() {
    // With 1 ms of patience, 11 undisturbed batches need 16 in total; with almost no time, there is
    // no extension.
    CHECK(batches_with_disturbance(false, 1) == 11);
    uint64_t enough = batches_with_disturbance(false, 15000);
    CHECK(enough >= 16 && enough <= 18);
    CHECK(batches_with_disturbance(true, 1) == 11);
    CHECK(batches_with_disturbance(true, 8000) == 11);
    uint64_t crowded = batches_with_disturbance(true, 8000, 0, true);
    // The first batch cannot know the least wait.
    CHECK(crowded >= 15 && crowded <= 18);
}

// A step of the clock invalidates only the batch in which it happens. After a backward step the
// time budget restarts; a forward step uses it up, so measuring ends after the minimum of 11
// batches.
void a_clock_that_steps_costs_one_batch() {
    uint64_t back = batches_with_disturbance(false, 15000, -3600 * int64_t(1000000000));
    CHECK(back >= 12 && back <= 30);
    CHECK(batches_with_disturbance(false, 15000, 3600 * int64_t(1000000000)) == 11);
}

void each_disturbance_has_its_name() {
    using yamba::held_against;
    yamba::Tolerance none{false, false}, waits{true, false}, faults{false, true};
    yamba::Disturbance d;
    CHECK(held_against(d, 1000, none).empty());
    d.involuntary = 1;
    CHECK(held_against(d, 1000, none).is("\"switch\"") && held_against(d, 1000, waits).empty());
    d = {}, d.voluntary = 1, d.stolen_ns = 900;
    CHECK(held_against(d, 1000, none).is("\"wait\",\"stolen\"") && held_against(d, 1000, waits).empty() &&
          held_against(d, 1000, faults).is("\"wait\",\"stolen\""));
    // A major fault includes a sleep.
    d.major_faults = 1;
    CHECK(held_against(d, 1000, faults).empty());
    d = {}, d.migrations = 1, d.minor_faults = 1;
    CHECK(held_against(d, 1000, none).is("\"migration\",\"fault\"") && held_against(d, 1000, faults).is("\"migration\"") &&
          held_against(d, 1000, waits).is("\"fault\""));
    d = {}, d.stolen_ns = 11;
    CHECK(held_against(d, 1000, none).is("\"stolen\"") && held_against(d, 1200, none).empty() &&
          held_against(d, 1000, waits).empty());
    d = {}, d.queued_ns = 11;
    CHECK(held_against(d, 1000, {true, false, false}).is("\"queue\"") && held_against(d, 1200, {true, false, false}).empty() &&
          held_against(d, 1000, waits).empty());
    d = {}, d.clock_went_back = true;
    CHECK(held_against(d, 1000, waits).is("\"clock\""));
}

// Faults in every pass are the benchmark's own. Others are not: one first touch of a batch, or a
// few more than the passes take.
void own_page_faults_are_no_disturbance() {
    yamba::OwnFaults none, each, some, once;
    CHECK(none.exceeded_by(1, 100) && !none.exceeded_by(0, 100));
    each.see(1000, 1000), each.see(2004, 2000);
    CHECK(!each.exceeded_by(500, 500) && !each.exceeded_by(506, 500) && each.exceeded_by(520, 500));
    // A fault in every 64th pass.
    some.see(31, 2000), some.see(62, 4000);
    CHECK(!some.exceeded_by(31, 2000) && !some.exceeded_by(32, 2000) && some.exceeded_by(40, 2000));
    // One fault a trial, however many passes it has; and a trial without any.
    once.see(1, 1000), once.see(1, 2000);
    CHECK(once.exceeded_by(1, 1000) && once.exceeded_by(2, 1000));
    once.see(0, 1000);
    CHECK(once.exceeded_by(1, 1000));
}

// A process that waits for its partner has a run-queue wait as long as the partner's work. A longer
// wait is due to others.
void waiting_for_others_is_told_from_waiting_for_the_partner() {
    using yamba::held_against;
    yamba::Tolerance none{false, false}, waits{true, false};
    yamba::Disturbance d;
    d.queued_ns = 60000;
    CHECK(held_against(d, 200000, waits).empty() && held_against(d, 100000, waits).is("\"queue\"") &&
          held_against(d, 100000, none).empty());
    // A fifth of a long batch counts if it consists of few long waits, but not of many short ones.
    d.queued_ns = 3e6, d.voluntary = 20;
    CHECK(held_against(d, 10e6, waits).is("\"queue\"") && held_against(d, 20e6, waits).empty());
    d.voluntary = 1000;
    CHECK(held_against(d, 10e6, waits).empty());
    d.queued_ns = NAN;
    CHECK(held_against(d, 10e6, waits).empty());

    yamba::Queue queue;
    CHECK(queue.beyond_least(500, 10) == 0);
    queue.see(NAN, 10);
    CHECK(queue.beyond_least(500, 10) == 0);
    queue.see(400, 10), queue.see(300, 10), queue.see(1000, 20);
    CHECK(queue.beyond_least(700, 20) == 100);
}

// A thread is off the processor for 70 of 100 ns; otherwise the two clocks agree.
void stolen_time_is_the_gap_between_two_clocks() {
    now = 0;
    usage = {};
    yamba::read_clock = simulated;
    yamba::read_usage = simulated_usage;
    yamba::read_waited = simulated_wait;
    yamba::read_process_time = simulated_process_time;
    yamba::Watch watch;
    now += 100;
    usage.cpu_ns -= 70;
    usage.minor_faults = 3;
    yamba::Disturbance d = watch.end();
    // The clock is read inside: its own 10 ns are in both.
    CHECK(d.stolen_ns >= 60 && d.stolen_ns <= 80 && d.minor_faults == 3 && d.involuntary == 0);
    usage = {};
}

void time_of_other_threads_is_that_of_the_process_without_its_own() {
    now = 0;
    usage = {};
    yamba::read_clock = simulated;
    yamba::read_usage = simulated_usage;
    yamba::read_waited = simulated_wait;
    yamba::read_process_time = simulated_process_time;
    yamba::Watch watch;
    usage.cpu_ns += 1000;
    other_threads_ns = 400;
    const yamba::Disturbance d = watch.end();
    CHECK(d.other_threads_ns > 380 && d.other_threads_ns <= 400);
    yamba::Watch alone;
    usage.cpu_ns += 1000;
    CHECK(alone.end().other_threads_ns <= 0);
    usage = {}, other_threads_ns = 0;
}

// One batch with threads may be the initialisation of a library.
void threads_have_run_if_they_did_in_some_batches() {
    yamba::Disturbance with, without;
    with.other_threads_ns = 20;
    without.other_threads_ns = 9;
    yamba::ConfinedThreads some(true), few(true), one(true);
    for (int i = 0; i < 2; i++) some.see(with, 1000), few.see(with, 1000);
    CHECK(some.have_run());
    for (int i = 0; i < 18; i++) some.see(without, 1000), few.see(without, 1000);
    CHECK(some.have_run());
    few.see(without, 1000);
    CHECK(!few.have_run());
    one.see(with, 1000), one.see(without, 1000);
    CHECK(!one.have_run());
    // Unknown processor time is no sign of threads.
    with.other_threads_ns = NAN;
    for (int i = 0; i < 3; i++) one.see(with, 1000);
    CHECK(!one.have_run());
}

// If the system reports no counts, none are invented, and one note says so.
void what_the_system_does_not_tell_is_not_recorded() {
    Recorder subject;
    usage.known = false, usage.involuntary = 12345;
    CHECK(records_with(subject, {11, 0}, "disturbance is not known here") == 1);
    CHECK(records_with(subject, {11, 0}, "\"disturbance\":") == 0 && records_with(subject, {11, 0}, "\"disturbed\":[]") == 11);
    usage = {};
    CHECK(records_with(subject, {11, 0}, "\"disturbance\":{") == 11 &&
          records_with(subject, {11, 0}, "disturbance is not known here") == 0);
    yamba::Usage known = yamba::system::usage();
    CHECK(known.known && known.cpu_ns > 0);
}

// A chain with 3 ns per step and 12 ns per call: both lengths include the same call.
void a_cycle_is_the_difference_of_two_lengths() {
    yamba::read_clock = simulated;
    yamba::Chain chain{[](uint64_t steps) { now += 12 + 3 * steps; }, 64, 1},
        slow{[](uint64_t steps) { now += 12 + 9 * steps; }, 64, 3};
    CHECK(yamba::cycle::length(chain) == 3 && yamba::cycle::length(slow) == 3);
    CHECK(!(yamba::cycle::length(yamba::Chain{}) > 0));
}

// Each of the six calls is interrupted in turn. Two of them only fetch the code.
void interruption_does_not_change_the_length_of_a_cycle() {
    static int call, interrupted;
    yamba::read_clock = simulated;
    yamba::Chain chain{[](uint64_t steps) { now += 12 + 3 * steps + (++call == interrupted ? 10000 : 0); }, 64, 1};
    for (interrupted = 1; interrupted <= 6; interrupted++) {
        call = 0;
        CHECK(yamba::cycle::length(chain) == 3);
        CHECK(call == 6);
    }
}

// A clock with microsecond steps needs a chain of a millisecond, too long to run around each batch.
void chains_suit_the_clock_s_step() {
    static uint64_t longest;
    yamba::read_clock = simulated;
    yamba::Chain former = yamba::isa_hooks.reference;
    yamba::isa_hooks.reference = {[](uint64_t steps) { now += steps / 2, longest = steps; }, 64, 1};
    auto steps_with = [](double step) {
        yamba::cycle::suit_clock(step);
        yamba::cycle_length();
        return longest / 2;
    };
    CHECK(steps_with(1) == 4096 && steps_with(0) == 4096);
    CHECK(steps_with(40) >= 15900 && steps_with(40) <= 16100 && steps_with(1000) == 131072);
    yamba::isa_hooks.reference = {};
    CHECK((yamba::cycle::suit_clock(40), yamba::cycle::steps_wanted) == 4096);
    yamba::isa_hooks.reference = former;
}

// A simulated probe takes 1 ns an instruction, and a call 40 ns. The probe is long against the
// steps of the clock, and its length is bounded.
void probes_suit_the_clock_s_step() {
    yamba::read_clock = simulated;
    yamba::Chain former = yamba::isa_hooks.width;
    yamba::isa_hooks.width = {[](uint64_t steps) { now += 40 + steps; }, 64, 1};
    auto steps_with = [](double step) { return yamba::width::suit_clock(step), yamba::width::steps_wanted; };
    CHECK(steps_with(1) > 7600 && steps_with(1) <= 8000 && steps_with(0) == steps_with(1));
    CHECK(steps_with(40) > 11000 && steps_with(40) <= 12000 && steps_with(1000) == 0);
    CHECK(steps_with(40) % 64 == 0 && fabs(yamba::width::reading() - 1) < 0.01);
    yamba::isa_hooks.width = {};
    CHECK(isnan((yamba::width::suit_clock(40), yamba::width::reading())));
    yamba::isa_hooks.width = former;
}

// Probes of a millisecond, 0.4 ms apart. Each takes 1 ns an instruction, and a cycle takes 0.5 ns.
void probes_without_a_benchmark_are_recorded() {
    yamba::read_clock = simulated;
    const yamba::Chain width = yamba::isa_hooks.width, reference = yamba::isa_hooks.reference;
    yamba::isa_hooks.width = {[](uint64_t steps) { now += steps; }, 64, 1};
    yamba::isa_hooks.reference = {[](uint64_t steps) { now += steps / 2; }, 64, 1};
    yamba::cycle::suit_clock(1), yamba::width::suit_clock(1);
    now = 0;
    const yamba::Text text = recorded([] { yamba::width::record_probes(1e6); });
    size_t probes = 0;
    for (const char *s = strchr(text.c_str(), '['); s != nullptr && (*s == '[' || *s == ','); s = strpbrk(s + 1, ",]")) {
        CHECK(fabs(strtod(s + 1, nullptr) / 20000 - 1) < 0.02);
        probes++;
    }
    CHECK(probes == 3 && now >= 800000 && now < 1000000);
    yamba::isa_hooks.width = width, yamba::isa_hooks.reference = reference;
}

// Serial chains take 100 ns each. Of those with a gap, the first `fitting` overlap.
void a_divided_reorder_buffer_is_seen() {
    static size_t fitting;
    static const uint64_t isa_entries[] = {125, 215, 385};
    yamba::read_clock = simulated;
    const yamba::ReorderBuffer former = yamba::isa_hooks.reorder_buffer;
    yamba::isa_hooks.reorder_buffer = {[](size_t gap, uint64_t chains) { now += chains * (gap < fitting ? 65 : 115); },
                                       [](uint64_t chains) { now += 100 * chains; }, isa_entries, 3};
    using namespace yamba::window;
    suit_clock(1);
    CHECK(chains_wanted == 6);
    for (fitting = 0; fitting <= 3; fitting++)
        CHECK(yamba::window::entries() == double(fitting == 0 ? 0 : isa_entries[fitting - 1]));
    // A core that can hardly overlap chains.
    static uint64_t each;
    each = 92, yamba::isa_hooks.reorder_buffer.run = [](size_t, uint64_t chains) { now += chains * each; };
    whole = 215;
    CHECK(isnan(yamba::window::entries()) && !is_divided());
    each = 65;
    CHECK(yamba::window::entries() == 385 && !is_divided());
    each = 115;
    CHECK(yamba::window::entries() == 0 && is_divided());
    whole = NAN,
    yamba::isa_hooks.reorder_buffer.run = [](size_t gap, uint64_t chains) { now += chains * (gap < fitting ? 65 : 115); };
    fitting = 2;
    CHECK(!is_divided());  // the whole buffer is unknown
    whole = 215;
    CHECK(!is_divided() && (fitting = 1, is_divided()));
    // A coarse clock needs more chains, or gives no readings.
    CHECK((suit_clock(100), chains_wanted) == 48 && (suit_clock(1000), chains_wanted) == 0);
    CHECK(yamba::window::entries() == 0 && !is_divided());
    yamba::isa_hooks.reorder_buffer = {};
    CHECK((suit_clock(1), chains_wanted) == 0);
    whole = NAN, yamba::isa_hooks.reorder_buffer = former;
}

// The clock rate moves probe and cycle alike; a neighbour moves the probe.
void a_neighbour_lengthens_the_probe() {
    using namespace yamba;
    double fast = width::cycles(0.05, 0.25), slow = width::cycles(0.1, 0.5), contended = width::cycles(0.08, 0.25);
    CHECK(fast == 2000 && slow == fast && contended == 3200);
    CHECK(width::change_ppm(0.25, 0.25) == 0 && width::change_ppm(0.25, 0.2505) == 2000);
    Probes probes;
    CHECK(!is_quiet(probes, fast, true));
    probes.before = probes.between = fast;
    CHECK(is_quiet(probes, fast, false) && !is_quiet(probes, fast, true));
    probes.after = 2039;
    CHECK(is_quiet(probes, fast, true));
    probes.after = contended;
    CHECK(!is_quiet(probes, fast, true));
}

// If the clock rate halves around the probe, the probe has no width. An interruption changes the
// width only if it is the probe's.
void probe_has_a_width_only_at_one_clock_rate() {
    static int call, interrupted, slow_from;
    yamba::read_clock = simulated;
    const yamba::Chain width = yamba::isa_hooks.width, reference = yamba::isa_hooks.reference;
    static auto time = [](uint64_t cycles) -> uint64_t {
        call++;
        return (call >= slow_from ? 2 : 1) * cycles + (call == interrupted ? 10000 : 0);
    };
    yamba::isa_hooks.width = {[](uint64_t steps) { now += time(steps); }, 64, 1};
    yamba::isa_hooks.reference = {[](uint64_t steps) { now += time(2 * steps); }, 64, 1};
    slow_from = 1000, interrupted = 0;
    yamba::cycle::suit_clock(1), yamba::width::suit_clock(1);
    auto core = [](int slow, int interruption) {
        call = 0, slow_from = slow, interrupted = interruption;
        return yamba::width::read_core();
    };
    // read_core() makes eight calls: the chain, the probe and the chain again, each with a first
    // call that only fetches its code. The chain is timed at two lengths, the probe at one: that is
    // call 5.
    const double quiet = core(1000, 0).width;
    CHECK(call == 8 && fabs(quiet / 5000 - 1) < 0.02);
    for (int i = 1; i <= 8; i++) CHECK(core(1000, i).cycle_ns == 2 && (core(1000, i).width == quiet) == (i != 5));
    for (int from = 4; from <= 7; from++) CHECK(isnan(core(from, 0).width));
    for (int from : {1, 2, 8}) CHECK(fabs(core(from, 0).width / quiet - 1) < 0.02);
    yamba::isa_hooks.reference = {};
    CHECK(isnan(yamba::width::read_core().width) && isnan(yamba::width::read_core().cycle_ns));
    yamba::isa_hooks.width = width, yamba::isa_hooks.reference = reference;
}

// Contended batches are recorded, but the program measures on until it has enough others.
void contended_batches_are_not_enough() {
    yamba::read_clock = simulated;
    yamba::Chain reference = yamba::isa_hooks.reference, former = yamba::isa_hooks.width;
    yamba::isa_hooks.reference = {[](uint64_t steps) { now += steps; }, 64, 1};
    static int probes;
    probes = 0;
    // Each of the first ten batches has three probes, and each probe calls the loop twice.
    yamba::isa_hooks.width = {[](uint64_t steps) { now += probes++ < 60 ? 2 * steps : steps; }, 64, 1};
    yamba::width::steps_wanted = 1024;
    Recorder subject, unknown, hopeless;
    yamba::Plan plan{11, 5000000};
    plan.quiet_width = 10000;
    CHECK(records_with(subject, plan, "\"before\":") == 21);
    probes = 0;
    CHECK(records_with(unknown, {11, 0}, "\"before\":20") == 10);
    // Without any quiet moment the program does not measure longer than planned: 5 ms are 14
    // batches.
    probes = -100000;
    const size_t all = records_with(hopeless, plan, "\"before\":20");
    CHECK(all >= 11 && all < 20);
    yamba::isa_hooks.reference = reference, yamba::isa_hooks.width = former;
    yamba::width::steps_wanted = 0;
}

// With few batches, the second chain checks each of them. A check during which the clock rate
// changes does not count.
void few_batches_have_a_second_opinion_each() {
    yamba::Chain former = yamba::isa_hooks.check, reference = yamba::isa_hooks.reference;
    static uint64_t step, calls;
    step = 1, calls = 0;
    yamba::isa_hooks.reference = {[](uint64_t steps) { now += step * steps; }, 64, 1};
    yamba::isa_hooks.check = yamba::isa_hooks.reference;
    Recorder subject, one_pass, unsteady;
    CHECK(records_with(subject, {24, 0}, "\"check_cycle_ns\":1,") == 8 + 2);
    CHECK(records_with(one_pass, {24, 0}, "\"check_cycle_ns\":1,", true) == 24);
    // A length takes six calls. The rate changes after each length.
    yamba::isa_hooks.check = {[](uint64_t steps) { now += step * steps, step = ++calls % 6 == 0 ? 3 - step : step; }, 64, 1};
    CHECK(records_with(unsteady, {24, 0}, "\"check_cycle_ns\":null") == 24);
    yamba::isa_hooks.check = former, yamba::isa_hooks.reference = reference;
}

// A latency above one cycle would differ between processors.
void both_chains_take_one_cycle_a_step(const yamba::IsaHooks &here) {
#if defined(__x86_64__)
    CHECK(here.reference.cycles == 1 && here.check.cycles == 1 && here.check.run != here.reference.run);
    here.reference.run(64), here.check.run(64);
#else
    (void)here;
#endif
}

// A machine may have no hardware counters; Linux's software counters take the same path.
void counters_count_from_one_reading_to_the_next() {
#ifndef YAMBA_SYSTEM_POSIX
    const yamba::system::CounterKind faults[] = {{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}, {"none", 12345, 0}};
    yamba::Counters counters(faults, 2);
    if (!counters.any()) return;  // a container may forbid even these
    yamba::Counters::Reading from, to;
    const size_t pages = 7, page = size_t(sysconf(_SC_PAGESIZE));
    char *memory = static_cast<char *>(mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    counters.read(from);
    for (size_t i = 0; i < pages; i++) memory[i * page] = 1;
    counters.read(to);
    // A sanitizer's own memory faults, too.
    uint64_t counted = to.each[0].value - from.each[0].value;
    CHECK(counted >= pages && counted <= 4 * pages);
    from = {{{10, 1000, 900}}, {true}}, to = {{{17, 3000, 2900}}, {true}};
    CHECK(counters.difference(from, to).is("\"faults\":7"));
    // A multiplexed counter has missed events; a counter that cannot be read has no value.
    to.each[0].running = 2899;
    CHECK(counters.difference(from, to).empty());
    to.each[0].running = 2900, from.known[0] = false;
    CHECK(counters.difference(from, to).empty());
    munmap(memory, pages * page);
#endif
    CHECK(!yamba::Counters(nullptr, 0).any());
}

void precision_is_half_the_median_s_interval() {
    using yamba::harness::half_width;
    // With 11 samples, the ranks are 2 and 10 (Conover, table A3: 98.8 %): 92 and 108 about 100.
    CHECK(half_width({90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110}) == 0.08);
    CHECK(half_width({110, 92, 94, 96, 98, 100, 102, 104, 106, 108, 90}) == 0.08);
    CHECK(half_width({5, 5, 5, 5, 5, 5, 5}) == 0 && half_width({1, 2}) > 1e9 && half_width({-1, -1, -1, -1, -1, -1}) > 1e9);
}

// The result of locking is recorded after the attempt, and only then.
void locking_is_told_once_it_was_tried() {
    Recorder subject;
    yamba::Plan plan{2, 0};
    CHECK(records_with(subject, plan, "{\"event\":\"locked\",\"held\":true}") +
              records_with(subject, plan, "{\"event\":\"locked\",\"held\":false}") ==
          1);
    plan.lock = false;
    CHECK(records_with(subject, plan, "\"locked\"") == 0);
#ifdef YAMBA_SYSTEM_POSIX
    plan.lock = true;
    CHECK(records_with(subject, plan, "\"held\":false") == 1);
#endif
}

// Runs `body` in a child and returns its status.
template <class F>
int status_of(F body) {
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        yamba::record_fd = open("/dev/null", O_WRONLY);
        body();
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

bool is_gone(const char *path) {
    for (int i = 0; i < 500; i++) {
        if (access(path, F_OK) != 0) return true;
        usleep(10000);
    }
    return false;
}

// The directory is removed however the process that made it ends.
template <class F>
void check_removed(const char *home, F end) {
    int told[2];
    CHECK(pipe(told) == 0);
    status_of([&] {
        const char *path = yamba::scratch_file("data", 100000);
        struct stat there;
        if (stat(path, &there) != 0 || there.st_size != 100000) _exit(9);
        yamba::write_all(told[1], yamba::scratch_directory(), strlen(yamba::scratch_directory()));
        end();
    });
    char path[512]{};
    CHECK(read(told[0], path, sizeof path - 1) > 0);
    CHECK(strncmp(path, home, strlen(home)) == 0);
    CHECK(is_gone(path));
    close(told[0]), close(told[1]);
}

void scratch_is_removed_however_it_ends() {
    char home[] = "/tmp/yamba-unit-XXXXXX";
    CHECK(mkdtemp(home) != nullptr);
    setenv("TMPDIR", home, 1);
    unsetenv("YAMBA_SCRATCH");
    check_removed(home, [] {});
    check_removed(home, [] { yamba::fail("on purpose"); });
#ifndef YAMBA_SYSTEM_POSIX
    check_removed(home, [] { raise(SIGKILL); });
#endif
    CHECK(rmdir(home) == 0);
}

void failing_has_a_status_of_its_own() {
    CHECK(WEXITSTATUS(status_of([] { yamba::fail("on purpose"); })) == 3);
    CHECK(WEXITSTATUS(status_of([] { must(open("/no/such/file", O_RDONLY)); })) == 3);
    CHECK(status_of([] { must(open("/dev/null", O_RDONLY)); }) == 0);
}

void the_platform_is_detected() {
    yamba::Platform p{};
    yamba::detect_platform(p);
    CHECK(p.page_size >= 4096 && p.cpus >= 1 && p.memory_size > 0 && p.cache_line >= 16 && p.l1d_size >= 1024 &&
          p.last_cache_size >= p.l1d_size);
}

// `folder` has the locale nb_NO.UTF-8.
void numbers_do_not_depend_on_the_locale(const char *folder) {
    setenv("LOCPATH", folder, 1);
    auto has_comma = [] { return strtod("0,5", nullptr) == 0.5; };
    CHECK(setlocale(LC_ALL, "nb_NO.UTF-8") != nullptr && has_comma());
    text_is_always_json();
    settings_are_parsed_to_their_ends();
    CHECK(yamba::Text().addf("%.1f", 0.5).is("0.5") && fault_of<double>("0,5") == yamba::parse::not_a_number);
    CHECK(has_comma());
}

void test(const yamba::IsaHooks &here) {
    text_is_always_json();
    settings_are_parsed_to_their_ends();
    sweeps_have_the_values_they_say();
    a_wrong_setting_is_named_with_what_there_is();
    what_is_refused_is_told_as_it_was_given();
    versions_are_compared_number_by_number();
    features_are_whole_words();
    failure_is_known_by_its_value();
    the_clock_is_measured();
    steps_of_counters_are_found();
    one_pass_a_batch_with_hooks();
    a_quantity_is_asked_once_a_batch();
    passes_grow_until_a_batch_is_long_enough();
    batches_are_as_long_as_planned();
    slow_first_passes_do_not_size_a_batch();
    short_intervals_are_said();
    growth_trials_are_repeated_until_growth_shows();
    a_warm_up_that_was_asked_for_is_given();
    batches_beyond_the_usual_most_are_measured();
    a_dummy_that_takes_time_ends_the_growth();
    single_operations_are_timed_alone();
    disturbed_batches_are_replaced();
    a_clock_that_steps_costs_one_batch();
    each_disturbance_has_its_name();
    own_page_faults_are_no_disturbance();
    faults_in_every_pass_disturb_no_batch();
    waiting_for_others_is_told_from_waiting_for_the_partner();
    stolen_time_is_the_gap_between_two_clocks();
    time_of_other_threads_is_that_of_the_process_without_its_own();
    threads_have_run_if_they_did_in_some_batches();
    what_the_system_does_not_tell_is_not_recorded();
    a_cycle_is_the_difference_of_two_lengths();
    interruption_does_not_change_the_length_of_a_cycle();
    chains_suit_the_clock_s_step();
    probes_suit_the_clock_s_step();
    a_neighbour_lengthens_the_probe();
    a_divided_reorder_buffer_is_seen();
    probe_has_a_width_only_at_one_clock_rate();
    probes_without_a_benchmark_are_recorded();
    contended_batches_are_not_enough();
    few_batches_have_a_second_opinion_each();
    both_chains_take_one_cycle_a_step(here);
    counters_count_from_one_reading_to_the_next();
    precision_is_half_the_median_s_interval();
    locking_is_told_once_it_was_tried();
    failing_has_a_status_of_its_own();
    scratch_is_removed_however_it_ends();
    the_platform_is_detected();
}

}  // namespace unit
