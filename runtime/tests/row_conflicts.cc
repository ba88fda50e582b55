// Tests the search for row conflicts with simulated memory.
#include "support/row_conflicts.h"

#include <math.h>
#include <stdio.h>

#include <random>

namespace row_conflicts {

using yamba::support::RowConflicts;

uint64_t mixed(uint64_t n) {
    n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
    n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
    return n ^ (n >> 31);
}

// A normally distributed number with standard deviation 1 that depends on `n` alone.
double fixed_normal(uint64_t n) {
    double sum = 0;
    for (uint64_t i = 0; i < 12; i++) sum += double(mixed(n * 12 + i + 1) >> 11) / 9007199254740992.0;
    return sum - 6;
}

struct Memory {
    size_t banks = 0;        // 0: none, so no pair conflicts
    double conflict = 45;    // ns
    double of_line = 6;      // standard deviation of the latency of lines
    double of_pair = 0;      // and what each pair adds
    double slow_lines = 0;   // share of lines that are slow with every other one
    double disturbed = 0.1;  // share of the rounds that something lengthens
    double step = 10;        // ns of the clock
    double drift = 0;        // ns by which all rounds become longer, once per 100 000 rounds and back
    uint64_t seed = 1;

    bool conflicts(RowConflicts::Pair pair) const {
        return banks > 0 && mixed(pair.line + seed) % banks == mixed(pair.other + seed) % banks;
    }

    double line(size_t n) const {
        const bool is_slow = double(mixed(n + 99 * seed) % 1000000) < slow_lines * 1e6;
        return 100 + of_line * fixed_normal(n + 7 * seed) + (is_slow ? conflict : 0);
    }
    double ideal(RowConflicts::Pair pair) const {
        const double own =
            fmax(line(pair.line), line(pair.other)) + of_pair * fixed_normal(pair.line * 1000003 + pair.other + seed);
        return own + (conflicts(pair) ? conflict : 0);
    }
    RowConflicts search() const {
        return RowConflicts(
            1 << 20,
            [memory = *this, random = std::mt19937_64(seed), round = 0.0](RowConflicts::Pair pair, double *readings,
                                                                          unsigned int rounds) mutable {
                std::normal_distribution<double> noise(0, 4);
                std::exponential_distribution<double> longer(1.0 / 200);
                std::uniform_real_distribution<double> share(0, 1);
                const double ideal = memory.ideal(pair);
                for (unsigned int i = 0; i < rounds; i++) {
                    const double level = memory.drift * (1 + sin(round++ / 100000)) / 2;
                    const double ns = ideal + level + noise(random) + (share(random) < memory.disturbed ? longer(random) : 0);
                    // The clock's steps begin at any moment of the interval.
                    readings[i] = memory.step > 0 ? floor(ns / memory.step + share(random)) * memory.step : ns;
                }
            },
            seed * 0x9E3779B97F4A7C15);
    }
};

constexpr uint64_t seeds = 10;

void groups_are_found(const char *name, Memory memory) {
    for (memory.seed = 1; memory.seed <= seeds; memory.seed++) {
        RowConflicts search = memory.search();
        const bool is_found = search.find();
        if (!is_found) fprintf(stderr, "%s, seed %d: %s\n", name, int(memory.seed), search.reason().c_str());
        CHECK(is_found);
        if (!is_found) continue;
        CHECK(search.conflicting.size() == search.exchanged.size() && search.conflicting.size() >= 6);
        for (RowConflicts::Pair pair : search.conflicting) CHECK(memory.conflicts(pair));
        for (RowConflicts::Pair pair : search.exchanged) CHECK(!memory.conflicts(pair));
        for (size_t i = 0; i < search.conflicting.size(); i++) CHECK(search.conflicting[i].other == search.exchanged[i].other);
        CHECK(search.agreement() > 0.95);
        CHECK(fabs(search.difference() / memory.conflict - 1) < 0.2);
        CHECK(search.share() > 0.3 / double(memory.banks) && search.share() < 3 / double(memory.banks));
    }
}

void nothing_is_found(const char *name, Memory memory) {
    for (memory.seed = 1; memory.seed <= seeds; memory.seed++) {
        RowConflicts search = memory.search();
        const bool is_found = search.find();
        if (is_found)
            fprintf(stderr, "%s, seed %d: found %.1f ns, %.1f deviations, %zu pairs of %zu\n", name, int(memory.seed),
                    search.difference(), search.separation(), search.conflicting.size(), search.tried());
        CHECK(!is_found && !search.reason().empty() && search.conflicting.empty());
    }
}

// Groups that lie close together may be found or not.
void pairs_are_true_if_found(Memory memory) {
    for (memory.seed = 1; memory.seed <= seeds; memory.seed++) {
        RowConflicts search = memory.search();
        search.find();
        for (RowConflicts::Pair pair : search.conflicting) CHECK(memory.conflicts(pair));
        for (RowConflicts::Pair pair : search.exchanged) CHECK(!memory.conflicts(pair));
    }
}

void test() {
    Memory memory;
    for (size_t banks : {8, 64, 1536, 3072}) {
        memory = Memory();
        memory.banks = banks;
        groups_are_found("banks", memory);
        memory.disturbed = 0.35, memory.drift = 15;
        groups_are_found("noise and drift", memory);
    }
    memory = Memory();
    memory.banks = 64, memory.conflict = 20, memory.of_line = 2, memory.step = 0.4;
    groups_are_found("a small difference and a fine clock", memory);

    nothing_is_found("one group", Memory());
    memory = Memory();
    memory.disturbed = 0.6, memory.drift = 30;
    nothing_is_found("one group with noise", memory);
    memory = Memory();
    memory.of_pair = 10;
    nothing_is_found("one broad group", memory);
    memory = Memory();
    memory.slow_lines = 0.001;
    nothing_is_found("slow lines", memory);
    memory = Memory();
    memory.banks = 64, memory.conflict = 5;
    pairs_are_true_if_found(memory);
}

}  // namespace row_conflicts
