#include "yamba/composer.h"

namespace yamba {

void print_call(Text &text, const char *name, const Value *values, unsigned count) {
    text.add(name);
    if (count == 0) return;
    text.add("(", 1);
    for (unsigned i = 0; i < count; i++) {
        char digits[longest_value];
        if (i > 0) text.add(", ", 2);
        text.add(digits, print(digits, values[i]));
    }
    text.add(")", 1);
}

void Composer::print_contribution(Text &text, size_t i) const {
    const Contribution &c = contributions_[i];
    print_call(text, c.name, values_.data() + c.first_value, c.values);
}

void Composer::begin_round() {
    bits_ = 0;
    contributions_.clear();
    values_.clear();
    origin_ = 0;
    guessed_.swap(labels_);
    labels_.clear();
    used_guess_ = false;
    turns_ = 0;
    asked_.clear();
    fault_.clear();
    outer_current_ = current();
    current() = this;
}

bool Composer::end_round() {
    current() = outer_current_;
    bool settled = !used_guess_ || same_labels();
    if (settled) refuse_unplaced();
    if (settled && !fault_.empty()) fail_at(fault_, fault_class_.c_str(), fault_site_.file, fault_site_.line);
    return settled;
}

Composer *&Composer::current() {
    static thread_local Composer *composer = nullptr;
    return composer;
}

void Composer::put(uint64_t value, unsigned width) {
    reserve(width);
    if (((bits_ | width) & 7) == 0) {
        unsigned char *to = bytes_.data() + (bits_ >> 3);
        bits_ += width;
        while (width > 0) *to++ = static_cast<unsigned char>(value >> (width -= 8));
    } else {
        put_unaligned(value, width);
    }
}

void Composer::bytes(const unsigned char *data, size_t count) {
    reserve(count * 8);
    if ((bits_ & 7) == 0) {
        if (count > 0) memcpy(bytes_.data() + (bits_ >> 3), data, count);
        bits_ += count * 8;
    } else {
        for (size_t i = 0; i < count; i++) put_unaligned(data[i], 8);
    }
}

void Composer::literal(const unsigned char *data, size_t count) {
    bytes(data, count / 8);
    if (count % 8 != 0) put(data[count / 8] >> (8 - count % 8), count % 8);
}

void Composer::block(const unsigned char *data, size_t count) {
    origin_ = bits_;
    bytes(data, count);
}

size_t Composer::new_label() {
    labels_.add(unplaced);
    return labels_.size() - 1;
}

size_t Composer::where(size_t label, const char *name, const Site &site) {
    if (labels_[label] != unplaced) return labels_[label];
    used_guess_ = true;
    asked_.add({label, name, site});
    return label < guessed_.size() && guessed_[label] != unplaced ? guessed_[label] : in_word_ ? origin_ : bits_;
}

bool Composer::enter_word() {
    bool outer = in_word_;
    in_word_ = true;
    return outer;
}

void Composer::leave_word(size_t start, size_t width, bool outer_in_word, const Site &site) {
    in_word_ = outer_in_word;
    if (bits_ - start != width) return refuse(site, "the terms of %s give %zu bits", site.text, bits_ - start);
    reverse_bytes(start, width / 8);
}

unsigned Composer::checked_width(long long width, unsigned unit, const Site &site) {
    if (width <= 0 || width > (1 << 20)) fail_site(site, "%s: a width is between 1 and 1048576 bits, not %lld", site.text, width);
    if (width % unit != 0) fail_site(site, "%s: the width, %lld bits, is not a multiple of %u", site.text, width, unit);
    return static_cast<unsigned>(width);
}

void Composer::refuse(const Site &site, const char *format, ...) {
    if (!fault_.empty()) return;
    va_list args;
    va_start(args, format);
    fault_.addv(format, args);
    va_end(args);
    fault_site_ = site;
    fault_class_.clear();
    if (scope_ != nullptr) fault_class_.add(scope_->name, strcspn(scope_->name, "."));
    else fault_class_.add(program_name);
    add_chain(fault_);
}

void Composer::fail_site(const Site &site, const char *format, ...) {
    Text text;
    va_list args;
    va_start(args, format);
    text.addv(format, args);
    va_end(args);
    Text class_name;
    if (scope_ != nullptr) class_name.add(scope_->name, strcspn(scope_->name, "."));
    else class_name.add(program_name);
    add_chain(text);
    fail_at(text, class_name.c_str(), site.file, site.line);
}

void Composer::reserve(size_t more) {
    size_t needed = (bits_ + more + 7) / 8;
    if (needed <= bytes_.size()) return;
    if (needed > most_composed_bytes)
        fail_site({"", nullptr, 0}, "more than %zu MiB are composed; does an `unroll` end?", most_composed_bytes >> 20);
    bytes_.resize(needed * 2 < 256 ? 256 : needed * 2);
}

void Composer::put_unaligned(uint64_t value, unsigned width) {
    while (width > 0) {
        unsigned used = bits_ & 7, room = 8 - used, take = width < room ? width : room;
        unsigned piece = static_cast<unsigned>(value >> (width - take)) & ((1u << take) - 1);
        unsigned char &byte = bytes_[bits_ >> 3];
        if (used == 0) byte = 0;
        byte = static_cast<unsigned char>(byte | piece << (room - take));
        bits_ += take;
        width -= take;
    }
}

void Composer::put_le(Number n, unsigned width, const Site &site) {
    if (__builtin_expect(!fits(n, width), 0)) does_not_fit(n, width, site);
    reserve(width);
    for (unsigned i = 0; i < width; i += 8) put(i < 64 ? n.bits >> i : n.extension(), 8);
}

void Composer::put_be(Number n, unsigned width, const Site &site) {
    if (__builtin_expect(!fits(n, width), 0)) does_not_fit(n, width, site);
    for (; width > 64; width -= (width - 1) % 64 + 1) put(n.extension(), (width - 1) % 64 + 1);
    put(n.bits, width);
}

void Composer::fill(const Field &field, Number n, const Site &site) {
    bool below = n.negative() && static_cast<int64_t>(n.bits) < field.min, above = !n.negative() && n.bits > field.max;
    bool too_small = !n.negative() && field.min > 0 && n.bits < static_cast<uint64_t>(field.min);
    if (__builtin_expect(below || above || too_small || n.bits % field.multiple != 0, 0)) return no_field(field, n, site);
    uint64_t value = n.bits + static_cast<uint64_t>(field.bias);
    for (size_t i = 0; i < field.count; i++) copy_bits(field.bits[i], value);
}

void Composer::copy_bits(const FieldBits &f, uint64_t value) {
    unsigned i = 0;
    if (((origin_ | f.block_bit) & 7) == 0)
        for (; i + 8 <= f.count; i += 8)
            bytes_[(origin_ + f.block_bit + i) >> 3] = static_cast<unsigned char>(value >> (f.value_bit + i));
    for (; i < f.count; i++) {
        size_t in_block = f.block_bit + i, bit = origin_ + (in_block & ~size_t(7)) + (7 - (in_block & 7));
        unsigned char mask = static_cast<unsigned char>(0x80 >> (bit & 7)), &byte = bytes_[bit >> 3];
        bool one = value >> (f.value_bit + i) & 1;
        byte = static_cast<unsigned char>(one ? byte | mask : byte & ~mask);
    }
}

unsigned Composer::read8(size_t bit) const {
    unsigned two = bytes_[bit >> 3] * 256u + ((bit & 7) != 0 ? bytes_[(bit >> 3) + 1] : 0u);
    return two >> (8 - (bit & 7)) & 0xFF;
}

void Composer::write8(size_t bit, unsigned value) {
    unsigned shift = 8 - (bit & 7), mask = 0xFFu << shift, placed = value << shift;
    unsigned char *to = bytes_.data() + (bit >> 3);
    to[0] = static_cast<unsigned char>((to[0] & ~(mask >> 8)) | placed >> 8);
    if (shift != 8) to[1] = static_cast<unsigned char>((to[1] & ~mask) | placed);
}

void Composer::reverse_bytes(size_t start, size_t count) {
    for (size_t i = 0, j = count - 1; i < j && j < count; i++, j--) {
        unsigned low = read8(start + i * 8);
        write8(start + i * 8, read8(start + j * 8));
        write8(start + j * 8, low);
    }
}

void Composer::refuse_unplaced() {
    for (size_t i = 0; i < asked_.size(); i++)
        if (labels_[asked_[i].label] == unplaced)
            return refuse(asked_[i].site, "%s: the label `%s` stands in a branch that was not taken", asked_[i].site.text,
                          asked_[i].name);
}

bool Composer::same_labels() const {
    if (labels_.size() != guessed_.size()) return false;
    return labels_.empty() || memcmp(labels_.data(), guessed_.data(), labels_.size() * sizeof(size_t)) == 0;
}

void Composer::does_not_fit(Number n, unsigned width, const Site &site) {
    if (n.is_signed) {
        long long half = 1ll << (width - 1);
        refuse(site, "%s: the value %lld does not fit in %u bits (signed: %lld to %lld)", site.text,
               static_cast<long long>(n.bits), width, -half, half - 1);
    } else {
        refuse(site, "%s: the value %llu does not fit in %u bits (unsigned: 0 to %llu)", site.text,
               static_cast<unsigned long long>(n.bits), width, (1ull << width) - 1);
    }
}

void Composer::no_field(const Field &field, Number n, const Site &site) {
    char digits[longest_value + 1];
    digits[print(digits, n.is_signed ? shown(static_cast<int64_t>(n.bits)) : shown(n.bits))] = '\0';
    if (n.bits % field.multiple != 0)
        refuse(site, "%s: the value %s has no encoding here; it must be a multiple of %llu", site.text, digits,
               static_cast<unsigned long long>(field.multiple));
    else
        refuse(site, "%s: the value %s has no encoding here; the instruction's field holds %lld to %llu", site.text, digits,
               static_cast<long long>(field.min), static_cast<unsigned long long>(field.max));
}

void Composer::add_chain(Text &text) const {
    const Scope *chain[16];
    size_t n = 0, left_out = 0;
    for (const Scope *s = scope_; s != nullptr; s = s->outer) {
        if (n < 16) chain[n++] = s;
        else left_out++, chain[15] = s;
    }
    for (size_t i = n; i-- > 0;) {
        text.add(i == n - 1 ? ", in " : left_out > 0 && i == n - 2 ? " > ... > " : " > ");
        print_call(text, chain[i]->name, chain[i]->values, chain[i]->count);
    }
}

void Scope::open() {
    if (out.depth_ >= deepest_composition)
        out.fail_site({"", nullptr, 0}, "%s composes itself without end: %u members deep", name, deepest_composition);
    out.scope_ = this;
    if (!out.in_word_) {
        index = out.contributions_.size();
        out.contributions_.add({name, out.bits_, out.bits_, out.depth_, static_cast<unsigned>(out.values_.size()), count});
        out.values_.add(values, count);
    }
    out.depth_++;
}

Scope::~Scope() {
    out.depth_--;
    out.scope_ = outer;
    if (index != ~size_t(0)) out.contributions_[index].end = out.bits_;
}

void compose(Composer &out, void (*terms)(Composer &, const void *), const void *closure) {
    for (unsigned round = 0; round < most_rounds; round++) {
        out.begin_round();
        terms(out, closure);
        if (out.end_round()) return;
    }
    fail("the labels do not settle: each of %u rounds of composing moved one", most_rounds);
}

}  // namespace yamba
