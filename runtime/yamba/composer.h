// Composes bits. Generated code emits the terms in order; the Composer keeps the bits, their
// contributors and the faults.
//
// A label may be used before its position is known. Composing then repeats with the positions of
// the previous round until they no longer change. A value that does not fit is no error while
// positions are still guesses.
#pragma once

#include "buffer.h"
#include "must.h"
#include "number.h"

namespace yamba {

// A position in the source, and the term there: `le(index * 8, 32)`.
struct Site {
    const char *text, *file;
    int line;
};

// Bits of an asm block that are filled from a value at generation time. `count` bits from bit
// `value_bit` of the value go to bit `block_bit` of the block and up. Bit 0 of a block is the
// lowest bit of its first byte.
struct FieldBits {
    unsigned value_bit, block_bit, count;
};

// A `${}` of an asm block. The value must lie in min .. max and be a multiple of `multiple`; `bias`
// is added before it is stored.
struct Field {
    int64_t min;
    uint64_t max;
    uint64_t multiple;
    int64_t bias;
    const FieldBits *bits;
    size_t count;
};

// One member's contribution, for `yamba disasm` and crash reports.
struct Contribution {
    const char *name;
    size_t start, end;  // bits
    unsigned depth;
    unsigned first_value, values;
};

// Disables optimisation of generated composing functions: they only call the types above and are
// never timed.
#if defined(__clang__)
#define YAMBA_COMPOSES __attribute__((optnone, noinline))
#elif defined(__OPTIMIZE__)
#define YAMBA_COMPOSES __attribute__((optimize("O0")))
#else
#define YAMBA_COMPOSES
#endif

constexpr unsigned deepest_composition = 256;
constexpr size_t most_composed_bytes = size_t(256) << 20;
constexpr unsigned most_rounds = 32;
constexpr uint64_t most_turns = uint64_t(1) << 28;

class Composer;

// A member whose terms are being composed.
class Scope {
  public:
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    const char *name;
    const Value *values;
    unsigned count;
    const Scope *outer;

  protected:
    inline Scope(Composer &out, const char *name, const Value *values, unsigned count);
    void open();
    ~Scope();

    Composer &out;
    size_t index;
};

void print_call(Text &text, const char *name, const Value *values, unsigned count);

class Composer {
  public:
    // -- Result --

    size_t bits() const { return bits_; }
    size_t size() const { return (bits_ + 7) / 8; }
    const unsigned char *data() const { return bytes_.data(); }
    size_t contributions() const { return contributions_.size(); }
    const Contribution &contribution(size_t i) const { return contributions_[i]; }
    void print_contribution(Text &text, size_t i) const;

    // -- Rounds: see compose() --

    void begin_round();
    // Ends a round. Returns whether its result is final.
    bool end_round();
    // The composer that is composing now, for faults in C++ code that the terms call.
    static Composer *&current();

    // -- Terms --

    // The low `width` bits of `value`, highest first; width <= 64.
    void put(uint64_t value, unsigned width);

    // Whole bytes in order.
    void bytes(const unsigned char *data, size_t count);

    // The first `count` bits of `data`, highest bit of the first byte first: literals longer than
    // 64 bits.
    void literal(const unsigned char *data, size_t count);

    // le(VALUE, BITS): lowest byte first.
    template <class T, class W>
    void le(T value, W width, const Site &site) {
        put_le(number(value), checked_width(static_cast<long long>(width), 8, site), site);
    }

    // be(VALUE, BITS): highest bit first.
    template <class T, class W>
    void be(T value, W width, const Site &site) {
        put_be(number(value), checked_width(static_cast<long long>(width), 1, site), site);
    }

    // bits(VALUE, HIGH, LOW): these bits of the value, highest first.
    template <class T, class H, class L>
    void slice(T value, H high, L low, const Site &site) {
        long long h = static_cast<long long>(high), l = static_cast<long long>(low);
        if (l < 0 || h < l || h > 63) {
            refuse(site, "%s asks for the bits %lld to %lld; a slice goes from a higher bit to a lower one, within 63 to 0",
                   site.text, h, l);
            return;
        }
        put(number(value).bits >> l, static_cast<unsigned>(h - l + 1));
    }

    // rel(NAME, BITS): bytes from the end of the field to the label, lowest byte first.
    template <class W>
    void rel(const class Label &label, W width, const Site &site);

    // align(BYTES): `pad` composes no-operations of at most the given number of bytes.
    template <class B>
    void align(B bytes, void (*pad)(Composer &, unsigned), const Site &site) {
        long long step = static_cast<long long>(bytes);
        // Code starts at a page boundary, so an alignment above a page would have no meaning.
        if (step <= 0 || step > 4096) fail_site(site, "%s: an alignment is 1 to 4096 bytes, not %lld", site.text, step);
        if (bits_ % 8 != 0)
            return refuse(site, "%s stands %zu bits into a byte; only whole bytes can be aligned", site.text, bits_ % 8);
        while (size_t past = bits_ / 8 % static_cast<size_t>(step)) {
            size_t before = bits_, gap = static_cast<size_t>(step) - past;
            pad(*this, static_cast<unsigned>(gap));
            if (bits_ <= before || bits_ - before > gap * 8 || bits_ % 8 != 0)
                fail_site(site, "%s: no_operation(%zu) composed %lld bits; at least 1 and at most %zu bytes were asked for",
                          site.text, gap, static_cast<long long>(bits_) - static_cast<long long>(before), gap);
        }
    }

    // An asm block; its holes are filled afterwards.
    void block(const unsigned char *data, size_t count);
    template <class T>
    void hole(const Field &field, T value, const Site &site) {
        fill(field, number(value), site);
    }

    // Counts one iteration of an `unroll`. An iteration that composes nothing would never reach the
    // limit on bytes.
    void turn() {
        if (__builtin_expect(++turns_ > most_turns, 0))
            fail_site({"", nullptr, 0}, "more than %llu turns are unrolled; does an `unroll` end?",
                      static_cast<unsigned long long>(most_turns));
    }

    // -- For labels and words --

    size_t origin() const { return origin_; }
    void set_origin(size_t bit) { origin_ = bit; }
    size_t new_label();
    void place(size_t label) { labels_[label] = bits_; }
    // The label's position in this round: known or guessed.
    size_t where(size_t label, const char *name, const Site &site);
    // Starts a word. Reports show a word as a whole, since the contributor of a few of its bits is
    // no instruction.
    bool enter_word();
    // Ends a word: stores its bits from `start`, given highest first, in the byte order of the
    // target's instructions.
    void leave_word(size_t start, size_t width, bool outer_in_word, const Site &site);
    unsigned checked_width(long long width, unsigned unit, const Site &site);

    // -- Faults --

    // Records a fault. The first one of the final round is reported.
    __attribute__((format(printf, 3, 4), cold)) void refuse(const Site &site, const char *format, ...);
    // Fails at once: no other guess of the labels could avoid this fault.
    [[noreturn]] __attribute__((format(printf, 3, 4), cold)) void fail_site(const Site &site, const char *format, ...);

  private:
    friend class Scope;
    static constexpr size_t unplaced = ~size_t(0);

    void reserve(size_t more);

    void put_unaligned(uint64_t value, unsigned width);

    void put_le(Number n, unsigned width, const Site &site);

    void put_be(Number n, unsigned width, const Site &site);

    void fill(const Field &field, Number n, const Site &site);

    // Copies byte by byte while block and bits are both at whole bytes; otherwise bit by bit.
    void copy_bits(const FieldBits &f, uint64_t value);

    unsigned read8(size_t bit) const;
    void write8(size_t bit, unsigned value);
    void reverse_bytes(size_t start, size_t count);

    // Refuses labels that were never placed: a label may stand in a branch of `if` that was not
    // taken.
    void refuse_unplaced();

    bool same_labels() const;

    __attribute__((cold)) void does_not_fit(Number n, unsigned width, const Site &site);

    __attribute__((cold)) void no_field(const Field &field, Number n, const Site &site);

    void add_chain(Text &text) const;

    Buffer<unsigned char> bytes_;
    size_t bits_ = 0;
    size_t origin_ = 0;
    bool in_word_ = false;
    Buffer<Contribution> contributions_;
    Buffer<Value> values_;
    const Scope *scope_ = nullptr;
    unsigned depth_ = 0;
    Buffer<size_t> labels_, guessed_;
    bool used_guess_ = false;
    uint64_t turns_ = 0;
    struct Asked {
        size_t label;
        const char *name;
        Site site;
    };
    Buffer<Asked> asked_;  // labels that were used before they were placed
    Text fault_, fault_class_;
    Site fault_site_{};
    Composer *outer_current_ = nullptr;
};

inline Scope::Scope(Composer &out, const char *name, const Value *values, unsigned count)
    : name(name), values(values), count(count), outer(out.scope_), out(out), index(~size_t(0)) {}

// Opens a member for the lifetime of this object: Member member(out, "pagefault_x86_64.touch",
// index);
template <unsigned N>
class Member : public Scope {
  public:
    template <class... A>
    Member(Composer &out, const char *name, const A &...arguments) : Scope(out, name, values_, N), values_{shown(arguments)...} {
        open();
    }

  private:
    Value values_[N];
};
template <>
class Member<0> : public Scope {
  public:
    Member(Composer &out, const char *name) : Scope(out, name, nullptr, 0) { open(); }
};
template <class... A>
Member(Composer &, const char *, const A &...) -> Member<sizeof...(A)>;

// A label of the body or `unroll` iteration that declares it.
class Label {
  public:
    Label(Composer &out, const char *name) : name_(name), out_(out), index_(out.new_label()) {}
    Label(const Label &) = delete;
    Label &operator=(const Label &) = delete;
    void place() const { out_.place(index_); }
    size_t where(const Site &site) const { return out_.where(index_, name_, site); }
    Composer &composer() const { return out_; }

  private:
    const char *name_;
    Composer &out_;
    size_t index_;
};

template <class W>
void Composer::rel(const Label &label, W width, const Site &site) {
    unsigned checked = checked_width(static_cast<long long>(width), 8, site);
    int64_t distance = static_cast<int64_t>(label.where(site)) - static_cast<int64_t>(bits_ + checked);
    if (distance % 8 != 0)
        refuse(site, "%s: the label is %lld bits away, no whole number of bytes", site.text, static_cast<long long>(distance));
    put_le(number(distance / 8), checked, site);
}

// offset(NAME): bytes from the start of the enclosing word or asm block to the label.
inline int64_t offset(const Label &label, const Site &site) {
    Composer &out = label.composer();
    int64_t distance = static_cast<int64_t>(label.where(site)) - static_cast<int64_t>(out.origin());
    if (distance % 8 != 0)
        out.refuse(site, "%s: the label is %lld bits away, no whole number of bytes", site.text,
                   static_cast<long long>(distance));
    return distance / 8;
}

// word(BITS) { ... }
class Word {
  public:
    template <class W>
    Word(Composer &out, W width, const Site &site)
        : out_(out),
          start_(out.bits()),
          width_(out.checked_width(static_cast<long long>(width), 8, site)),
          origin_(out.origin()),
          outer_(out.enter_word()),
          site_(site) {
        out.set_origin(start_);
    }
    Word(const Word &) = delete;
    Word &operator=(const Word &) = delete;
    ~Word() {
        out_.leave_word(start_, width_, outer_, site_);
        out_.set_origin(origin_);
    }

  private:
    Composer &out_;
    size_t start_, width_, origin_;
    bool outer_;
    Site site_;
};

// An argument of a bitstring function. It converts to the parameter's type only if its value is
// preserved.
template <class V>
struct Argument {
    Composer &out;
    V value;
    Site site;

    template <class T>
    operator T() const {
        if constexpr (std::is_arithmetic<T>::value && !std::is_same<T, bool>::value) {
            T result = convert<T>();
            return result;
        } else {
            return static_cast<T>(value);
        }
    }

  private:
    template <class T>
    T convert() const {
        if constexpr (std::is_floating_point<T>::value) {
            return static_cast<T>(value);
        } else if constexpr (std::is_floating_point<V>::value) {
            // 2^digits is exact in any floating type and one past the largest value.
            V end = V(uint64_t(1) << (std::numeric_limits<T>::digits - 1)) * 2, least = std::is_signed<T>::value ? -end : V(0);
            bool whole = value >= least && value < end && static_cast<V>(static_cast<T>(value)) == value;
            return whole ? static_cast<T>(value) : refuse<T>();
        } else {
            T result = static_cast<T>(value);
            bool same = static_cast<V>(result) == value && (result < T(0)) == (value < V(0));
            return same ? result : refuse<T>();
        }
    }

    template <class T>
    __attribute__((cold, noinline)) T refuse() const {
        char digits[longest_value + 1];
        digits[print(digits, shown(value))] = '\0';
        const char *type = std::is_signed<T>::value ? "signed" : "unsigned";
        out.refuse(site, "%s: the argument %s is no %s integer of %u bits", site.text, digits, type,
                   static_cast<unsigned>(sizeof(T) * 8));
        return T(0);
    }
};

// Numbers are checked; other types convert as in C++.
template <class V>
decltype(auto) argument(Composer &out, V &&value, const Site &site) {
    using Plain = typename std::decay<V>::type;
    if constexpr (std::is_arithmetic<Plain>::value && !std::is_same<Plain, bool>::value) return Argument<Plain>{out, value, site};
    else return static_cast<V &&>(value);
}

// Returns the value if `bits` bits can represent it with its type's signedness. For casts that cut
// a value into slices.
template <class T, class W>
T fit(T value, W bits, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    Number n = number(value);
    if (fits(n, static_cast<unsigned>(bits))) return value;
    char text[longest_value + 32], digits[longest_value + 1];
    digits[print(digits, shown(value))] = '\0';
    snprintf(text, sizeof text, "fit(%s, %u)", digits, static_cast<unsigned>(bits));
    if (Composer *out = Composer::current()) out->refuse({nullptr, file, line}, "%s: the value does not fit", text);
    else fail("%s: the value does not fit", text);
    return value;
}

// Composes repeatedly until the labels' positions are stable.
void compose(Composer &out, void (*terms)(Composer &, const void *), const void *closure);
template <class F>
YAMBA_COMPOSES void compose(Composer &out, const F &terms) {
    compose(out, [](Composer &to, const void *closure) { (*static_cast<const F *>(closure))(to); }, &terms);
}

// The bits of a bitstring that is no function, for C++.
class Bits {
  public:
    template <class F>
    explicit Bits(const F &terms) {
        compose(composer_, terms);
    }
    size_t size() const { return composer_.bits(); }
    const unsigned char *data() const { return composer_.data(); }

  private:
    Composer composer_;
};

}  // namespace yamba
