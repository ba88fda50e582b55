// Compares the Composer with a simple model, a vector of single bits, on random sequences with a
// given seed. Prints "ok" or the difference. With the argument `speed`, composes 1 MiB of code and
// prints the milliseconds.
#include <stdio.h>
#include <time.h>

#include <vector>

namespace composer {

using yamba::Composer;
using yamba::Site;

constexpr Site here{"test", "composer.cc", 1};

struct Random {
    uint64_t state;
    uint64_t next() {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state * 0x2545F4914F6CDD1Du;
    }
    uint64_t below(uint64_t n) { return next() % n; }
};

// One bit per element, in composition order.
struct Model {
    std::vector<bool> bits;

    void put(uint64_t value, unsigned width) {
        for (unsigned i = width; i-- > 0;) bits.push_back(i < 64 && (value >> i & 1));
    }
    void le(uint64_t value, unsigned width) {
        for (unsigned byte = 0; byte < width; byte += 8) put(value >> byte, 8);
    }
    void reverse_bytes(size_t start) {
        std::vector<bool> word(bits.begin() + long(start), bits.end()), turned;
        for (size_t byte = word.size() / 8; byte-- > 0;)
            for (size_t i = 0; i < 8; i++) turned.push_back(word[byte * 8 + i]);
        for (size_t i = 0; i < turned.size(); i++) bits[start + i] = turned[i];
    }
};

void pad(Composer &out, unsigned bytes) {
    // One to three bytes at a time, like real instruction sets.
    unsigned n = bytes < 3 ? bytes : 3;
    for (unsigned i = 0; i < n; i++) out.put(0x90 + n, 8);
}

uint64_t cut(uint64_t value, unsigned width) { return width >= 64 ? value : value & ((uint64_t(1) << width) - 1); }

void word(Random &random, Composer &out, Model &model) {
    unsigned bytes = unsigned(1 + random.below(8)), left = bytes * 8;
    size_t start = model.bits.size();
    {
        const yamba::Word scope(out, bytes * 8, here);
        while (left > 0) {
            unsigned width = unsigned(1 + random.below(left));
            uint64_t value = cut(random.next(), width);
            out.put(value, width), model.put(value, width);
            left -= width;
        }
    }
    model.reverse_bytes(start);
}

void block(Random &random, Composer &out, Model &model) {
    unsigned char bytes[12];
    for (unsigned char &b : bytes) b = static_cast<unsigned char>(random.next());
    unsigned value_bit = unsigned(random.below(8)), count = unsigned(1 + random.below(32)),
             block_bit = unsigned(random.below(96 - count));
    uint64_t value = random.next();
    for (unsigned i = 0; i < count; i++) {
        unsigned at = block_bit + i;
        unsigned char mask = static_cast<unsigned char>(1 << at % 8), &byte = bytes[at / 8];
        byte = static_cast<unsigned char>((value >> (value_bit + i) & 1) ? byte | mask : byte & ~mask);
    }
    unsigned char scrambled[12];
    memcpy(scrambled, bytes, sizeof bytes);
    for (unsigned i = 0; i < count; i++)
        scrambled[(block_bit + i) / 8] =
            static_cast<unsigned char>(scrambled[(block_bit + i) / 8] ^ (random.next() & 1) << (block_bit + i) % 8);
    const yamba::FieldBits bits[] = {{value_bit, block_bit, count}};
    out.block(scrambled, sizeof scrambled);
    out.hole(yamba::Field{INT64_MIN, UINT64_MAX, 1, 0, bits, 1}, value, here);
    for (unsigned char b : bytes) model.put(b, 8);
}

void step(Random &random, Composer &out, Model &model) {
    unsigned width = unsigned(1 + random.below(64));
    uint64_t value = cut(random.next(), width);
    switch (random.below(8)) {
        case 0: out.put(value, width), model.put(value, width); break;
        case 1: {
            unsigned bytes = unsigned(1 + random.below(8));
            value = cut(random.next(), bytes * 8);
            out.le(value, bytes * 8, here), model.le(value, bytes * 8);
            break;
        }
        case 2: {
            int64_t whole = static_cast<int64_t>(value << (64 - width)) >> (64 - width);
            out.be(whole, width, here), model.put(static_cast<uint64_t>(whole), width);
            break;
        }
        case 3: {
            unsigned high = unsigned(random.below(64)), low = unsigned(random.below(high + 1));
            value = random.next();
            out.slice(value, high, low, here), model.put(value >> low, high - low + 1);
            break;
        }
        case 4: word(random, out, model); break;
        case 5: {
            if (model.bits.size() % 8 != 0) break;
            unsigned step = unsigned(1 + random.below(32));
            out.align(step, pad, here);
            while (size_t past = model.bits.size() / 8 % step) {
                unsigned n = unsigned(step - past < 3 ? step - past : 3);
                for (unsigned i = 0; i < n; i++) model.put(0x90 + n, 8);
            }
            break;
        }
        case 6: block(random, out, model); break;
        case 7: {
            unsigned char bytes[20];
            for (unsigned char &b : bytes) b = static_cast<unsigned char>(random.next());
            size_t count = random.below(sizeof bytes * 8 + 1);
            out.literal(bytes, count);
            for (size_t i = 0; i < count; i++) model.put(bytes[i / 8] >> (7 - i % 8) & 1, 1);
            break;
        }
    }
}

bool same(const Composer &out, const Model &model) {
    if (out.bits() != model.bits.size()) return printf("%zu bits, not %zu\n", out.bits(), model.bits.size()), false;
    for (size_t i = 0; i < model.bits.size(); i++)
        if ((out.data()[i / 8] >> (7 - i % 8) & 1) != model.bits[i])
            return printf("bit %zu of %zu differs\n", i, model.bits.size()), false;
    return true;
}

bool random_sequences(uint64_t seed, unsigned sequences) {
    Random random{seed * 2 + 1};
    for (unsigned n = 0; n < sequences; n++) {
        Composer out;
        Model model;
        uint64_t begin = random.next() | 1;
        compose(out, [&](Composer &to) {
            Random again{begin};
            model.bits.clear();
            for (uint64_t i = 1 + again.below(60); i > 0; i--) step(again, to, model);
        });
        if (!same(out, model)) return printf("sequence %u of seed %llu\n", n, static_cast<unsigned long long>(seed)), false;
    }
    return true;
}

// Numbers wider than 64 bits are sign-extended.
bool wide_values() {
    Composer out;
    Model model;
    compose(out, [&](Composer &to) { to.be(-2, 100, here), to.be(7u, 3, here), to.le(-2, 104, here), to.le(5, 72, here); });
    for (unsigned i = 0; i < 99; i++) model.put(1, 1);
    model.put(0, 1), model.put(7, 3), model.put(0xFE, 8);
    for (unsigned i = 0; i < 12; i++) model.put(0xFF, 8);
    model.put(5, 8);
    for (unsigned i = 0; i < 8; i++) model.put(0, 8);
    return same(out, model);
}

// A label before its position and one after it; a jump whose own length depends on the distance
// converges.
bool labels() {
    Composer out;
    size_t rounds = 0;
    compose(out, [&](Composer &to) {
        rounds++;
        const yamba::Label begin(to, "begin"), end(to, "end");
        begin.place();
        for (int i = 0; i < 3; i++) {
            const yamba::Label turn(to, "turn");
            turn.place();
            to.rel(turn, 8, here);
        }
        bool near = yamba::offset(end, here) < 128;
        to.put(near ? 0xEB : 0xE9, 8);
        if (near) to.rel(end, 8, here);
        else to.rel(end, 32, here);
        for (int i = 0; i < 125; i++) to.put(0x90, 8);
        end.place();
        to.rel(begin, 16, here);
    });
    const unsigned char *data = out.data();
    return rounds > 1 && data[0] == 0xFF && data[2] == 0xFF && data[3] == 0xE9 && data[4] == 125 && data[5] == 0 &&
           out.size() == 8 + 125 + 2;
}

// Contributions are nested, in order, and hidden inside words.
bool contributions() {
    Composer out;
    compose(out, [&](Composer &to) {
        const yamba::Member outer(to, "a.outer", 5, true, -3ll);
        to.put(1, 8);
        {
            const yamba::Member inner(to, "b.inner");
            const yamba::Word word(to, 16, here);
            const yamba::Member hidden(to, "c.hidden", 1);
            to.put(2, 16);
        }
    });
    yamba::Text names;
    for (size_t i = 0; i < out.contributions(); i++) {
        out.print_contribution(names, i);
        const yamba::Contribution &c = out.contribution(i);
        names.addf(" %zu-%zu/%u;", c.start, c.end, c.depth);
    }
    if (names.is("a.outer(5, true, -3) 0-24/0;b.inner 8-24/1;")) return true;
    return printf("%s\n", names.c_str()), false;
}

// Equal bits share memory while they have a user. The memory is never both writable and executable.
// Released memory is reused or unmapped.
bool code_memory() {
    auto make = [](uint64_t value) { return yamba::make_code<void()>("test", [=](Composer &to) { to.le(value, 64, here); }); };
    yamba::Code<void()> one = make(1), again = make(1), two = make(2), copy = two;
    if (one.data() != again.data() || one.data() == two.data() || copy.data() != two.data() || one.size() != 8)
        return printf("sharing\n"), false;
    yamba::CodeSite site;
    if (!yamba::find_code(uintptr_t(two.data()) + 3, site) || site.base != two.data() || site.bytes != 8)
        return printf("finding\n"), false;
    yamba::Code<void()> moved = static_cast<yamba::Code<void()> &&>(two);
    if (two || !moved) return printf("moving\n"), false;
    for (uint64_t i = 0; i < 200; i++) make(1000 + i);
    size_t regions = 0;
    for (yamba::CodeRegion *r = yamba::code::first; r != nullptr; r = r->next) regions++;
    if (regions > yamba::code::most_idle_regions + 3) return printf("%zu regions\n", regions), false;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool both = false;
    while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr) both |= strstr(line, "wx") != nullptr;
    if (maps != nullptr) fclose(maps);
    if (both) printf("a page is writable and executable\n");
    return !both;
}

double milliseconds() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

// Composes like generated code: one member per load, with a checked argument and its own cast.
YAMBA_COMPOSES void compose_disp32(Composer &out, int64_t value) {
    const yamba::Member member(out, "x86_64.disp32", value);
    out.le(value, 32, here);
}
YAMBA_COMPOSES void compose_touch(Composer &out, unsigned index) {
    const yamba::Member member(out, "pagefault_x86_64.touch", index);
    static constexpr unsigned char load[] = {0x8B, 0x00};
    out.put(0x488B83, 24);
    compose_disp32(out, yamba::argument(out, index * 8, here));
    out.block(load, sizeof load);
}

int speed() {
    for (int i = 0; i < 5; i++) {
        double begin = milliseconds();
        yamba::Code<void()> code = yamba::make_code<void()>("test", [](Composer &out) {
            for (unsigned n = 0; n < (1 << 20) / 9 + 1; n++) compose_touch(out, n);
        });
        printf("{\"bytes\":%zu,\"ms\":%.3f}\n", code.size(), milliseconds() - begin);
    }
    return 0;
}

// The first argument is `speed` or a seed.
int test(const char *argument) {
    if (strcmp(argument, "speed") == 0) return speed();
    const uint64_t seed = strtoull(argument, nullptr, 10);
    constexpr unsigned sequences = 2000;
    bool right = random_sequences(seed, sequences) && wide_values() && labels() && contributions() && code_memory();
    printf(right ? "ok\n" : "wrong\n");
    return right ? 0 : 1;
}

}  // namespace composer
