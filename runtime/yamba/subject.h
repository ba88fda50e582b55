// What the harness sees of a benchmark, and what a benchmark sees of the harness. Generated programs implement Subject.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace yamba {

using byte_t = unsigned char;
using iter_t = uint64_t;

// What evidence may ask about the interval that has just been timed.
struct Interval {
    uint64_t passes;      // calls of benchmark(), or iterations given to it
    uint64_t operations;  // passes * operations()
    double nanoseconds;
};
inline Interval interval{};

// How many processes run this benchmark at the same time, and which of them this is, from 0 (until they start: 0).
inline uint64_t processes = 1, process = 0;

// Whether this process is the far end of a benchmark between two machines (`--far`).
inline bool is_far_end = false;

// Receives the values of evidence after each timed interval.
struct EvidenceSink {
    virtual void value(const char *name, double value) = 0;

  protected:
    ~EvidenceSink() = default;
};

// One evidence's bound, evaluated once the parameters are known and before `prepare`.
struct Bound {
    const char *evidence;
    bool bounded;
    double low, high;  // meaningless unless bounded
};

// One parameter as it was settled.
struct ParameterSource;  // parameters.h: the --set values, and where settled ones are reported

// One physical bound: `at_least 1 cycle` is {true, 1, "cycle"}.
struct Physical {
    bool at_least;
    double value;
    const char *unit;
};

// One chart, carried into the record for a later report.
struct Chart {
    const char *figure, *against, *by;  // by: nullptr without
    bool log, fit_linear;
};

template <class T>
struct List {
    const T *data;
    size_t size;
};

// One benchmark object at one parameter point. It lasts as long as its process: a virtual destructor would have every program
// compile those of all its classes.
struct Subject {
    // Gives every parameter its value. Called once, first.
    virtual void configure(ParameterSource &) = 0;
    // Refuses values that cannot be. Called once, after that.
    virtual void check_parameters() {}
    virtual void prepare() = 0;
    virtual void setup() = 0;
    virtual void before_pass() = 0;
    // Called before each batch, after before_pass: evidence from a counter takes its start value here.
    virtual void before_batch() {}
    virtual void after_pass() = 0;
    virtual void cleanup() = 0;
    virtual void finish() = 0;
    virtual uint64_t operations() = 0;          // per pass (bytes for a Bandwidth)
    virtual bool may_wait() { return false; }   // it gives up the processor itself
    virtual bool may_fault() { return false; }  // it takes page faults itself
    // Groups of tests of a given size instead of intervals that the harness sizes; 0 for none.
    virtual uint64_t circle_groups() { return 0; }
    virtual uint64_t circle_group_size() { return 0; }
    virtual uint64_t circle_test_size(uint64_t group) { return (void)group, 0; }
    virtual double value() = 0;  // of a Quantity; NaN otherwise
    // `passes` calls of benchmark(), or one call of benchmark(passes).
    virtual void run(uint64_t passes) = 0;
    virtual void run_dummy(uint64_t passes) = 0;
    virtual void evidence(EvidenceSink &) = 0;
    virtual size_t bounds(Bound *out, size_t room) = 0;  // number of evidences
    virtual const char *figure() = 0;                    // "latency", "bandwidth" or "value"
    virtual const char *unit() = 0;                      // "ns", "MB/s", ...

  protected:
    ~Subject() = default;
};

// One composition that this program holds.
struct Variant {
    const char *ports;  // names separated by a space, least specific first; "" if none
    bool pass_hooks;    // before_pass or after_pass is defined: one pass an interval
    bool has_dummy;     // benchmark_dummy is defined by the class (otherwise the harness's own loop is subtracted)
    Subject *(*create)();
    List<Physical> physical;
    List<Chart> charts;
    // Composes the named bitstring for `yamba disasm`; false if there is none of that name. See composer.h.
    bool (*compose)(Subject &, class Composer &, const char *member, int argc, char **argv);
};

// One program: a benchmark, and which variant applies where.
struct ProgramInfo {
    const char *name;
    const char *isa, *system;
    List<const char *const> atoms;    // shown: "linux >= 6.1", "cpu(avx512f)", "root", "file(\"/dev/kvm\")"
    bool (*const *atom_holds)();      // one function an atom
    const int *worlds;                // 2^atoms: index of the variant, or -1 - i for reasons[i]
    List<const char *const> reasons;  // why nothing runs here
    List<const Variant> variants;
};

// Runs the program; generated main() is `return yamba::main(info, argc, argv);`.
int main(const ProgramInfo &info, int argc, char **argv);

}  // namespace yamba
