// Tests test groups with a simulated clock: sizes, order and records.

namespace circle {

constexpr uint64_t settling = 4, tests_before = 1 + settling;  // the trial, and the settling tests

uint64_t now;
uint64_t simulated() { return now += 10; }

yamba::Usage usage;
yamba::Usage simulated_usage() { return usage; }

double waited;
double simulated_wait() { return waited; }
double simulated_process_time() { return usage.cpu_ns; }

// A circle takes 100 ns; a test also includes the time to read the clock.
struct Recorder : yamba::Subject {
    yamba::Text calls;
    uint64_t groups = 3, size = 2, initial = 4, delta = 5, skip = 0, tests = 0;
    uint64_t slow_test = UINT64_MAX;                       // this test takes `slow_ns` more
    uint64_t slow_ns = 0, circle_ns = 100, uneven_ns = 0;  // uneven: more in every other test
    bool waiting = true, crowded = false;                  // crowded: that test waits in the run queue meanwhile
    uint64_t period = 0, ticks = 0;                        // period of a timer, and its ticks within tests
    yamba::Chain reference{};

    void configure(yamba::ParameterSource &) override {}
    void prepare() override { calls.add("P"); }
    void setup() override { calls.add("S"); }
    void before_pass() override { calls.add("("); }
    void before_batch() override { calls.add("["); }
    void after_pass() override { calls.add(")"); }
    void cleanup() override { calls.add("C"); }
    void finish() override { calls.add("F"); }
    uint64_t operations() override { return 2; }
    bool may_wait() override { return waiting; }
    uint64_t circle_groups() override { return groups; }
    uint64_t circle_group_size() override { return size; }
    uint64_t circle_test_size(uint64_t group) override { return initial + group * delta; }
    uint64_t circle_skip() override { return skip; }
    double half_width = 0.01, second_round = 0;
    bool in_new_thread = false;
    pthread_t runner{};  // of the latest test
    bool circle_in_new_thread() override { return in_new_thread; }
    double circle_half_width() override { return half_width; }
    double circle_second_round() override { return second_round; }
    double value() override { return NAN; }
    void run(uint64_t passes) override {
        calls.addf(" %llu", static_cast<unsigned long long>(passes));
        runner = pthread_self();
        uint64_t begin = now;
        uint64_t slower = tests++ == slow_test ? slow_ns : 0;
        now += passes * circle_ns + slower + (tests % 2) * uneven_ns;
        waited += double(passes * circle_ns / 2) + (crowded ? double(slower) : 0);
        if (period > 0) ticks += now / period - begin / period;
    }
    void run_dummy(uint64_t) override { calls.add("d"); }
    void evidence(yamba::EvidenceSink &sink) override {
        calls.add("e");
        sink.value("operations", double(yamba::batch.operations));
        sink.value("nothing", NAN);
    }
    size_t bounds(yamba::Bound *, size_t) override { return 0; }
    const char *figure() override { return "latency"; }
    const char *unit() override { return "ns"; }
};

// Readings that replace the system's clock and counts.
struct Readings {
    uint64_t (*clock)() = simulated;
    yamba::Usage (*usage)() = simulated_usage;
    double (*waited)() = simulated_wait, (*process_time)() = simulated_process_time,
           (*children_time)() = yamba::system::children_time;
};

// Measures `subject` and returns its records.
yamba::Text records_of(Recorder &subject, const Readings &readings = Readings{}, uint64_t warmup = 0) {
    now = 0;
    yamba::read_clock = readings.clock;
    yamba::read_usage = readings.usage;
    yamba::read_waited = readings.waited;
    yamba::read_process_time = readings.process_time;
    yamba::read_children_time = readings.children_time;
    if (subject.period == 0) yamba::tick_period = [] { return uint64_t(0); };
    yamba::isa_hooks.reference = subject.reference;
    yamba::isa_hooks.check = {};
    int ends[2];
    CHECK(pipe(ends) == 0);
    yamba::record_fd = ends[1];
    yamba::Plan plan;
    plan.lock = false;
    plan.warmup = warmup;
    yamba::measure(subject, false, plan, {10, 10});
    close(ends[1]);
    yamba::Text text;
    char block[4096];
    for (ssize_t n; (n = read(ends[0], block, sizeof block)) > 0;) text.add(block, size_t(n));
    close(ends[0]);
    return text;
}

size_t count(const yamba::Text &text, const char *what) {
    size_t n = 0;
    for (const char *s = text.c_str(); (s = strstr(s, what)) != nullptr; s++) n++;
    return n;
}

// A trial, tests that settle the processor, then S tests each of I, I + D and I + 2 D circles.
// Evidence follows each test. No dummy, no sizing.
void groups_follow_each_other() {
    Recorder subject;
    yamba::Text records = records_of(subject);
    CHECK(subject.calls.is("PS[ 4e[ 4e[ 4e[ 4e[ 4e[ 4e[ 4e[ 9e[ 9e[ 14e[ 14eCF"));
    CHECK(count(records, "\"event\":\"batch\"") == 6 && count(records, "\"event\":\"sizing\"") == tests_before);
    for (const char *group : {"\"passes\":4,\"operations\":8,\"ns\":410,", "\"passes\":9,\"operations\":18,\"ns\":910,",
                              "\"passes\":14,\"operations\":28,\"ns\":1410,"})
        CHECK(count(records, group) == 2);
    for (const char *group : {"\"group\":0", "\"group\":1", "\"group\":2"}) CHECK(count(records, group) == 2);
    CHECK(count(records, "\"evidence\":{\"operations\":8,\"nothing\":null}") == 2 && count(records, "\"index\":5") == 1);
    CHECK(count(records, "\"disturbed\":[]") == 6 && count(records, "\"event\":\"note\"") == 0);
}

// The trial takes only a few circles, however long the tests are.
void a_trial_is_short() {
    Recorder subject;
    subject.initial = 300;
    subject.groups = 1;
    records_of(subject);
    CHECK(subject.calls.is("PS[ 16e[ 300e[ 300e[ 300e[ 300e[ 300e[ 300eCF"));
}

// Skipped tests are a warm-up, and not part of the sample.
void skipped_tests_are_recorded_as_warm_up() {
    Recorder subject;
    subject.skip = 3;
    yamba::Text records = records_of(subject);
    CHECK(count(records, "\"event\":\"batch\"") == 6 && count(records, "\"event\":\"sizing\"") == tests_before + 3 * 3);
    CHECK(count(subject.calls, " 9e[") == 5);
}

// Writes down each call that the harness makes: of hooks, clocks, counts and chains.
yamba::Text between;
uint64_t clock_in_order() { return between.add("t"), now += 10; }
yamba::Usage usage_in_order() { return between.add("u"), usage; }
double wait_in_order() { return between.add("w"), waited; }
double process_time_in_order() { return between.add("p"), usage.cpu_ns; }
double children_time_in_order() { return between.add("c"), 0; }

struct Snapshots final : Recorder {
    yamba::Values<yamba::Text> before;  // the calls before each test, since the previous one
    void before_batch() override { between.add("["); }
    void run(uint64_t passes) override {
        before.push_back(between);
        between = yamba::Text{};
        Recorder::run(passes);
    }
    void evidence(yamba::EvidenceSink &sink) override {
        between.add("e");
        Recorder::evidence(sink);
    }
};

// The paper's "stability of a snapshot": the code between two tests is the same everywhere, also
// where a group begins.
void the_same_code_runs_before_each_test() {
    Snapshots subject;
    subject.groups = 5, subject.size = 7, subject.skip = 2;
    subject.reference = yamba::Chain{[](uint64_t steps) { between.add("x"), now += steps; }, 64, 1};
    between = yamba::Text{};
    records_of(subject, {clock_in_order, usage_in_order, wait_in_order, process_time_in_order, children_time_in_order});
    CHECK(subject.before.size() == tests_before + 5 * (2 + 7));
    const yamba::Text &expected = subject.before[2];  // before the second settling test
    CHECK(count(expected, "e") == 1 && count(expected, "[") == 1 && count(expected, "x") == 0);
    for (size_t i = 2; i < subject.before.size(); i++) CHECK(subject.before[i].is(expected.c_str()));
}

// A parent that reads no record for long takes the program for hung.
void long_series_are_interrupted() {
    Recorder subject;
    subject.groups = 1, subject.size = 10, subject.circle_ns = 100000000;  // a test of 0.4 s
    yamba::Text records = records_of(subject);
    CHECK(count(records, "\"event\":\"batch\"") == 10);
    // The trial, and the settling tests before every third test, since three take more than 1 s.
    CHECK(count(records, "\"event\":\"sizing\"") == 1 + 4 * settling);
}

// The first settling tests take the time of the warm-up. Only the last ones are recorded.
void a_launch_warms_up() {
    Recorder subject;
    yamba::Text records = records_of(subject, Readings{}, 4095);  // ten tests of 410 ns
    CHECK(subject.tests == 1 + 10 + 6 && count(records, "\"event\":\"sizing\"") == tests_before);
}

// Tests alternate between 1410 and 1550 ns: the deviation is 71.82 ns of 1480 for 20 tests. With
// z = 1.96 an interval of 1 % needs (71.82 x 1.96 / 14.8)^2 = 90.5 tests, one of 10 % a single one.
void a_second_round_has_the_tests_that_its_half_width_needs() {
    Recorder subject;
    subject.size = 20, subject.skip = 1, subject.uneven_ns = 140;
    CHECK(count(records_of(subject), "\"group\":3") == 0);
    subject.second_round = 1;
    yamba::Text records = records_of(subject);
    CHECK(count(records, "\"group\":3") == 91 && count(records, "\"passes\":14,\"operations\":28") == 20 + 91);
    CHECK(count(records, "\"index\":150,") == 1 && count(records, "\"event\":\"note\"") == 0);
    subject.half_width = 0.1;
    CHECK(count(records_of(subject), "\"group\":3") == 0);
    // The 91 tests would take 0.14 ms.
    subject.half_width = 0.01, subject.second_round = 1e-4;
    records = records_of(subject);
    CHECK(count(records, "\"group\":3") == 0 && count(records, "no second round") == 1);
    subject.half_width = 1e-5, subject.second_round = 1;
    CHECK(count(records_of(subject), "no second round") == 1);
}

pthread_t watching;
yamba::Usage usage_of_thread() { return watching = pthread_self(), usage; }

// That thread is also the one whose disturbance counts: the initial thread waits for it.
void tests_run_in_threads_of_their_own() {
    Recorder subject;
    yamba::Text usual = records_of(subject), calls = subject.calls;
    CHECK(pthread_equal(subject.runner, pthread_self()));
    Recorder fresh;
    fresh.in_new_thread = true;
    Readings readings;
    readings.usage = usage_of_thread;
    CHECK(records_of(fresh, readings).is(usual.c_str()) && fresh.calls.is(calls.c_str()));
    CHECK(!pthread_equal(fresh.runner, pthread_self()) && pthread_equal(fresh.runner, watching));
}

void normal_quantiles_are_those_of_tables() {
    using yamba::harness::two_sided_normal;
    CHECK(fabs(two_sided_normal(0.9) - 1.6448536) < 1e-6 && fabs(two_sided_normal(0.95) - 1.9599640) < 1e-6 &&
          fabs(two_sided_normal(0.99) - 2.5758293) < 1e-6);
    CHECK(isinf(yamba::harness::values_needed({1}, 0.9, 0.1)));
}

// The length of a cycle is unknown where the clock rate changed.
void a_change_of_the_clock_rate_is_noticed() {
    Recorder subject;
    subject.groups = 4, subject.size = 3, subject.delta = 0, subject.circle_ns = 100000000;
    subject.reference = yamba::Chain{[](uint64_t steps) { now += (now > 5000000000u ? 4 : 3) * steps; }, 64, 1};
    yamba::Text records = records_of(subject);
    CHECK(count(records, "\"cycle_ns\":3,") == 3 && count(records, "\"cycle_ns\":null") == 3 &&
          count(records, "\"cycle_ns\":4,") == 6);
}

void a_test_without_the_processor_is_marked() {
    Recorder subject;
    subject.groups = 1, subject.size = 5, subject.slow_test = tests_before + 2, subject.slow_ns = 2000;
    yamba::Text records = records_of(subject);
    CHECK(count(records, "\"ns\":2410,") == 1 && count(records, "\"disturbed\":[\"stolen\"]") == 1 &&
          count(records, "\"event\":\"note\"") == 1);
    // Four times the median is only a slow test.
    Recorder slow;
    slow.groups = 1, slow.size = 5, slow.slow_test = tests_before + 2, slow.slow_ns = 1200;
    CHECK(count(records_of(slow), "\"disturbed\":[]") == 5);
    // A long run-queue wait counts: with a partner, every test would have it.
    slow.crowded = true, slow.tests = 0;
    CHECK(count(records_of(slow), "\"disturbed\":[\"queue\"]") == 1);
    // Throttling takes only a small part of a long test.
    Recorder throttled;
    throttled.groups = 1, throttled.size = 5, throttled.slow_test = tests_before + 2, throttled.slow_ns = 50000000,
    throttled.circle_ns = 50000000;
    CHECK(count(records_of(throttled), "\"disturbed\":[\"stolen\"]") == 1);
}

// A reading has six calls: two that fetch the chain, and two of each length. One call in seven is
// disturbed; in two of the ten readings around the tests, both calls of the greater length.
void a_cycle_s_length_is_the_median_of_many_readings() {
    static int calls;
    calls = 0;
    Recorder subject;
    subject.reference = yamba::Chain{[](uint64_t steps) {
                                         const bool in_bad_reading = calls / 6 % 5 == 0 && calls % 3 == 2;
                                         now += 3 * steps + (calls % 7 == 3 || in_bad_reading ? 500000 : 0);
                                         calls++;
                                     },
                                     64, 1};
    yamba::Text records = records_of(subject);
    CHECK(calls == 10 * 6 && count(records, "\"cycle_ns\":3,") == 6 && count(records, "\"check_cycle_ns\":null") == 6);
}

// A timer with a period of one millisecond, observed through a clock with a lag of 0.6 ms.
constexpr uint64_t millisecond = 1000000;
bool timer_stands;
yamba::TickClocks simulated_ticks() {
    now += 1000;
    return {timer_stands ? 0 : now / millisecond * millisecond - 600000, now};
}

uint64_t ticks_in_tests(uint64_t circles, bool stands) {
    Recorder subject;
    timer_stands = stands;
    yamba::tick_period = [] { return millisecond; };
    yamba::read_tick_clocks = simulated_ticks;
    subject.period = millisecond;
    subject.size = 50, subject.groups = 1, subject.initial = circles, subject.circle_ns = 1000;
    CHECK(count(records_of(subject), "\"event\":\"batch\"") == 50);
    return subject.ticks;
}

void no_tick_falls_into_a_short_test() {
    CHECK(ticks_in_tests(300, false) == 0 && ticks_in_tests(600, false) == 0);
    // Longer tests cannot avoid a tick, and there is no wait for a stopped timer.
    CHECK(ticks_in_tests(990, false) >= 49 && ticks_in_tests(300, true) > 0);
}

// Runs in a child and returns its records.
yamba::Text refusal(void (*change)(Recorder &)) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    if (fork() == 0) {
        yamba::record_fd = ends[1];
        yamba::read_clock = simulated;
        yamba::read_usage = simulated_usage;
        yamba::read_waited = simulated_wait;
        yamba::read_process_time = simulated_process_time;
        yamba::tick_period = [] { return uint64_t(0); };
        Recorder subject;
        change(subject);
        yamba::harness::measure_circles(subject, {true, false}, 0);
        _exit(0);
    }
    close(ends[1]);
    yamba::Text text;
    char block[4096];
    for (ssize_t n; (n = read(ends[0], block, sizeof block)) > 0;) text.add(block, size_t(n));
    close(ends[0]);
    return text;
}

void what_cannot_be_measured_is_refused() {
    yamba::Text long_test = refusal([](Recorder &subject) { subject.delta = 3000000; });
    CHECK(count(long_test, "a test would take 0.6") == 1 && count(long_test, "\"event\":\"batch\"") == 0);
    CHECK(count(refusal([](Recorder &subject) { subject.initial = 0; }), "measures nothing") == 1);
    CHECK(count(refusal([](Recorder &subject) { subject.size = 0; }), "at least one test") == 1);
    CHECK(count(refusal([](Recorder &subject) { subject.size = UINT64_MAX; }), "at least one test") == 1);
}

void test() {
    groups_follow_each_other();
    a_trial_is_short();
    skipped_tests_are_recorded_as_warm_up();
    the_same_code_runs_before_each_test();
    long_series_are_interrupted();
    a_launch_warms_up();
    a_second_round_has_the_tests_that_its_half_width_needs();
    tests_run_in_threads_of_their_own();
    normal_quantiles_are_those_of_tables();
    a_change_of_the_clock_rate_is_noticed();
    a_test_without_the_processor_is_marked();
    a_cycle_s_length_is_the_median_of_many_readings();
    no_tick_falls_into_a_short_test();
    what_cannot_be_measured_is_refused();
}

}  // namespace circle
