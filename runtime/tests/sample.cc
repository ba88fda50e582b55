// A complete program in the compiler's style, small enough to read. The protocol's tests run it.
//
// `mode` selects its behaviour. Time is simulated unless YAMBA_TEST_REAL_CLOCK is set: benchmark()
// advances the clock.
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../src/runtime.cc"

namespace {

using namespace yamba::names;

uint64_t now = 1000;

// Each reading takes 20 ns.
uint64_t simulated_clock() { return now += 20; }

// No disturbance.
yamba::Usage simulated_usage() { return {0, 0, 0, 0, double(now), 0}; }

enum Mode { plain, crashing, failing, hanging, must_fail, nothing, partner, aborting, uses_scratch, out_of_bounds };

struct yamba_sample : yamba::Subject {
    int scale{};
    double factor{};
    bool flag{};
    Mode mode{};
    const char *text{};
    unsigned char small{};
    uint64_t batches_seen{};
    volatile int *volatile nowhere = nullptr;

    void configure(yamba::ParameterSource &source) override {
        source.settle(scale, "scale", "int", [&] { return 16; });
        source.over("scale", yamba::values<int>(16, 32, 64));
        source.quick("scale", yamba::values<int>(16));
        source.settle(factor, "factor", "double", [&] { return scale / 2.0; });
        source.settle(flag, "flag", "bool", [&] { return false; });
        source.settle(mode, "mode", "Mode", [&] { return plain; });
        source.settle(text, "text", "const char *", [&] { return "say \"hi\""; });
        source.settle(small, "small", "unsigned char", [&] { return 1; });
    }
    void prepare() override {}
    void setup() override {
        if (mode == must_fail) must(open("/no/such/file", O_RDONLY));
        if (mode == uses_scratch) puts(scratch_file("data", 100000)), fflush(stdout);
    }
    void before_pass() override {}
    void after_pass() override {}
    void cleanup() override {}
    void finish() override {}
    uint64_t operations() override { return 4; }
    double value() override { return NAN; }
    void run(uint64_t passes) override {
        if (mode != nothing) now += passes * uint64_t(scale) * 4;
    }
    void run_dummy(uint64_t passes) override {
        if (mode != nothing) now += passes * 4;
    }
    void evidence(yamba::EvidenceSink &sink) override {
        batches_seen++;
        if (batches_seen > 3) misbehave();
        sink.value("ratio", mode == out_of_bounds ? 2 : 1);
        sink.value("seen", double(batch.operations) / double(batch.passes));
        sink.value("odd", 0.0 / 0.0);
    }
    void misbehave() {
        if (mode == crashing) *nowhere = 1;
        if (mode == aborting) abort();
        if (mode == failing) yamba::fail("no more than %d", 3);
        while (mode == hanging) pause();
        if (mode == partner) {
            const pid_t child = fork();
            if (child == 0) yamba::fail("said by the partner");
            waitpid(child, nullptr, 0);
        }
    }
    size_t bounds(yamba::Bound *out, size_t room) override {
        const yamba::Bound all[] = {{"ratio", true, 0.5, 1.5}, {"seen", true, 1, INFINITY}, {"odd", false, 0, 0}};
        for (size_t i = 0; i < room && i < 3; i++) out[i] = all[i];
        return 3;
    }
    const char *figure() override { return "latency"; }
    const char *unit() override { return "ns"; }
};

yamba::Subject *create() { return new yamba_sample; }
bool compose(yamba::Subject &, yamba::Composer &, const char *, int, char **) { return false; }

const yamba::Physical physical[] = {{true, 1, "cycle"}};
const yamba::Chart charts[] = {{"latency", "scale", nullptr, true, true}};
const yamba::Variant variants[] = {{"sample_isa sample_linux", false, true, create, {physical, 1}, {charts, 1}, compose}};
const char *const atoms[] = {"file(\"/\")"};
bool (*const holds[])() = {[] { return getenv("YAMBA_TEST_SKIP") == nullptr && yamba::condition::file("/"); }};
const int worlds[] = {-1, 0};
const char *const reasons[] = {"needs file(\"/\")"};

}  // namespace

int main(int argc, char **argv) {
    if (getenv("YAMBA_TEST_REAL_CLOCK") == nullptr)
        yamba::read_clock = simulated_clock, yamba::read_usage = simulated_usage,
        yamba::read_waited = yamba::read_process_time = [] { return 0.0; };
    const yamba::ProgramInfo info{"sample", "x86_64", "linux", {atoms, 1}, holds, worlds, {reasons, 1}, {variants, 1}};
    return yamba::main(info, argc, argv);
}
