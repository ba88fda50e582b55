// A complete program in the compiler's style, for the tests of the load. Parameters make one of its
// processes or threads fail.
//
// YAMBA_TEST_SPARE is the time in ns after which a process counts as hanging. With
// YAMBA_TEST_FEW_PROCESSES, the system refuses to start more than a few processes.
#include <sys/mman.h>
#include <sys/resource.h>

#include "../src/runtime.cc"

namespace {

using namespace yamba::names;

enum Fault { none, kill_itself, crash, stop, end, hang, become_daemon, break_a_promise };
enum Where { in_setup, in_batch, in_evidence, in_cleanup };

struct yamba_load_sample : yamba::Subject {
    Fault fault{};
    Where where{};
    int who{};   // fails: the worker with this index in the order of setup
    int slow{};  // 1: every setup but the first is slow, one after the other; 2: the first is, and reports progress
    static inline int *set_up_yet{};  // shared; the next word is the index of the worker whose turn it is
    int own = -1;
    uint64_t work{}, told{}, inside{}, piece{};
    volatile uint64_t spun{};
    volatile int *volatile nowhere = nullptr;

    void configure(yamba::ParameterSource &source) override {
        source.settle(fault, "fault", "Fault", [] { return none; });
        source.settle(where, "where", "Where", [] { return in_batch; });
        source.settle(who, "who", "int", [] { return 0; });
        source.settle(slow, "slow", "int", [] { return 0; });
    }
    void prepare() override {
        if (set_up_yet != nullptr) return;  // made for the first thread
        set_up_yet =
            static_cast<int *>(must(mmap(nullptr, 2 * sizeof *set_up_yet, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0)));
    }
    void setup() override {
        own = __atomic_fetch_add(set_up_yet, 1, __ATOMIC_SEQ_CST);
        if (where == in_setup) fail();
        take_long();
    }
    void before_pass() override { inside++; }
    void before_batch() override { told = work; }
    void after_pass() override { inside--; }
    void cleanup() override {
        if (where == in_cleanup) fail();
    }
    void finish() override { yamba::Record("note").text("text", "finished"); }
    uint64_t operations() override { return 1; }
    double value() override { return NAN; }
    void run(uint64_t passes) override {
        // All processes but 0 run pieces of one length, then the batch, which is longer.
        if (where == in_batch && piece != 0 && passes > piece) fail();
        piece = passes;
        spin(passes, 1000);
        work += passes;
    }
    void run_dummy(uint64_t passes) override { spin(passes, 100); }
    void spin(uint64_t passes, int each) {
        for (uint64_t i = 0; i < passes; i++)
            for (int n = 0; n < each; n++) spun = spun + 1;
    }
    void evidence(yamba::EvidenceSink &sink) override {
        if (where == in_evidence) fail();
        sink.value("inside", double(inside));
        sink.value("passes_told", double(batch.passes) / double(work - told));
    }
    void take_long() {
        int *turn = set_up_yet + 1;
        while (slow == 1 && __atomic_load_n(turn, __ATOMIC_SEQ_CST) != own) usleep(1000);
        if (slow == 1 && own > 0) usleep(nap_us);
        for (int i = 0; slow == 2 && own == 0 && i < 5; i++) usleep(nap_us), yamba::goes_on();
        __atomic_fetch_add(turn, 1, __ATOMIC_SEQ_CST);
    }
    static constexpr useconds_t nap_us = 800000;
    void fail() {
        if (own != who) return;
        switch (fault) {
            case none: break;
            case kill_itself: raise(SIGKILL); break;
            case crash: *nowhere = 1; break;
            case stop: raise(SIGSTOP); break;
            case end: _exit(0);
            case hang:
                for (;;) pause();
            case become_daemon: become_a_daemon(); break;
            case break_a_promise: must(open("/no/such/file", O_RDONLY)); break;
        }
    }
    // Daemonises like daemon(3).
    void become_a_daemon() {
        if (must(fork()) > 0) _exit(0);
        setsid();
    }
    size_t bounds(yamba::Bound *out, size_t room) override {
        const yamba::Bound all[] = {{"inside", true, 1, 1}, {"passes_told", true, 1, 1}};
        for (size_t i = 0; i < room && i < 2; i++) out[i] = all[i];
        return 2;
    }
    const char *figure() override { return "latency"; }
    const char *unit() override { return "ns"; }
};

yamba::Subject *create() { return new yamba_load_sample; }
bool compose(yamba::Subject &, yamba::Composer &, const char *, int, char **) { return false; }

const yamba::Variant variants[] = {{"load_sample", false, false, create, {nullptr, 0}, {nullptr, 0}, compose}};
const int worlds[] = {0};

// Limits do not apply to root.
void allow_few_processes() {
    struct rlimit few {
        4, 4
    };
    if (setrlimit(RLIMIT_NPROC, &few) != 0 || (getuid() == 0 && setuid(54321) != 0)) _exit(77);
}

}  // namespace

int main(int argc, char **argv) {
    if (const char *spare = getenv("YAMBA_TEST_SPARE")) yamba::load::spare = atof(spare);
    if (getenv("YAMBA_TEST_FEW_PROCESSES") != nullptr) allow_few_processes();
    const yamba::ProgramInfo info{"load_sample", "any", "any", {nullptr, 0}, nullptr, worlds, {nullptr, 0}, {variants, 1}};
    return yamba::main(info, argc, argv);
}
