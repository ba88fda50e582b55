// Decompresses DEFLATE (RFC 1951). The bundle is checked by a checksum before it is used, so
// damaged input only ends the program.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>
#include <vector>

namespace bundle {

[[noreturn]] inline void give_up(const char *why) {
    fprintf(stderr, "this bundle is damaged: %s\n", why);
    exit(2);
}

class Inflate {
  public:
    Inflate(const uint8_t *data, size_t size) : in_(data), end_(data + size) {}

    std::string all(size_t size) {
        out_.reserve(size);
        bool is_last = false;
        while (!is_last) {
            is_last = bits(1) != 0;
            block(bits(2));
        }
        if (out_.size() != size) give_up("a part has another size than its index says");
        return std::move(out_);
    }

  private:
    // A canonical Huffman code: the number of codes of each length, and the symbols in the order of
    // their codes.
    struct Code {
        uint16_t count[16] = {};
        std::vector<uint16_t> symbols;

        Code(const uint8_t *lengths, size_t n) : symbols(n) {
            uint16_t offset[16] = {};
            for (size_t i = 0; i < n; i++) count[lengths[i]]++;
            count[0] = 0;
            for (int i = 1; i < 15; i++) offset[i + 1] = uint16_t(offset[i] + count[i]);
            for (size_t i = 0; i < n; i++)
                if (lengths[i] != 0) symbols[offset[lengths[i]]++] = uint16_t(i);
        }
    };

    uint32_t bits(int n) {
        while (held_ < n) {
            if (in_ == end_) give_up("a part ends too early");
            buffer_ |= uint32_t(*in_++) << held_;
            held_ += 8;
        }
        uint32_t value = buffer_ & ((1u << n) - 1);
        buffer_ >>= n, held_ -= n;
        return value;
    }

    int symbol(const Code &code) {
        int value = 0, first = 0, index = 0;
        for (int length = 1; length < 16; length++) {
            value |= int(bits(1));
            int count = code.count[length];
            if (value - count < first) return code.symbols[size_t(index + value - first)];
            index += count, first = (first + count) << 1, value <<= 1;
        }
        give_up("a part has no such code");
    }

    void block(uint32_t kind) {
        if (kind == 0) return stored();
        if (kind == 1) return compressed(fixed_literals(), fixed_distances());
        if (kind == 2) return dynamic();
        give_up("a part has an unknown block");
    }

    void stored() {
        buffer_ = 0, held_ = 0;
        if (end_ - in_ < 4) give_up("a part ends too early");
        size_t length = size_t(in_[0] | in_[1] << 8);
        in_ += 4;
        if (size_t(end_ - in_) < length) give_up("a part ends too early");
        out_.append(reinterpret_cast<const char *>(in_), length);
        in_ += length;
    }

    static Code fixed_literals() {
        uint8_t lengths[288];
        for (int i = 0; i < 288; i++) lengths[i] = uint8_t(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
        return Code(lengths, 288);
    }

    static Code fixed_distances() {
        uint8_t lengths[30];
        for (uint8_t &length : lengths) length = 5;
        return Code(lengths, 30);
    }

    void dynamic() {
        static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
        size_t literals = bits(5) + 257, distances = bits(5) + 1, used = bits(4) + 4;
        uint8_t lengths[320] = {}, of_lengths[19] = {};
        for (size_t i = 0; i < used; i++) of_lengths[order[i]] = uint8_t(bits(3));
        Code code(of_lengths, 19);
        for (size_t i = 0; i < literals + distances;) i = length_run(code, lengths, i, literals + distances);
        compressed(Code(lengths, literals), Code(lengths + literals, distances));
    }

    // Reads the next lengths of codes from place `i`, and returns the place after them.
    size_t length_run(const Code &code, uint8_t *lengths, size_t i, size_t all) {
        int s = symbol(code);
        if (s < 16) return lengths[i] = uint8_t(s), i + 1;
        if (s == 16 && i == 0) give_up("a part repeats nothing");
        uint8_t repeated = s == 16 ? lengths[i - 1] : 0;
        size_t times = s == 16 ? 3 + bits(2) : s == 17 ? 3 + bits(3) : 11 + bits(7);
        if (i + times > all) give_up("a part has too many codes");
        while (times-- > 0) lengths[i++] = repeated;
        return i;
    }

    void compressed(const Code &literals, const Code &distances) {
        for (;;) {
            int s = symbol(literals);
            if (s == 256) return;
            if (s < 256) out_.push_back(char(s));
            else copy(s - 257, distances);
        }
    }

    void copy(int s, const Code &distances) {
        static const uint16_t lengths[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                             31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
        static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
        if (s >= 29) give_up("a part has an unknown length");
        size_t length = lengths[s] + bits(length_bits[s]);
        int d = symbol(distances);
        if (d >= 30) give_up("a part has an unknown distance");
        size_t extra = d < 4 ? 0 : size_t(d / 2 - 1);
        size_t base = d < 4 ? size_t(d) : size_t(2 + d % 2) << extra;
        size_t distance = base + bits(int(extra)) + 1;
        if (distance > out_.size()) give_up("a part refers to bytes before its beginning");
        for (size_t from = out_.size() - distance; length-- > 0; from++) out_.push_back(out_[from]);
    }

    const uint8_t *in_, *end_;
    uint32_t buffer_ = 0;
    int held_ = 0;
    std::string out_;
};

}  // namespace bundle
