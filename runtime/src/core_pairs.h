// Tests which processors share a core: a competitor on one hardware thread of a core halves the
// width that is left for the other. A virtual machine often reports other cores than the host has.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load_shared.h"
#include "precision.h"
#include "quietest.h"
#include "yamba/record_writer.h"

namespace yamba {
namespace core_pairs {

constexpr size_t readings = 8;           // of each phase of a round
constexpr size_t fewest_rounds = 4;      // and further ones while the pair is not decided,
constexpr size_t most_rounds = 16;       // because neighbours come and go meanwhile
constexpr size_t most_tested_whole = 8;  // processors of which all pairs are tested
constexpr size_t sample_of_others = 16;  // pairs of a larger machine that the system takes for two cores
constexpr double all_pairs_ns = 1e9;     // the time for all pairs; the others stay untested

enum class Finding { unknown, separate, shared };

// A quiet probe and its share among the probes.
struct Level {
    double width = NAN, share = 0;
};

// The width of the shortest tenth of the probes, and the share of probes within the tolerance of
// this `level`, or of that width if it is NAN. Interrupted probes are NAN and count as longer.
inline Level level_of(Values<double> widths, double level = NAN) {
    Values<double> known;
    for (double width : widths)
        if (width > 0) known.push_back(width);
    if (known.empty()) return {};
    qsort(known.data(), known.size(), sizeof(double), harness::ascending);
    Level found;
    found.width = known[known.size() / 10];
    size_t quiet = 0;
    for (double width : known) quiet += width::is_at_level(width, isnan(level) ? found.width : level) ? 1 : 0;
    found.share = double(quiet) / double(widths.size());
    return found;
}

// Compares the probes that were taken while the competitor slept with those while it ran. It
// lengthens every probe of its own core. A neighbour beside either processor comes and goes; while
// it is always there, nothing is known.
inline Finding finding(const Values<double> &alone, const Values<double> &beside) {
    constexpr double often = 0.25, hardly_ever = 0.03, longer = 1.1;
    const Level quiet = level_of(alone);
    if (quiet.share < often || beside.empty()) return Finding::unknown;
    const Level same = level_of(beside, quiet.width);
    if (same.share >= often) return Finding::separate;
    return same.share <= hardly_ever && same.width > longer * quiet.width ? Finding::shared : Finding::unknown;
}

// The memory that the competitor shares with its parent.
struct Orders {
    uint32_t runs;   // whether it competes
    uint32_t cpu;    // on this processor
    uint32_t moved;  // the processor that it moved to
    uint32_t turns;  // counts its work
};

// A process that uses the full width of a processor when ordered. It ends with this process.
class Competitor {
  public:
    Competitor() {
        void *memory = mmap(nullptr, sizeof(Orders), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
        orders_ = static_cast<Orders *>(must(memory));
        *orders_ = Orders{0, 0, UINT32_MAX, 0};
        const pid_t self = getpid();
        pid_ = must(fork());
        if (pid_ != 0) return;
        system::signal_with_parent(SIGKILL);
        if (getppid() != self) _exit(failed_status);
        compete();
    }
    Competitor(const Competitor &) = delete;
    ~Competitor() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        munmap(orders_, sizeof *orders_);
    }

    void order(bool runs, int cpu) {
        load::write(orders_->cpu, uint32_t(cpu));
        load::write(orders_->runs, runs ? 1u : 0u);
        system::wake(&orders_->runs, 1);
    }
    uint32_t turns() const { return load::read(orders_->turns); }

    // Waits up to some milliseconds until it works on that processor.
    bool has_begun(int cpu) const {
        const uint32_t before = turns();
        const uint64_t begin = read_clock();
        while (nanoseconds(begin, read_clock()) < 20e6)
            if (load::read(orders_->moved) == uint32_t(cpu) && turns() - before > 2) return true;
        return false;
    }

  private:
    [[noreturn]] void compete() {
        for (;;) {
            system::sleep_while(&orders_->runs, 0, 1000000000);
            const int cpu = int(load::read(orders_->cpu));
            if (load::read(orders_->runs) == 0 || !system::stay_on(&cpu, 1)) continue;
            load::write(orders_->moved, uint32_t(cpu));
            while (load::read(orders_->runs) != 0) {
                isa_hooks.width.run(isa_hooks.width.multiple);
                load::write(orders_->turns, turns() + 1);
            }
        }
    }

    Orders *orders_;
    pid_t pid_;
};

// Tests whether a competitor on processor `other` is on the core of processor `one`, which this
// process moves to.
inline Finding test(Competitor &competitor, int one, int other) {
    Values<double> alone, beside;
    if (!system::stay_on(&one, 1)) return Finding::unknown;
    Finding found = Finding::unknown;
    for (size_t round = 0; round < most_rounds && (round < fewest_rounds || found == Finding::unknown); round++) {
        for (size_t i = 0; i < readings; i++) alone.push_back(width::read_core().width);
        competitor.order(true, other);
        if (competitor.has_begun(other))
            for (size_t i = 0; i < readings; i++) {
                const uint32_t before = competitor.turns();
                const double width = width::read_core().width;
                // Only if the competitor has not lost its processor meanwhile.
                if (competitor.turns() != before) beside.push_back(width);
            }
        competitor.order(false, other);
        found = finding(alone, beside);
    }
    return found;
}

struct Pair {
    int one, other;
};

// The pairs to test: all of a small machine. Of a larger one those that the system takes for one
// core, and some others.
inline Values<Pair> pairs(const Values<int> &cpus, uint64_t seed) {
    Values<Pair> together, apart;
    Values<long> cores;
    for (int cpu : cpus) cores.push_back(place::core_of(cpu));
    for (size_t i = 0; i < cpus.size(); i++)
        for (size_t j = i + 1; j < cpus.size(); j++)
            (cores[i] >= 0 && cores[i] == cores[j] ? together : apart).push_back(Pair{cpus[i], cpus[j]});
    const size_t sample = cpus.size() <= most_tested_whole ? apart.size() : sample_of_others;
    for (size_t i = 0; i < sample && !apart.empty(); i++) {
        const size_t next = size_t(quietest::next_random(seed) % apart.size());
        together.push_back(apart[next]);
        apart.erase(apart.begin() + long(next));
    }
    return together;
}

// Tests the pairs of processors that this process may use, and writes what it found as one record.
inline void record(uint64_t seed) {
    Record record("core_pairs");
    Text &list = record.key("pairs").add("[");
    if (width::steps_wanted > 0) {
        Competitor competitor;
        const uint64_t begin = read_clock();
        const char *separator = "";
        for (const Pair &pair : pairs(placement.allowed, seed)) {
            if (nanoseconds(begin, read_clock()) > all_pairs_ns) break;
            const Finding found = test(competitor, pair.one, pair.other);
            list.add(separator).addf("{\"one\":%d,\"other\":%d,\"shared\":", pair.one, pair.other);
            list.add(found == Finding::unknown ? "null}" : found == Finding::shared ? "true}" : "false}");
            separator = ",";
        }
    }
    list.add("]");
}

}  // namespace core_pairs
}  // namespace yamba
