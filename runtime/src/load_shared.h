// Memory shared by the parent and the workers, and their synchronisation. A worker is one of
// several processes that run the benchmark, or one of several threads of one such process.
//
// One mapping: a header of fixed size, and a few bytes per worker. It needs no descriptor, and the
// parent need not poll each worker: the last one to arrive wakes it.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "harness.h"
#include "load_size.h"
#include "yamba/must.h"
#include "yamba/system.h"

namespace yamba {
namespace load {

// The current activity of a worker, to describe a failure.
enum State : uint32_t {
    starting,
    setting_up,
    sizing,
    waiting,
    running,
    ready,
    timing,
    done,
    reporting,
    reported,
    cleaning_up,
    cleaned_up
};

constexpr const char *state_names[] = {
    "while starting",
    "while setting up",
    "while measuring how long a pass takes",
    "while waiting for the others to set up",
    "while beginning to run",
    "while running before its batch",
    "while timing",
    "while running after its batch",
    "while writing its record",
    "after writing its record",
    "while cleaning up",
    "after cleaning up",
};

// Memory order: every shared word below is written with release and read with acquire. A reader
// that sees all arrivals therefore sees all earlier writes of those workers. A reader that sees a
// step sees all earlier writes of the parent. The words are plain 32-bit integers because the
// kernel waits on those.
struct Header {
    // Only the parent writes `step` and `again`. Workers read `step` between pieces of work, so it
    // has its own cache line, which arrivals do not invalidate.
    alignas(64) uint32_t step;     // how often the parent has released all workers
    uint32_t again;                // whether another round follows; valid when `step` ends a round
    alignas(64) uint32_t arrived;  // workers that have completed the current step
    uint32_t news;                 // changes on an event for the parent, which sleeps on this word
    uint32_t record_lock;          // 0 free, 1 taken, 2 taken while others wait
    uint32_t signs;                // number of progress reports from workers
    uint32_t turn;                 // as `record_lock`: held by the thread that sets up or cleans up
    uint32_t failed;               // 1 + the index of the first thread that reports a failure; 0: none has
    Baseline alone;                // written by worker 0 before its first arrival
    double contended_pass;         // ns of a pass while all threads run, added up over the threads under `turn`; 0: not tried
};

// Whether the workers try together how long a pass takes: threads may contend for memory and locks.
inline bool has_trial(const Plan &plan, bool one_pass) { return plan.threads > 1 && !one_pass; }

struct Slot {
    pid_t pid;  // 0 once its end is known, and of a thread; the process of all threads is that of the first
    uint32_t state;
};

static_assert(__atomic_always_lock_free(sizeof(uint32_t), nullptr), "a lock of the C++ library would not be shared");

struct Shared {
    Header *header;
    Slot *slots;
    uint64_t workers;

    size_t bytes() const { return sizeof(Header) + size_t(workers) * sizeof(Slot); }
};

// The size of a batch, once each worker has set up, and has run the trial if there is one.
inline Size size(const Header &header, double batch_ns, uint64_t workers, uint64_t processors) {
    const Size alone = size(header.alone, batch_ns, workers, processors);
    const double share = share_of_work(workers, processors), pass = header.contended_pass / double(workers);
    return pass > 0 ? contended_size(alone, pass, header.alone, batch_ns, share) : alone;
}

inline Shared share(uint64_t workers) {
    Shared shared{nullptr, nullptr, workers};
    void *memory = must(mmap(nullptr, shared.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    shared.header = static_cast<Header *>(memory);
    shared.slots = reinterpret_cast<Slot *>(shared.header + 1);
    return shared;
}

inline uint32_t read(const uint32_t &word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
inline void write(uint32_t &word, uint32_t value) { __atomic_store_n(&word, value, __ATOMIC_RELEASE); }

// The longest sleep before a waiting worker checks whether the others still exist.
constexpr uint64_t look_up = 1000000000;

inline bool try_lock(uint32_t &word) {
    uint32_t free = 0;
    return __atomic_compare_exchange_n(&word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// One attempt, which may sleep. Marks the lock as contended, since other workers may sleep, too.
inline bool lock_or_sleep(uint32_t &word) {
    if (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) == 0) return true;
    system::sleep_while(&word, 2, look_up);
    return false;
}

inline void unlock(uint32_t &word) {
    if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2) system::wake(&word, 1);
}

}  // namespace load
}  // namespace yamba
