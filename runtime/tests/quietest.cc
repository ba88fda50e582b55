// Tests the choice of a launch's processor.
#include <stdio.h>

namespace quietest_tests {

using namespace yamba;

ProcessorProbes probes(int cpu, double quiet_width, const Values<double> &widths, double waited_ns = 0) {
    return ProcessorProbes{cpu, quiet_width, widths, {}, 1e6, waited_ns};
}

int chosen(Values<ProcessorProbes> all, int home) { return quietest::choose(all, home); }

// Each processor is compared with its own quiet width: cores differ.
void quietest_by_its_own_width() {
    const ProcessorProbes quiet = probes(0, 1600, {1600, 1610, 1590, 1600}), wide = probes(1, 2000, {2000, 2010, 1990, 2000});
    const ProcessorProbes busy = probes(2, 2000, {2900, 2000, 3100, NAN});
    CHECK(chosen({quiet, wide, busy}, 2) == 1);
    CHECK(chosen({quiet, busy}, 2) == 0);
    // Of equals, an earlier launch's processor.
    CHECK(chosen({quiet, wide, busy}, 0) == 0 && chosen({quiet, wide, busy}, 1) == 1);
    // One probe of four makes no clear difference, two of four do.
    const ProcessorProbes one = probes(3, 2000, {2000, 2000, 2000, 2900}), two = probes(4, 2000, {2000, 2000, 2900, 2900});
    CHECK(chosen({one, two}, 4) == 3 && quietest::clear_gain == 0.25);
    CHECK(chosen({probes(5, 2000, {2000, 2000, 2000, 2000, 2900}), one}, 3) == 3);
    Values<ProcessorProbes> all = {busy, two};
    quietest::choose(all, 2);
    CHECK(all[0].quiet_share == 0.25 && all[1].quiet_share == 0.5);
}

void process_on_the_processor_counts_as_noise() {
    const Values<double> quiet = {2000, 2000};
    CHECK(chosen({probes(0, 2000, quiet), probes(1, 2000, quiet, 0.8e6)}, 1) == 0);
    CHECK(chosen({probes(0, 2000, quiet), probes(1, 2000, quiet, 0.2e6)}, 1) == 1);
    // Without any known width, only that is known.
    CHECK(chosen({probes(0, NAN, quiet), probes(1, NAN, quiet, 0.8e6)}, 1) == 0);
    CHECK(chosen({probes(0, NAN, {}), probes(1, NAN, {}, 0.8e6)}, 1) == 0);
    CHECK(chosen({probes(0, NAN, quiet), probes(1, NAN, quiet)}, 0) == 0);
    // Beside neighbours on all processors, the one without other processes.
    const Values<double> longer = {3100, 2900};
    CHECK(chosen({probes(0, 2000, longer), probes(1, 2000, longer, 0.8e6)}, 1) == 0);
    CHECK(chosen({probes(0, NAN, longer), probes(1, 2000, longer, 0.8e6)}, 1) == 0);
    CHECK(chosen({probes(0, 2000, longer), probes(1, 2000, quiet, 0.8e6)}, 1) == 1);
    // A processor whose width is unknown may be beside a neighbour at all times.
    CHECK(chosen({probes(0, 2000, quiet), probes(1, NAN, quiet)}, 1) == 0);
}

// A probe that finds a part of the reorder buffer counts as noise, too.
void divided_buffer_counts_as_noise() {
    window::whole_buffers = {{0, 215}, {1, 215}};
    const Values<double> quiet = {2000, 2000, 2000, 2000};
    ProcessorProbes whole = probes(0, 2000, quiet), divided = probes(1, 2000, quiet);
    whole.windows = {215, 215, 385, 215}, divided.windows = {215, 125, 0, 125};
    CHECK(chosen({whole, divided}, 1) == 0);
    window::whole_buffers.clear();
    CHECK(chosen({whole, divided}, 1) == 1);
}

// A launch need not look at others if none can be clearly quieter.
void quiet_home_is_surely_best() {
    CHECK(quietest::is_surely_best(probes(1, 2000, {2000, 2010, 1990, 2000, 2900})));
    CHECK(!quietest::is_surely_best(probes(1, 2000, {2000, 2010, 2900, 2000})));
    CHECK(!quietest::is_surely_best(probes(1, 2000, {2000, 2000}, 0.3e6)) && !quietest::is_surely_best(probes(1, NAN, {2000})));
}

void candidates_are_home_and_a_sample_by_seed() {
    Values<int> all;
    for (int cpu = 0; cpu < 128; cpu++) all.push_back(cpu);
    CHECK((quietest::candidates({0, 1}, 1, 8, 5) == Values<int>{0, 1}));
    size_t seen[128] = {};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        const Values<int> some = quietest::candidates(all, 100, 8, seed);
        CHECK(some == quietest::candidates(all, 100, 8, seed) && some.size() == 8);
        for (size_t i = 0; i < some.size(); i++) {
            CHECK(i == 0 || some[i] > some[i - 1]);
            seen[some[i]]++;
        }
    }
    // Each other one in 7 of 127 samples: 55 of 1000.
    for (size_t cpu = 0; cpu < 128; cpu++) CHECK(cpu == 100 ? seen[cpu] == 1000 : seen[cpu] > 20 && seen[cpu] < 110);
}

// A launch starts every 100 ms on two recorded processors. At first both have neighbours. From 5 s
// on, processor 0 is mostly quiet, and processor 1 is not. The processor without a choice is 1.
void launches_follow_the_quiet_processor(const char *path) {
    constexpr size_t count = 16;
    FILE *file = fopen(path, "r");
    CHECK(file != nullptr);
    if (file == nullptr) return;
    char line[1024];
    int home = 1;
    size_t launches = 0, late = 0, late_on_0 = 0;
    double quiet = 0, quiet_on[2] = {}, most = 0;
    while (fgets(line, sizeof line, file) != nullptr) {
        if (line[0] == '#') continue;
        char *at = line;
        const double ms = strtod(at, &at), share[2] = {strtod(at, &at), strtod(at, &at)};
        Values<ProcessorProbes> all = {probes(0, 1644, {}), probes(1, 1644, {})};
        for (ProcessorProbes &each : all)
            for (size_t i = 0; i < count; i++) each.widths.push_back(strtod(at, &at));
        home = quietest::choose(all, home);
        launches++, late += ms >= 5500, late_on_0 += ms >= 5500 && home == 0;
        quiet += share[home], quiet_on[0] += share[0], quiet_on[1] += share[1], most += fmax(share[0], share[1]);
    }
    fclose(file);
    CHECK(launches > 100 && late > 50);
    CHECK(double(late_on_0) >= 0.95 * double(late));
    CHECK(quiet >= 0.95 * most && quiet > 3 * quiet_on[1]);
    printf(
        "%zu launches: %.3f quiet with the choice, %.3f on processor 0, %.3f on processor 1, %.3f at most; %zu of %zu late on "
        "0\n",
        launches, quiet / double(launches), quiet_on[0] / double(launches), quiet_on[1] / double(launches),
        most / double(launches), late_on_0, late);
}

// The order for partners and workers on four cores of two hardware threads each, from processor 5
// on.
void partners_get_other_cores_and_of_these_the_quietest() {
    using place::after;
    placement = Placement{};
    placement.cpu = 5;
    for (int cpu = 0; cpu < 8; cpu++) placement.allowed.push_back(cpu), placement.tested.push_back({cpu, size_t(cpu % 4)});
    CHECK(place::share_core(1, 5) && !place::share_core(1, 2));
    place::arrange();
    CHECK((placement.order == Values<int>{5, 6, 7, 0, 1, 2, 3, 4}));
    CHECK(after(5, 0) == 5 && after(5, 1) == 6 && after(5, 4) == 1 && after(4, 1) == 5 && after(7, 16) == 7);
    // Processor 6 is busy, 7 and 3 were not probed, 2 is quiet.
    for (int cpu : {0, 1, 2, 4, 5, 6})
        placement.probed.push_back(probes(cpu, 2000, {})), placement.probed.back().quiet_share = 0.9;
    placement.probed.back().quiet_share = 0.1;
    place::arrange();
    CHECK((placement.order == Values<int>{5, 0, 2, 7, 1, 4, 3, 6}));
    // Only a partner on the same core is noted.
    CHECK(unit::recorded([] { place::note_partner(5, 6); }).empty() && unit::recorded([] { place::note_partner(5, 5); }).empty());
    CHECK(unit::recorded([] { place::note_partner(5, 1); }).is("{\"event\":\"partner\",\"cpu\":1}\n"));
    placement = Placement{};
}

// A competitor on the same core lengthens every probe. Neighbours that come and go lengthen probes
// in any phase.
void competitor_shows_shared_core() {
    using namespace core_pairs;
    const Values<double> quiet(32, 1700), long_ones(32, 3100);
    Values<double> some = quiet, few = quiet, interrupted = quiet;
    for (size_t i = 0; i < 32; i++) {
        some[i] = i % 3 == 0 ? 1710 : 2500 + double(i) * 20;
        few[i] = i % 16 == 0 ? 1710 : 2500 + double(i) * 20;
        interrupted[i] = i % 2 == 0 ? NAN : 1690;
    }
    CHECK(finding(quiet, quiet) == Finding::separate && finding(quiet, long_ones) == Finding::shared);
    CHECK(finding(some, some) == Finding::separate && finding(some, long_ones) == Finding::shared);
    CHECK(finding(quiet, some) == Finding::separate && finding(interrupted, long_ones) == Finding::shared);
    CHECK(finding(few, long_ones) == Finding::unknown && finding(few, few) == Finding::unknown);
    CHECK(finding(quiet, few) == Finding::unknown && finding({}, quiet) == Finding::unknown &&
          finding(quiet, {}) == Finding::unknown);
    // A neighbour that is always there hides the competitor's core.
    CHECK(finding(long_ones, long_ones) != Finding::shared);
}

// Each launch of the recorded data is taken for a test in which the competitor changed nothing.
// Half of the probes are those beside the competitor.
void neighbours_are_no_shared_core(const char *path) {
    size_t findings[3] = {}, lines = 0;
    FILE *file = fopen(path, "r");
    CHECK(file != nullptr);
    char line[1024];
    Values<double> phases[2][2];
    while (file != nullptr && fgets(line, sizeof line, file) != nullptr) {
        if (line[0] == '#') continue;
        char *at = line;
        for (int i = 0; i < 3; i++) strtod(at, &at);
        for (auto &processor : phases)
            for (int i = 0; i < 16; i++) processor[i / 4 % 2].push_back(strtod(at, &at));
        // Four rounds of eight readings, as in a test.
        if (++lines % 4 != 0) continue;
        for (auto &processor : phases) {
            findings[int(core_pairs::finding(processor[0], processor[1]))]++;
            processor[0].clear(), processor[1].clear();
        }
    }
    if (file != nullptr) fclose(file);
    CHECK(lines > 100 && findings[int(core_pairs::Finding::shared)] == 0);
    CHECK(findings[int(core_pairs::Finding::separate)] > 10);
    printf("%zu unknown, %zu separate, %zu shared\n", findings[0], findings[1], findings[2]);
}

void large_machines_are_sampled() {
    placement = Placement{};
    Values<int> cpus;
    for (int cpu = 0; cpu < 64; cpu++) cpus.push_back(cpu), placement.tested.push_back({cpu, size_t(cpu % 32)});
    const Values<core_pairs::Pair> some = core_pairs::pairs(cpus, 3);
    CHECK(some.size() == 32 + core_pairs::sample_of_others);
    for (size_t i = 0; i < 32; i++) CHECK(some[i].other == some[i].one + 32);
    for (size_t i = 32; i < some.size(); i++) CHECK(some[i].other % 32 != some[i].one % 32);
    CHECK(core_pairs::pairs({0, 1, 2, 3}, 3).size() == 6 && core_pairs::pairs({5}, 3).empty());
    placement = Placement{};
}

void test(const char *recorded) {
    quietest_by_its_own_width();
    process_on_the_processor_counts_as_noise();
    divided_buffer_counts_as_noise();
    quiet_home_is_surely_best();
    candidates_are_home_and_a_sample_by_seed();
    launches_follow_the_quiet_processor(recorded);
    partners_get_other_cores_and_of_these_the_quietest();
    competitor_shows_shared_core();
    neighbours_are_no_shared_core(recorded);
    large_machines_are_sampled();
}

}  // namespace quietest_tests
