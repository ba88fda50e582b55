// A growing string that writes JSON. Lighter to compile than <string>, and never lets a NaN or a broken UTF-8 sequence out.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cold.h"
#include "floating.h"
#include "once.h"

YAMBA_COLD_BEGIN
namespace yamba {

class Text {
  public:
    Text() = default;
    YAMBA_ONCE_MADE explicit Text(const char *s) { add(s); }
    YAMBA_ONCE_MADE Text(const Text &other) { add(other.c_str(), other.size_); }
    YAMBA_ONCE_MADE Text(Text &&other) noexcept : data_(other.data_), size_(other.size_), room_(other.room_) {
        other.data_ = nullptr;
        other.size_ = other.room_ = 0;
    }
    YAMBA_ONCE Text &operator=(Text other) noexcept {
        swap(other);
        return *this;
    }
    YAMBA_ONCE_MADE ~Text() { free(data_); }

    YAMBA_ONCE const char *c_str() const { return data_ ? data_ : ""; }
    YAMBA_ONCE size_t size() const { return size_; }
    YAMBA_ONCE bool empty() const { return size_ == 0; }
    YAMBA_ONCE bool is(const char *s) const { return strcmp(c_str(), s) == 0; }
    YAMBA_ONCE void clear() { size_ = 0; }

    YAMBA_ONCE Text &add(const char *s, size_t n) {
        if (n >= room_ - size_) grow(size_ + n + 1);
        if (n > 0) memcpy(data_ + size_, s, n);
        size_ += n;
        data_[size_] = '\0';
        return *this;
    }
    YAMBA_ONCE Text &add(const char *s) { return add(s, strlen(s)); }
    YAMBA_ONCE Text &add(const Text &t) { return add(t.c_str(), t.size_); }

    __attribute__((format(printf, 2, 3))) YAMBA_ONCE Text &addf(const char *format, ...) {
        va_list args;
        va_start(args, format);
        addv(format, args);
        va_end(args);
        return *this;
    }

    YAMBA_ONCE Text &addv(const char *format, va_list args) {
        va_list again;
        va_copy(again, args);
        int n = vsnprintf(nullptr, 0, format, args);
        if (n > 0) {
            grow(size_ + size_t(n) + 1);
            vsnprintf(data_ + size_, size_t(n) + 1, format, again);
            size_ += size_t(n);
        }
        va_end(again);
        return *this;
    }

    // The shortest of 15 to 17 digits that reads back as the same number; null for what JSON cannot say.
    YAMBA_ONCE Text &number(double value) {
        if (!is_finite(value)) return add("null");
        char digits[40];
        for (int precision = 15; precision <= 17; precision++) {
            snprintf(digits, sizeof digits, "%.*g", precision, value);
            if (strtod(digits, nullptr) == value) break;
        }
        return add(digits);
    }

    // A JSON string; null for a null pointer.
    YAMBA_ONCE Text &quote(const char *s) {
        if (s == nullptr) return add("null");
        add("\"", 1);
        while (*s != '\0') s += quote_one(reinterpret_cast<const unsigned char *>(s));
        return add("\"", 1);
    }

  private:
    YAMBA_ONCE void swap(Text &other) noexcept {
        char *data = data_;
        size_t size = size_, room = room_;
        data_ = other.data_, size_ = other.size_, room_ = other.room_;
        other.data_ = data, other.size_ = size, other.room_ = room;
    }

    YAMBA_ONCE void grow(size_t needed) {
        if (needed <= room_) return;
        size_t room = room_ * 2 > needed ? room_ * 2 : needed + 32;
        char *data = static_cast<char *>(realloc(data_, room));
        if (data == nullptr) abort();
        data_ = data;
        room_ = room;
    }

    // Adds one character and says how many bytes it was.
    YAMBA_ONCE size_t quote_one(const unsigned char *s) {
        if (*s == '"' || *s == '\\') return addf("\\%c", *s), size_t(1);
        if (*s < 0x20) return addf("\\u%04x", *s), size_t(1);
        size_t length = *s < 0x80 ? 1 : *s >= 0xC2 && *s < 0xE0 ? 2 : (*s & 0xF0) == 0xE0 ? 3 : *s >= 0xF0 && *s < 0xF5 ? 4 : 0;
        for (size_t i = 1; i < length; i++)
            if ((s[i] & 0xC0) != 0x80) length = 0;
        // Surrogates, overlong forms and what lies past U+10FFFF are not UTF-8.
        bool wrong = (*s == 0xE0 && s[1] < 0xA0) || (*s == 0xED && s[1] > 0x9F) || (*s == 0xF0 && s[1] < 0x90) || (*s == 0xF4 && s[1] > 0x8F);
        if (length == 0 || (length > 2 && wrong)) return add("\xEF\xBF\xBD"), size_t(1);
        return add(reinterpret_cast<const char *>(s), length), length;
    }

    char *data_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

}  // namespace yamba
YAMBA_COLD_END
