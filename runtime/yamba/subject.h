// The interfaces between the harness and a benchmark. Generated programs implement Subject.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "floating.h"

namespace yamba {

using byte_t = unsigned char;
using iter_t = uint64_t;

// The most recent timed batch of this thread, for evidence.
struct Batch {
    uint64_t passes;      // calls of benchmark(), or iterations given to it
    uint64_t operations;  // passes * operations()
    double nanoseconds;
};
inline thread_local Batch batch{};

// The number of processes that run this benchmark concurrently, and this process's index. The index
// is 0 until they start.
inline uint64_t processes = 1, process = 0;

// The number of threads of this process that run the benchmark concurrently, each on an object of
// its own, and the index of the calling one. The index is 0 until they start.
inline uint64_t threads = 1;
inline thread_local uint64_t thread_index = 0;

// Whether this process is the far end of a benchmark between two machines (`--far`).
inline bool is_far_end = false;

// Receives the values of evidence after each timed batch.
struct EvidenceSink {
    virtual void value(const char *name, double value) = 0;

  protected:
    ~EvidenceSink() = default;
};

// The bounds of one evidence, evaluated after the parameters are settled and before `prepare`.
struct Bound {
    const char *evidence;
    bool bounded;
    double low, high;  // valid only if bounded
};

struct ParameterSource;  // parameters.h: the --set values, and the settled parameters

// One physical bound: `at_least 1 cycle` is {true, 1, "cycle"}.
struct Physical {
    bool at_least;
    double value;
    const char *unit;
};

// One chart; the record carries it for later reports.
struct Chart {
    const char *figure, *against, *by;  // by: nullptr if absent
    bool log, fit_linear;
};

template <class T>
struct List {
    const T *data;
    size_t size;
};

// A primitive that one operation of another primitive uses.
struct Contained {
    const char *name;
    unsigned long long count;
    const char *evidence;  // the evidence that has the number per operation; nullptr: it is `count`
};

// The primitive that a benchmark stands for.
struct Primitive {
    const char *name;
    const char *by;  // the parameter that is its size; nullptr if it has none
    List<Contained> contains;
};

// One benchmark object at one parameter point. It lives as long as its process. It has no virtual
// destructor: with one, every program would compile the destructors of all its classes.
struct Subject {
    // Sets every parameter. Called once, first.
    virtual void configure(ParameterSource &) = 0;
    // Refuses invalid parameter values. Called once, after configure.
    virtual void check_parameters() {}
    // The first `requires` that the parameters do not fulfil; nullptr if they fulfil all. Called
    // after check_parameters, so that it may divide by a parameter that is never 0.
    virtual const char *unmet() { return nullptr; }
    virtual void prepare() = 0;
    virtual void setup() = 0;
    virtual void before_pass() = 0;
    // Called before each batch, after before_pass: evidence from a counter takes its start value
    // here.
    virtual void before_batch() {}
    virtual void after_pass() = 0;
    virtual void cleanup() = 0;
    virtual void finish() = 0;
    virtual uint64_t operations() = 0;          // per pass (bytes for a Bandwidth)
    virtual bool may_wait() { return false; }   // whether the benchmark itself blocks
    virtual bool may_fault() { return false; }  // whether the benchmark itself takes page faults
    // Whether threads that the benchmark starts are meant to run on its processor.
    virtual bool shares_processor() { return false; }
    // The longest time in ns that one of its own threads waited for a processor in the last pass,
    // while others had it. NaN: it does not know.
    virtual double waited_for_processors() { return not_known; }
    virtual uint64_t setup_bytes() { return 0; }  // bytes of memory that setup fills
    // Whether several objects may run in threads of one process. False: the class says no.
    virtual bool runs_in_threads() { return true; }
    // A name in the class's C++ that concerns the whole process, such as `fork`; nullptr without
    // one, or if the class defines `runs_in_threads`.
    virtual const char *process_wide() { return nullptr; }
    // The number of test groups, for a benchmark with groups of a given size instead of batches
    // that the harness sizes. 0: batches.
    virtual uint64_t circle_groups() { return 0; }
    virtual uint64_t circle_group_size() { return 0; }
    virtual uint64_t circle_test_size(uint64_t group) { return (void)group, 0; }
    virtual uint64_t circle_skip() { return 0; }           // additional tests before those of each group
    virtual bool circle_in_new_thread() { return false; }  // whether a thread of its own runs each test
    // How the tests are judged: the confidence level, the half-width of the mean's interval that is
    // wanted and the largest difference between steady groups, as shares of the mean.
    virtual double circle_confidence() { return 0.95; }
    virtual double circle_half_width() { return 0.01; }
    virtual double circle_margin() { return 0.01; }
    // The most seconds of a second round with as many tests as that half-width needs; 0: none.
    virtual double circle_second_round() { return 0; }
    virtual double value() = 0;  // of a Quantity; NaN otherwise
    // `passes` calls of benchmark(), or one call of benchmark(passes).
    virtual void run(uint64_t passes) = 0;
    virtual void run_dummy(uint64_t passes) = 0;
    virtual void evidence(EvidenceSink &) = 0;
    virtual size_t bounds(Bound *out, size_t room) = 0;  // returns the number of evidences
    virtual const char *figure() = 0;                    // "latency", "bandwidth" or "value"
    virtual const char *unit() = 0;                      // "ns", "MB/s", ...
    // The kind of inference from recorded curves, such as "cache_size". Null: the figure comes from
    // the batches.
    virtual const char *inferred() { return nullptr; }
    virtual uint64_t inferred_level() { return 1; }  // for example of the cache
    virtual const Primitive *primitive() { return nullptr; }

  protected:
    ~Subject() = default;
};

// One composition in this program.
struct Variant {
    const char *ports;  // names separated by a space, least specific first; "" if none
    bool pass_hooks;    // before_pass or after_pass is defined: one pass per batch
    bool has_dummy;     // the class defines benchmark_dummy (otherwise the harness's empty loop is subtracted)
    Subject *(*create)();
    List<Physical> physical;
    List<Chart> charts;
    // Composes the named bitstring for `yamba disasm`; false if no bitstring has that name. See
    // composer.h.
    bool (*compose)(Subject &, class Composer &, const char *member, int argc, char **argv);
};

// One program: a benchmark, and its variants with their conditions.
struct ProgramInfo {
    const char *name;
    const char *isa, *system;
    List<const char *const> atoms;    // as displayed: "linux >= 6.1", "cpu(avx512f)", "root", "file(\\"/dev/kvm\\")"
    bool (*const *atom_holds)();      // one function per atom
    const int *worlds;                // 2^atoms: index of the variant, or -1 - i for reasons[i]
    List<const char *const> reasons;  // why no variant applies
    List<const Variant> variants;
};

// Runs the program. The generated main() is `return yamba::main(info, argc, argv);`.
int main(const ProgramInfo &info, int argc, char **argv);

}  // namespace yamba
