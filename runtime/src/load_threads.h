// The threads of one process that run a benchmark concurrently.
#pragma once

#include <pthread.h>

#include "crash.h"
#include "disturbance.h"
#include "load_parent.h"
#include "load_worker.h"
#include "yamba/placement.h"

namespace yamba {
namespace load {

// The plan, the shared memory and the machine, common to all threads of a process.
struct Protocol {
    const Plan &plan;
    const Shared &shared;
    const ClockError &error;
    uint64_t processors;
    pid_t parent;
    bool pass_hooks;
};

// The threads, each with its own object of the benchmark. The thread that makes them only waits for
// their end, since the first thread of a process differs from the others: the C library gives it
// another heap.
class Crew {
  public:
    Crew(const Values<Subject *> &subjects, const Protocol &protocol) : protocol_(protocol), count_(subjects.size()) {
        seats_ = new Seat[count_];
        for (uint64_t i = 0; i < count_; i++) seats_[i].subject = subjects.data()[i], seats_[i].crew = this;
        for (uint64_t i = 0; i < count_; i++) seats_[i].bounds = new FixedBounds(*seats_[i].subject);
    }

    // Runs all threads from `prepare` to `finish`. The first worker of the protocol is thread 0.
    void live() {
        for (uint64_t i = 0; i < count_; i++) thread_index = i, seats_[i].subject->prepare();
        thread_index = 0;
        const double begin_ns = read_process_time();
        for (uint64_t i = 0; i < count_; i++)
            if (int error = start(seats_[i])) refused(i, error);
        for (uint64_t i = 0; i < count_; i++) pthread_join(seats_[i].thread, nullptr);
        note_other_threads(read_process_time() - begin_ns);
        for (uint64_t i = 0; i < count_; i++) thread_index = i, seats_[i].subject->finish();
    }

  private:
    struct Seat {
        Crew *crew = nullptr;
        Subject *subject = nullptr;
        const FixedBounds *bounds = nullptr;
        pthread_t thread{};
        CrashStack crash_stack{};
        double cpu_ns = 0;  // processor time of the whole thread
    };

    // Bytes of a thread's stack. All stacks are locked in memory as a whole.
    static constexpr size_t stack_bytes = 1 << 20;

    static int start(Seat &seat) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, stack_bytes);
        int error = pthread_create(&seat.thread, &attributes, be_thread, &seat);
        pthread_attr_destroy(&attributes);
        return error;
    }

    static void *be_thread(void *argument) {
        Seat &seat = *static_cast<Seat *>(argument);
        seat.crew->run(seat);
        return nullptr;
    }

    void run(Seat &seat) {
        thread_index = uint64_t(&seat - seats_);
        use_crash_stack(seat.crash_stack);
        take_place(protocol_.plan, thread_index);
        Worker(*seat.subject, *seat.bounds, protocol_.pass_hooks, protocol_.plan, protocol_.shared, protocol_.processors,
               thread_index, protocol_.parent)
            .live(protocol_.error);
        seat.cpu_ns = read_usage().cpu_ns;
    }

    // Says that the benchmark's own threads had only the processors of those that started them.
    // `process_ns`: the processor time of all threads.
    void note_other_threads(double process_ns) const {
        double others_ns = process_ns;
        for (uint64_t i = 0; i < count_; i++) others_ns -= seats_[i].cpu_ns;
        const bool is_intended = protocol_.plan.pinned || protocol_.plan.cpu >= 0 || seats_[0].subject->shares_processor();
        if (is_intended || !placement.pinned() || !(others_ns > noticeable * process_ns)) return;
        // Without a number, so that the launches give the same note.
        place::note(
            "threads that it starts used more than a tenth of its processor time, each on the processor of the thread of -T that "
            "started it; `--placement free` lets them run on all processors");
    }

    static constexpr double noticeable = 0.1;  // share of the processor time; set-up and initialisation take less

    [[noreturn]] void refused(uint64_t started, int error) const {
        Sentence why;
        describe_refusal(started, count_, "threads", error, why);
        failed_worker = nullptr;  // no thread has failed
        fail("%s", why);
    }

    Protocol protocol_;
    uint64_t count_;
    Seat *seats_;
};

}  // namespace load
}  // namespace yamba
