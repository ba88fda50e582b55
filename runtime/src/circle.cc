#include "circle.h"

#include <string.h>

#include "batch_record.h"
#include "precision.h"
#include "tick.h"
#include "yamba/cycle.h"
#include "yamba/must.h"
#include "yamba/record_writer.h"

// Code between the tests is not optimised, as in the paper: the same code in the same order
// precedes each test.
namespace yamba {
namespace harness {

constexpr double longest_test =
    0.5e9;                        // ns; the system may stop real-time threads that run for most of a second (sched_rt_runtime_us)
constexpr double far_longer = 5;  // times the group's median: the processor was taken away for most of the test
constexpr double throttle = 10e6;  // ns above the median: shorter than the system's shortest throttling, longer than other delays
constexpr uint64_t trial_circles = 16;
constexpr uint64_t most_tests = 1000000;
constexpr int cycle_readings = 5;  // on each side of a group

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
    double evidence[Said::room];
    double ns() const { return nanoseconds(reading.begin, reading.end); }
};

// The values that all tests of a group share.
struct GroupFacts {
    uint64_t number, circles;
    double cycle_ns, check_cycle_ns, median_ns;
};

// Sorts in place.
inline double median(double *values, size_t count) {
    if (count == 0) return NAN;
    qsort(values, count, sizeof(double), ascending);
    return values[count / 2];
}

// Readings of the cycle length before and after a group. Their median is robust: a single disturbed
// reading would falsify all tests of the group.
struct Lengths {
    double values[2 * cycle_readings];
    size_t count = 0;
    void read(double (*length)()) {
        for (int i = 0; i < cycle_readings; i++) {
            double ns = length();
            if (ns > 0) values[count++] = ns;
        }
    }
};

class Circles {
  public:
    Circles(Subject &subject, const Tolerance &own) : subject_(subject), own_(own) {}

    void measure() {
        refuse_long_tests();
        // All memory that the tests write to is allocated and touched before the first test.
        size_ = size_t(subject_.circle_group_size());
        tests_ = new Test[size_]();
        times_ = new double[size_]();
        for (uint64_t group = 0; group < subject_.circle_groups(); group++) measure_group(group);
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
        uint64_t groups = subject_.circle_groups(), size = subject_.circle_group_size();
        if (size == 0 || groups > most_tests / size)
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
        Record("sizing").text("purpose", "warm-up").count("passes", circles).number("ns", ns).number("dummy_ns", 0);
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

    void measure_group(uint64_t number) {
        Lengths lengths, check_lengths;
        lengths.read(cycle_length);
        check_lengths.read(check_cycle_length);
        uint64_t circles = subject_.circle_test_size(number);
        Ticks ticks;
        // Evidence is read before every other test, so also before the first one. These values
        // belong to no test and are overwritten.
        batch = Batch{};
        say(tests_[0]);
        for (size_t i = 0; i < size_; i++) run_test(tests_[i], circles, ticks);
        lengths.read(cycle_length);
        check_lengths.read(check_cycle_length);
        for (size_t i = 0; i < size_; i++) {
            times_[i] = tests_[i].ns();
            queue_.see(tests_[i].disturbance.waited_ns, circles);
        }
        GroupFacts group{number, circles, median(lengths.values, lengths.count),
                         median(check_lengths.values, check_lengths.count), median(times_, size_)};
        for (size_t i = 0; i < size_; i++) record(tests_[i], group);
    }

    // Runs one test. Between two tests come: the disturbance counts, the evidence, the next test's
    // hook, and a wait for the timer tick. The wait keeps a tick of the system's timer out of any
    // test that is short enough. A tick costs as much as several circles, so tests with and without
    // one would form two populations. Evidence is read after each test, since a test counts only if
    // its own evidence is within the bounds. That costs about one system call.
    void run_test(Test &test, uint64_t circles, const Ticks &ticks) {
        subject_.before_batch();
        ticks.wait_for_room(expected_ns_ * double(circles));
        Watch watch;
        test.reading = time_test(subject_, circles);
        test.disturbance = watch.end();
        expected_ns_ = test.ns() / double(circles);
        batch = Batch{circles, circles * subject_.operations(), test.ns()};
        say(test);
    }

    void say(Test &test) {
        said_.count = 0;
        said_.values = test.evidence;
        subject_.evidence(said_);
    }

    void record(const Test &test, const GroupFacts &group) {
        BatchFacts facts;
        facts.index = index_++;
        facts.passes = group.circles;
        facts.operations = group.circles * subject_.operations();
        facts.ns = test.ns();
        facts.cycle_ns = group.cycle_ns;
        facts.check_cycle_ns = group.check_cycle_ns;
        facts.disturbance = test.disturbance;
        facts.disturbance.clock_went_back = facts.ns < 0;
        facts.disturbance.queued_ns = queue_.beyond_least(test.disturbance.waited_ns, group.circles);
        facts.disturbed = held_against(facts.disturbance, facts.ns, own_);
        if (facts.ns > far_longer * group.median_ns || facts.ns > group.median_ns + throttle) {
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
    size_t size_ = 0;
    Test *tests_ = nullptr;  // of one group; these arrays live as long as the process
    double *times_ = nullptr;
    Said said_;
    Queue queue_;
    uint64_t index_ = 0;
    double expected_ns_ = 0;
    bool any_stolen_ = false;
};

void measure_circles(Subject &subject, const Tolerance &own) { Circles(subject, own).measure(); }

}  // namespace harness
}  // namespace yamba
