#include "circle.h"

#include <pthread.h>
#include <string.h>

#include "batch_record.h"
#include "precision.h"
#include "tick.h"
#include "yamba/cycle.h"
#include "yamba/must.h"
#include "yamba/record_writer.h"

// Code between the tests is not optimised, as in the paper. The same code in the same order
// precedes each test, whether or not a new group begins: each test must find the processor and its
// caches in the same state. So nothing is recorded or allocated between tests. Long series are
// interrupted, at times that do not depend on the groups.
namespace yamba {
namespace harness {

constexpr double longest_test =
    0.5e9;                        // ns; the system may stop real-time threads that run for most of a second (sched_rt_runtime_us)
constexpr double far_longer = 5;  // times the group's median: the processor was taken away for most of the test
constexpr double throttle = 10e6;  // ns above the median: shorter than the system's shortest throttling, longer than other delays
constexpr double longest_series = 1e9;  // ns of tests without an interruption
constexpr uint64_t trial_circles = 16;
constexpr uint64_t most_tests = 1000000;
constexpr size_t settling_tests = 4;  // least number after each interruption
constexpr size_t cycle_readings = 5;  // in each interruption

// Collects evidence with minimal cost between tests. The names are stored once, since all tests
// have the same.
struct Said final : EvidenceSink {
    static constexpr size_t room = 32;
    const char *names[room];
    double *values = nullptr;
    size_t count = 0;
    void value(const char *name, double value) override {
        if (count == room) return;
        names[count] = name;
        values[count++] = value;
    }
};

struct Test {
    Reading reading;
    Disturbance disturbance;
    double *evidence;  // a value for each name
    double ns() const { return nanoseconds(reading.begin, reading.end); }
};

// Tests of one size. The first ones are not part of the sample.
struct Group {
    uint64_t number, circles;
    size_t skipped, size;
    Test *tests = nullptr;
    size_t interruption = 0, next_interruption = 0;  // the last one before the first test, and the first one after the last test
    Test *begin() const { return tests; }
    Test *sample() const { return tests + skipped; }
    Test *end() const { return tests + skipped + size; }
};

// The values that all tests of a group share.
struct GroupFacts {
    double cycle_ns, check_cycle_ns, median_ns;
};

inline double median(Values<double> &values) {
    if (values.empty()) return NAN;
    qsort(values.data(), values.size(), sizeof(double), ascending);
    return values.data()[values.size() / 2];
}

// Readings of the cycle length in an interruption. Their median is robust: a single disturbed
// reading would falsify all tests around it.
struct Lengths {
    Values<double> values;
    void read(double (*length)()) {
        for (size_t i = 0; i < cycle_readings; i++)
            if (double ns = length(); ns > 0) values.push_back(ns);
    }
};

struct Interruption {
    Lengths cycle, check;
    void read() { cycle.read(cycle_length), check.read(check_cycle_length); }
};

// Groups that are measured one after the other. All memory that their tests write to is allocated
// and touched before the first test.
struct Series {
    Values<Group> groups;
    Values<Test> tests;  // the settling tests, then those of the groups
    Values<double> evidence;
    Values<Interruption> interruptions;

    void allocate(size_t evidence_of_test) {
        size_t count = settling_tests;
        for (const Group &group : groups) count += group.skipped + group.size;
        tests.resize(count), evidence.resize(count * evidence_of_test);
        for (size_t i = 0; i < count; i++) tests[i].evidence = evidence.data() + i * evidence_of_test;
        Test *next = tests.data() + settling_tests;
        for (Group &group : groups) group.tests = next, next = group.end();
    }

    // The cycle length during a group, by one of the chains. NaN if the clock rate changed.
    double length(const Group &group, Lengths Interruption::*chain) const {
        Values<double> all;
        double least = INFINITY, most = 0;
        for (size_t i = group.interruption; i <= group.next_interruption; i++) {
            Values<double> values = (interruptions[i].*chain).values;
            all.insert(all.end(), values.begin(), values.end());
            const double middle = median(values);
            least = fmin(least, middle), most = fmax(most, middle);
        }
        return all.empty() || !cycle::agree(most, least) ? NAN : median(all);
    }
};

inline bool is_stolen(double ns, double median_ns) { return ns > far_longer * median_ns || ns > median_ns + throttle; }

inline Values<double> sample_times(const Group &group) {
    Values<double> times;
    for (const Test *test = group.sample(); test < group.end(); test++) times.push_back(test->ns());
    return times;
}

// Times one test, and watches what the system does to this thread meanwhile.
inline void time_watched(Subject &subject, uint64_t circles, Test &test) {
    Watch watch;
    test.reading = time_test(subject, circles);
    test.disturbance = watch.end();
}

// Does the same in a thread of its own, which has the priority of this one.
inline void time_in_new_thread(Subject &subject, uint64_t circles, Test &test) {
    struct Work {
        Subject &subject;
        uint64_t circles;
        Test &test;
    } work{subject, circles, test};
    const auto run = [](void *argument) -> void * {
        const Work &own = *static_cast<Work *>(argument);
        time_watched(own.subject, own.circles, own.test);
        return nullptr;
    };
    pthread_t thread;
    if (int error = pthread_create(&thread, nullptr, run, &work)) fail("pthread_create: %s", strerror(error));
    pthread_join(thread, nullptr);
}

class Circles {
  public:
    Circles(Subject &subject, const Tolerance &own, double warmup_ns) : subject_(subject), own_(own), warmup_ns_(warmup_ns) {}

    void measure() {
        refuse_long_tests();
        Series series;
        for (uint64_t number = 0; number < subject_.circle_groups(); number++)
            series.groups.push_back(Group{number, subject_.circle_test_size(number), static_cast<size_t>(subject_.circle_skip()),
                                          static_cast<size_t>(subject_.circle_group_size())});
        measure(series);
        if (subject_.circle_second_round() > 0) measure_second_round(series);
        if (any_stolen_)
            Record("note").text("text",
                                "some tests took far longer than the others of their group: the processor was taken away by "
                                "other processes, by the host of a virtual machine, "
                                "or from real-time threads that ran for too long (sched_rt_runtime_us)");
    }

  private:
    // Estimates the longest test from a few circles, and refuses tests that the system could
    // interrupt.
    void refuse_long_tests() {
        uint64_t groups = subject_.circle_groups(), size = subject_.circle_group_size(), skip = subject_.circle_skip();
        if (size == 0 || size > most_tests || skip > most_tests || groups > most_tests / (size + skip))
            fail("there must be at least one test, and at most %d in all groups", int(most_tests));
        uint64_t first = subject_.circle_test_size(0), last = subject_.circle_test_size(groups - 1);
        uint64_t circles = first < trial_circles ? first : trial_circles;
        if (circles == 0) fail("a test of no circles measures nothing");
        double longest_size = double(first > last ? first : last);
        double ns = time_trial(circles);
        // Other processes may have interrupted a trial that was too long: the shortest of five
        // counts.
        for (int more = 4; more > 0 && ns / double(circles) * longest_size > longest_test; more--) {
            double again = time_trial(circles);
            if (again < ns) ns = again;
        }
        record_warm_up(circles, ns);
        expected_ns_ = ns / double(circles);
        double longest = expected_ns_ * longest_size;
        if (longest > longest_test)
            fail(
                "a test would take %.2g s, and one of more than %.1f s may be stopped by the system: make it smaller (initial, "
                "delta, groups)",
                longest / 1e9, longest_test / 1e9);
    }

    double time_trial(uint64_t circles) {
        subject_.before_batch();
        Reading trial = time_test(subject_, circles);
        return nanoseconds(trial.begin, trial.end);
    }

    static void record_warm_up(uint64_t circles, double ns) {
        Record("sizing").text("purpose", "warm-up").count("passes", circles).number("ns", ns).number("dummy_ns", 0);
    }

    void measure(Series &series) {
        series.allocate(evidence_count());
        Ticks ticks;
        interrupt(series, series.groups[0].circles, ticks);
        for (Group &group : series.groups) {
            for (Test &test : group) {
                if (nanoseconds(settled_at_, tested_at_) > longest_series) {
                    record_settling(series);
                    interrupt(series, group.circles, ticks);
                }
                if (&test == group.begin()) group.interruption = series.interruptions.size() - 1;
                run_test(test, group.circles, ticks);
            }
            group.next_interruption = series.interruptions.size();
        }
        series.interruptions.push_back({});
        series.interruptions.back().read();
        record_settling(series);
        record(series);
    }

    // The paper's "new sample of proper size S'" (section 3.4): a group of tests of the largest
    // size, as many as the wanted interval needs. Not measured if the first round had enough.
    void measure_second_round(const Series &first) {
        const Group *largest = &first.groups[0];
        for (const Group &group : first.groups)
            if (group.circles >= largest->circles) largest = &group;
        Values<double> times = sample_times(*largest), calm;
        const double middle = median(times);
        for (double ns : times)
            if (!is_stolen(ns, middle)) calm.push_back(ns);
        const double needed = values_needed(calm, subject_.circle_confidence(), subject_.circle_half_width());
        if (needed <= double(calm.size())) return;
        const double all_ns = nanoseconds(largest->begin()->reading.begin, largest->end()[-1].reading.end);
        const double ns = needed * all_ns / double(largest->end() - largest->begin());
        if (needed > double(most_tests) || ns > 1e9 * subject_.circle_second_round()) {
            Record("note").text("text",
                                "no second round: the tests that half_width needs would take longer than second_round allows; "
                                "help: raise second_round (seconds) or half_width");
            return;
        }
        Series second;
        second.groups.push_back(Group{first.groups.size(), largest->circles, largest->skipped, size_t(needed)});
        measure(second);
    }

    size_t evidence_count() {
        double unused[Said::room];
        said_.count = 0, said_.values = unused;
        subject_.evidence(said_);
        return said_.count;
    }

    // Reads the length of a cycle. Then settling tests run, so that the next test finds the
    // processor like all later ones; at the beginning for the time of the warm-up. The last of them
    // are recorded once the tests after them are done or interrupted. These records show the parent
    // that the program goes on.
    void interrupt(Series &series, uint64_t circles, Ticks &ticks) {
        const double warmup_ns = series.interruptions.empty() ? warmup_ns_ : 0;
        series.interruptions.push_back({});
        series.interruptions.back().read();
        const uint64_t begin = read_clock();
        for (size_t i = 0; i < settling_tests || nanoseconds(begin, tested_at_) < warmup_ns; i++)
            run_test(series.tests[i % settling_tests], circles, ticks);
        settled_size_ = circles, settled_at_ = tested_at_;
    }

    void record_settling(const Series &series) const {
        for (size_t i = 0; i < settling_tests; i++) record_warm_up(settled_size_, series.tests[i].ns());
    }

    // Runs one test. Between two tests come: the disturbance counts, the evidence, the next test's
    // hook, and a wait for the timer tick. The wait keeps a tick of the system's timer out of any
    // test that is short enough. A tick costs as much as several circles, so tests with and without
    // one would form two populations. Evidence is read after each test, since a test counts only if
    // its own evidence is within the bounds. That costs about one system call.
    void run_test(Test &test, uint64_t circles, Ticks &ticks) {
        subject_.before_batch();
        ticks.wait_for_room(expected_ns_ * double(circles));
        if (subject_.circle_in_new_thread()) time_in_new_thread(subject_, circles, test);
        else time_watched(subject_, circles, test);
        tested_at_ = test.reading.end;
        expected_ns_ = test.ns() / double(circles);
        batch = Batch{circles, circles * subject_.operations(), test.ns()};
        said_.count = 0, said_.values = test.evidence;
        subject_.evidence(said_);
    }

    void record(const Series &series) {
        for (const Group &group : series.groups)
            for (const Test &test : group) queue_.see(test.disturbance.waited_ns, group.circles);
        for (const Group &group : series.groups)
            for (const Test *test = group.begin(); test < group.sample(); test++) record_warm_up(group.circles, test->ns());
        for (const Group &group : series.groups) record(group, series);
    }

    void record(const Group &group, const Series &series) {
        Values<double> times = sample_times(group);
        const GroupFacts facts{series.length(group, &Interruption::cycle), series.length(group, &Interruption::check),
                               median(times)};
        for (const Test *test = group.sample(); test < group.end(); test++) record(*test, group, facts);
    }

    void record(const Test &test, const Group &group, const GroupFacts &common) {
        BatchFacts facts;
        facts.index = index_++;
        facts.passes = group.circles;
        facts.operations = group.circles * subject_.operations();
        facts.ns = test.ns();
        facts.cycle_ns = common.cycle_ns;
        facts.check_cycle_ns = common.check_cycle_ns;
        facts.disturbance = test.disturbance;
        facts.disturbance.clock_went_back = facts.ns < 0;
        facts.disturbance.queued_ns = queue_.beyond_least(test.disturbance.waited_ns, group.circles);
        facts.disturbed = held_against(facts.disturbance, facts.ns, own_);
        if (is_stolen(facts.ns, common.median_ns)) {
            any_stolen_ = true;
            if (strstr(facts.disturbed.c_str(), "stolen") == nullptr)
                facts.disturbed.add(facts.disturbed.empty() ? "" : ",").quote("stolen");
        }
        for (size_t i = 0; i < said_.count; i++) facts.evidence.value(said_.names[i], test.evidence[i]);
        facts.group = &group.number;
        record_batch(facts);
    }

    Subject &subject_;
    Tolerance own_;
    double warmup_ns_;
    Said said_;
    uint64_t settled_size_ = 0;                // circles in each settling test
    uint64_t settled_at_ = 0, tested_at_ = 0;  // the ends of the last settling test, and of the last test
    Queue queue_;
    uint64_t index_ = 0;
    double expected_ns_ = 0;
    bool any_stolen_ = false;
};

void measure_circles(Subject &subject, const Tolerance &own, double warmup_ns) { Circles(subject, own, warmup_ns).measure(); }

}  // namespace harness
}  // namespace yamba
