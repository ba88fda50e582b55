// Measures the latency of a load in buffers of ascending size. Each pass is recorded;
// crates/harness/src/caches infers the caches from them.
//
// Before the passes of a size, independent loads visit every line of the buffer. The passes then
// follow the same order with dependent loads, and continue where the last pass ended. A cache that
// replaces the oldest line has then evicted each line of a buffer that is larger than the cache, so
// that the curve rises at once where the buffer exceeds the cache.
#include "yamba/cache_curve.h"

#include <math.h>

#include "yamba/buffer.h"
#include "yamba/clock.h"
#include "yamba/curve.h"
#include "yamba/cycle.h"
#include "yamba/memory.h"
#include "yamba/must.h"
#include "yamba/platform.h"

namespace yamba {
namespace cache_curve {

constexpr size_t least_bytes = 4096;
constexpr size_t small_bytes = 4 << 20;    // smaller sizes have four points an octave, larger ones two
constexpr size_t hidden_bytes = 64 << 20;  // a system may describe none of its caches: no curve without a limit ends below
constexpr int rounds = 12;                 // over the small sizes; in some of them no neighbour disturbs
constexpr int small_passes = 2, large_passes = 6, overhead_passes = 8;
constexpr uint64_t least_loads = 1024, most_loads = 4096;
constexpr double pass_ns = 1e5;          // a short pass fits between two turns of a neighbour
constexpr double most_ns = 1.8e9;        // of the first round; the others take at most half a second
constexpr double repeat_large_ns = 5e8;  // no second round of the large sizes after this time
constexpr double flat = 1.15;            // the latency of memory rises less over two octaves of sizes

// An order of all lines of a buffer that no prefetcher follows and that needs no set-up. The lines
// are an odd number of blocks, each with a power of two of lines. The block ascends, and the line
// within it comes from a linear congruential generator with full period. Both periods are coprime,
// so that the order visits every line once before it repeats.
struct Order {
    size_t mask, shift, blocks;
    size_t line = 0, block = 0;

    Order(size_t lines, size_t odd) : blocks(odd) {
        for (shift = 0; odd << (shift + 1) <= lines;) shift++;
        mask = (size_t(1) << shift) - 1;
    }
    size_t place() const { return (block << shift) | line; }
    // `loaded` is 0. The next place then depends on the load.
    void advance(size_t loaded) {
        constexpr size_t multiplier = size_t(0x5851F42D4C957F2D), increment = size_t(0x14057B7EF767814F);
        line = ((line * multiplier + increment) & mask) ^ loaded;
        block = block + 1 == blocks ? 0 : block + 1;
    }
};

__attribute__((noinline)) static void visit(const char *buffer, Order &order, size_t loads, size_t line_size) {
    Order at = order;
    for (size_t i = 0; i < loads; i++) {
        (void)*reinterpret_cast<const volatile size_t *>(buffer + at.place() * line_size);
        at.advance(0);
    }
    order = at;
}

// ns of a dependent load with the computation of its address. Without `loads`, an AND of one cycle
// stands for each load.
template <bool loads>
__attribute__((noinline)) static double chase(const char *buffer, Order &order, size_t count, size_t line_size) {
    Order at = order;
    size_t zero = 0;
    asm volatile("" : "+r"(zero));
    const uint64_t begin = read_clock();
    for (size_t i = 0; i < count; i++) {
        const char *address = buffer + at.place() * line_size;
        size_t loaded = loads ? *reinterpret_cast<const volatile size_t *>(address) : reinterpret_cast<size_t>(address) & zero;
        asm volatile("" : "+r"(loaded));
        at.advance(loaded);
    }
    const uint64_t end = read_clock();
    order = at;
    return nanoseconds(begin, end) / double(count);
}

struct Size {
    size_t bytes, odd;
    double least_ns;  // with the overhead
};

class Curve {
  public:
    explicit Curve(size_t limit) : begin_(read_clock()) {
        const size_t affordable = memory::available() / 5;
        limit_ = limit < affordable ? limit : affordable;
        if (limit_ > most_bytes) limit_ = most_bytes;
        limit_ -= limit_ % least_bytes;
        if (limit_ < least_bytes)
            skip("a curve needs a buffer of at least %zu bytes: the limit is %zu, and a fifth of the free memory %zu",
                 least_bytes, limit, affordable);
        buffer_ = static_cast<char *>(must(memory::reserve(reserved_, limit_, true)));
    }
    ~Curve() { memory::release(reserved_); }

    double measure() {
        grow();
        for (int round = 1; round < rounds; round++) {
            measure_overhead();
            for (size_t i = 0; i < sizes_.size(); i++)
                if (sizes_[i].bytes < small_bytes || (round == 1 && spent() < repeat_large_ns)) measure_size(sizes_[i]);
        }
        const double share = huge_share();
        write(share);
        return share;
    }

  private:
    double spent() const { return nanoseconds(begin_, read_clock()); }

    // The first round finds the largest size.
    void grow() {
        double longest = 0;
        for (size_t octave = least_bytes; octave <= limit_; octave *= 2)
            for (size_t quarters = 4; quarters < 8; quarters += octave < small_bytes ? 1 : 2) {
                const size_t bytes = octave / 4 * quarters;
                // A larger size takes at most about twice the time.
                if (bytes > limit_ || spent() + 2 * longest > most_ns) return;
                const double begin = spent();
                touch(bytes);
                sizes_.add(Size{bytes, quarters % 2 == 1 ? quarters : quarters == 6 ? size_t(3) : size_t(1), INFINITY});
                measure_size(sizes_[sizes_.size() - 1]);
                longest = fmax(longest, spent() - begin);
                if (is_memory()) return;
            }
    }

    // Whether the last sizes exceed every cache.
    bool is_memory() const {
        const Size &last = sizes_[sizes_.size() - 1];
        if (last.bytes < hidden_bytes || last.bytes <= platform.last_cache_size) return false;
        for (size_t i = sizes_.size(); i-- > 0;)
            if (sizes_[i].bytes <= last.bytes / 4) return last.least_ns < flat * sizes_[i].least_ns;
        return false;
    }

    // Makes the system provide the pages. They are full of zeroes.
    void touch(size_t bytes) {
        for (; touched_ < bytes; touched_ += least_bytes) *reinterpret_cast<volatile char *>(buffer_ + touched_) = 0;
    }

    void measure_size(Size &size) {
        const size_t lines = size.bytes / platform.cache_line;
        Order order(lines, size.odd);
        const int visits = size.bytes < small_bytes ? 2 : 1;
        for (int i = 0; i < visits; i++) visit(buffer_, order, lines, platform.cache_line);
        const int passes = size.bytes < small_bytes ? small_passes : large_passes;
        curve::Core before = curve::core();
        for (int i = 0; i < passes; i++) {
            const double expected = pass_ns / fmax(1, size.least_ns);
            const uint64_t loads = uint64_t(fmax(double(least_loads), fmin(double(most_loads), expected)));
            const double ns = chase<true>(buffer_, order, loads, platform.cache_line);
            const curve::Core after = curve::core();
            passes_.add(curve::Pass{double(size.bytes), ns, before, after});
            size.least_ns = fmin(size.least_ns, ns);
            before = after;
        }
    }

    // Times the computation of an address. A neighbour lengthens it, so the least reading counts.
    // One cycle of it stands for the load.
    void measure_overhead() {
        for (int i = 0; i < overhead_passes; i++) {
            Order order(1024, 1);
            const double cycle = cycle_length();
            const double ns = chase<false>(buffer_, order, most_loads, platform.cache_line);
            if (ns >= computation_) continue;
            computation_ = ns;
            cycle_ = isnan(cycle) ? 0 : cycle;
        }
    }

    double huge_share() const {
        const memory::Reserved used{reserved_->mapping, reserved_->mapped, reserved_->begin, reserved_->begin + touched_,
                                    nullptr};
        return memory::huge_share(&used);
    }

    void write(double share) {
        const double overhead = computation_ - cycle_;
        for (size_t i = 0; i < passes_.size(); i++) passes_[i].ns -= overhead;
        curve::write("load_latency", "B", passes_, share);
    }

    uint64_t begin_;
    size_t limit_, touched_ = 0;
    memory::Reserved *reserved_ = nullptr;
    char *buffer_;
    double computation_ = INFINITY, cycle_ = 0;  // ns
    Buffer<Size> sizes_;
    Buffer<curve::Pass> passes_;  // ns: with the overhead
};

double record(size_t limit) { return Curve(limit).measure(); }

}  // namespace cache_curve
}  // namespace yamba
