// The parent of the workers that run a benchmark concurrently: of several processes, or of one
// process with several threads. It synchronises their steps and reports a failing worker.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "harness.h"
#include "load_shared.h"
#include "load_size.h"
#include "plain_locale.h"
#include "yamba/clock.h"
#include "yamba/meeting.h"
#include "yamba/must.h"
#include "yamba/record_writer.h"

namespace yamba {
namespace load {

// ns of minimum timeout for any step. Tests of hanging processes reduce it.
inline double spare = 30e9;

// Time between two looks at the measuring processes while other nodes are waited for.
constexpr int meeting_look_ms = 100;

// Set by the handler of SIGCHLD. The handler also changes the word that the parent sleeps on. A
// process that ends just before the parent sleeps thus prevents the sleep; one that ends later
// wakes the parent.
inline volatile sig_atomic_t child_news = 0;
inline uint32_t *news_word = nullptr;

inline void on_child(int) {
    child_news = 1;
    __atomic_add_fetch(news_word, 1, __ATOMIC_RELEASE);
}

struct SignalName {
    int signal;
    const char *name;
};
constexpr SignalName signal_names[] = {
    {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGHUP, "SIGHUP"},   {SIGQUIT, "SIGQUIT"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"},   {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}, {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},
    {SIGTTIN, "SIGTTIN"}, {SIGTTOU, "SIGTTOU"},
};

// Space for a sentence. An array of characters, since every benchmark compiles this, and
// destructors would take the compile time.
using Sentence = char[256];

// Describes a status from waitpid in words.
inline void describe_end(int status, Sentence &out) {
    if (WIFEXITED(status)) return (void)snprintf(out, sizeof out, "ended with status %d", WEXITSTATUS(status));
    int signal = WIFSTOPPED(status) ? WSTOPSIG(status) : WTERMSIG(status);
    const char *name = "unnamed";
    for (const SignalName &known : signal_names) name = known.signal == signal ? known.name : name;
    snprintf(out, sizeof out, "was %s by signal %d (%s)", WIFSTOPPED(status) ? "stopped" : "killed", signal, name);
}

// Describes that the system started only some of the planned processes or threads.
inline void describe_refusal(uint64_t started, uint64_t count, const char *kinds, int error, Sentence &out) {
    const char *limit = error == EAGAIN ? "; `ulimit -u` limits how many a user may have" : "";
    snprintf(out, sizeof out, "could start %llu of %llu %s: %s%s", static_cast<unsigned long long>(started),
             static_cast<unsigned long long>(count), kinds, strerror(error), limit);
}

class Parent {
  public:
    Parent(const Shared &shared, const Plan &plan, uint64_t processors)
        : shared_(shared), header_(*shared.header), plan_(plan), processors_(processors) {
        news_word = &header_.news;
        struct sigaction action {};
        action.sa_handler = on_child;
        sigaction(SIGCHLD, &action, &former_);
    }
    ~Parent() { leave(); }

    // Restores the former handler, for the measured processes and for the code after the
    // measurement.
    void leave() const { sigaction(SIGCHLD, &former_, nullptr); }

    void started(uint64_t index, pid_t pid) { shared_.slots[index].pid = pid; }

    [[noreturn]] void refused(uint64_t started, int error) {
        Sentence why;
        describe_refusal(started, shared_.workers, kinds(), error, why);
        give_up("%s", why);
    }

    // Runs the parent's side of the protocol; `live` in load_process.h is the other side.
    void conduct(bool one_pass, bool has_dummy) {
        await(waiting, patience(0) + 20 * double(plan_.warmup + plan_.time));
        let_go_on();
        await(waiting, patience(header_.alone.setup));
        if (has_trial(plan_, one_pass)) conduct_trial();
        Size sizes = one_pass ? Size{1, 1, 1} : size(header_, double(plan_.loaded_batch), shared_.workers, processors_);
        note_length(sizes, one_pass);
        double cpu = system::usage().cpu_ns;
        conduct_rounds(sizes, has_dummy);
        Record record("harness");
        record.count("processes", has_threads() ? 1 : shared_.workers).count("threads", has_threads() ? shared_.workers : 1);
        record.count("rounds", rounds_).count("descriptors", descriptors());
        record.number("parent_cpu_ns", system::usage().cpu_ns - cpu).count("shared_bytes", shared_.bytes());
    }

    // Lets the workers clean up and end.
    void dismiss() {
        header_.again = 0;
        let_go_on();
        double allowance = patience(header_.alone.setup);
        for (uint64_t i = 0; i < shared_.workers; i++)
            if (!wait_until(in(allowance), Event::end, i)) abandon(lagging(i), allowance);
    }

    // Kills all processes and ends with this error.
    [[noreturn]] __attribute__((format(printf, 2, 3))) void give_up(const char *format, ...) {
        const PlainLocale plain;
        Sentence why;
        va_list args;
        va_start(args, format);
        vsnprintf(why, sizeof why, format, args);
        va_end(args);
        end_all();
        fail("%s", why);
    }

  private:
    bool has_threads() const { return plan_.threads > 0; }
    const char *kinds() const { return has_threads() ? "threads" : "processes"; }

    void end_all() {
        leave();
        for (uint64_t i = 0; i < shared_.workers; i++)
            if (shared_.slots[i].pid > 0) kill(shared_.slots[i].pid, SIGKILL);
        for (uint64_t i = 0; i < shared_.workers; i++)
            while (shared_.slots[i].pid > 0 && waitpid(shared_.slots[i].pid, nullptr, 0) < 0 && errno == EINTR) {
            }
    }

    void conduct_trial() {
        const double allowance = patience(2 * piece_ns);
        let_go_on();
        conduct_stretch(0, allowance);
        await(waiting, allowance);
    }

    void conduct_rounds(const Size &sizes, bool has_dummy) {
        double longest = header_.alone.pass;
        const double contended = header_.contended_pass / double(shared_.workers);
        for (double pass : {header_.alone.dummy_pass, contended}) longest = pass > longest ? pass : longest;
        double allowance = patience(longest * double(sizes.passes + sizes.piece));
        header_.again = 1;
        for (;;) {
            let_go_on();
            conduct_stretch(plan_.warmup, allowance);
            if (has_dummy) conduct_stretch(0, allowance);
            await(reported, allowance);
            rounds_++;
            if (rounds_ >= plan_.batches) return;
        }
    }

    void conduct_stretch(uint64_t warmup, double allowance) {
        await(ready, allowance);
        meet();
        wait_until(in(double(warmup)), Event::none);
        let_go_on();
        await(done, allowance);
        meet();
        let_go_on();
    }

    // Waits until the workers of all other nodes have come as far, while those of this node run on.
    void meet() {
        if (plan_.meeting < 0) return;
        meeting::write_whole(plan_.meeting, meeting::Vote{meeting::stretch, 1});
        pollfd waited = {plan_.meeting, POLLIN, 0};
        while (poll(&waited, 1, meeting_look_ms) <= 0)
            if (child_news) child_news = 0, look_after_children();
        meeting::Answer answer{};
        if (!meeting::read_whole(plan_.meeting, answer) || answer.agreed == 0) give_up("another node has given up this launch");
    }

    double patience(double ns) const { return load::patience(ns, shared_.workers, processors_, spare); }

    static uint64_t in(double ns) { return system_clock() + uint64_t(ns); }

    // Releases all waiting workers. All have arrived, and none arrives again before it sees the
    // step. Wakes one sleeper, which wakes others.
    void let_go_on() {
        write(header_.arrived, 0);
        __atomic_add_fetch(&header_.step, 1, __ATOMIC_RELEASE);
        system::wake(&header_.step, 1);
    }

    enum class Event { none, arrival, end };

    // Waits until all workers have arrived, or process `index` has ended. Returns false if the
    // deadline passes first.
    bool wait_until(uint64_t deadline, Event event, uint64_t index = 0) {
        for (;;) {
            uint32_t news = read(header_.news);
            if (child_news) child_news = 0, look_after_children();
            if (event == Event::arrival && read(header_.arrived) == shared_.workers) return true;
            if (event == Event::end && has_ended(index)) return true;
            uint64_t now = system_clock();
            if (now >= deadline) return false;
            system::sleep_while(&header_.news, news, deadline - now);
        }
    }

    // Waits until all workers reach `state`. The timeout restarts when another worker arrives or
    // reports progress, since workers may proceed one after the other, as to an ssh server. Polls a
    // few times, since only the last arrival wakes the parent.
    void await(State state, double ns) {
        constexpr int looks = 4;
        uint64_t seen = progress();
        for (int quiet = 0; quiet < looks; quiet++) {
            if (wait_until(in(ns / looks), Event::arrival)) return;
            if (progress() == seen) continue;
            seen = progress();
            quiet = -1;
        }
        for (uint64_t i = 0; i < shared_.workers; i++)
            if (read(shared_.slots[i].state) != state) abandon(i, ns);
    }

    // Changes when a worker arrives or reports progress.
    uint64_t progress() const { return uint64_t(read(header_.signs)) << 32 | read(header_.arrived); }

    [[noreturn]] void abandon(uint64_t index, double ns) {
        const char *doing = state_names[read(shared_.slots[index].state)];
        const char *kind = has_threads() ? "thread" : "process";
        give_up("%s %llu of %llu has got no further for %.3g s %s", kind, ull(index), ull(shared_.workers), ns / 1e9, doing);
    }

    // Detects failed processes. A process that ends or is stopped before its dismissal has failed.
    void look_after_children() {
        for (uint64_t i = 0; i < shared_.workers; i++)
            if (shared_.slots[i].pid > 0 && read(shared_.slots[i].state) < cleaning_up) has_ended(i);
    }

    // Whether a dismissed process has ended successfully. Any other end of a process ends the run.
    bool has_ended(uint64_t index) {
        Slot &slot = shared_.slots[index];
        int status;
        if (slot.pid == 0) return true;
        if (waitpid(slot.pid, &status, WNOHANG | WUNTRACED) != slot.pid) return false;
        if (!WIFSTOPPED(status)) slot.pid = 0;
        const bool is_done = read(shared_.slots[lagging(index)].state) == cleaned_up;
        if (is_done && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
        if (WIFEXITED(status) && WEXITSTATUS(status) == skipped_status) end_all(), end_early(skipped_status);  // reported
        report_end(index, status);
    }

    // The worker that process `index` still waits for before it can end: the first of its threads
    // that has not cleaned up.
    uint64_t lagging(uint64_t index) const {
        if (!has_threads()) return index;
        for (uint64_t i = 0; i < shared_.workers; i++)
            if (read(shared_.slots[i].state) != cleaned_up) return i;
        return index;
    }

    // Ends with the failure of a process. If it has threads, its state is that of the thread that
    // reported a failure, or else of the first thread that is not done.
    [[noreturn]] void report_end(uint64_t index, int status) {
        Sentence how, who;
        describe_end(status, how);
        const uint32_t failed = read(header_.failed);
        const uint64_t worker = failed > 0 ? failed - 1 : lagging(index);
        if (has_threads() && failed == 0) snprintf(who, sizeof who, "the process of %llu threads", ull(shared_.workers));
        else
            snprintf(who, sizeof who, "%s %llu of %llu", has_threads() ? "thread" : "process", ull(worker), ull(shared_.workers));
        give_up("%s %s %s", who, how, state_names[read(shared_.slots[worker].state)]);
    }

    void note_length(const Size &sizes, bool one_pass) const {
        const PlainLocale plain;
        double ms = header_.alone.pass * double(sizes.passes) / 1e6;
        Sentence note;
        if (one_pass)
            snprintf(note, sizeof note,
                     "a batch under load is one pass, %.3g ms in one %s alone; what the class does around each pass "
                     "runs in between",
                     ms, has_threads() ? "thread" : "process");
        else if (share_of_work(shared_.workers, processors_) < 1 && has_threads())
            snprintf(note, sizeof note, "%llu threads share %llu processors", ull(shared_.workers), ull(processors_));
        else if (share_of_work(shared_.workers, processors_) < 1)
            snprintf(note, sizeof note,
                     "%llu processes share %llu processors: a batch holds what takes one process alone %.3g ms",
                     ull(shared_.workers), ull(processors_), ms);
        else return;
        place::note(note);
    }

    // The number of open descriptors. The range would cover one descriptor per worker.
    uint64_t descriptors() const {
        uint64_t open = 0;
        for (int fd = 0; uint64_t(fd) < 1024 + 4 * shared_.workers; fd++) open += fcntl(fd, F_GETFD) >= 0;
        return open;
    }

    static unsigned long long ull(uint64_t value) { return value; }

    const Shared &shared_;
    Header &header_;
    const Plan &plan_;
    uint64_t processors_, rounds_ = 0;
    struct sigaction former_ {};
};

}  // namespace load
}  // namespace yamba
