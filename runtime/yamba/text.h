// A growing string that writes JSON. It compiles faster than <string> and never outputs a NaN or an
// invalid UTF-8 sequence.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floating.h"

namespace yamba {

class Text {
  public:
    Text() = default;
    explicit Text(const char *s);
    Text(const Text &other);
    Text(Text &&other) noexcept;
    Text &operator=(Text other) noexcept;
    ~Text();

    const char *c_str() const;
    size_t size() const;
    bool empty() const;
    bool is(const char *s) const;
    void clear();

    Text &add(const char *s, size_t n);
    Text &add(const char *s);
    Text &add(const Text &t);

    __attribute__((format(printf, 2, 3))) Text &addf(const char *format, ...);

    Text &addv(const char *format, va_list args);

    // Adds the shortest text that reads back as the same double, or with `is_single` as the same
    // float; null for a number that JSON cannot represent.
    Text &number(double value, bool is_single = false);

    // Adds a JSON string; null for a null pointer.
    Text &quote(const char *s);

  private:
    void swap(Text &other) noexcept;

    void grow(size_t needed);

    // Adds one character. Returns its length in bytes.
    size_t quote_one(const unsigned char *s);

    char *data_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

}  // namespace yamba
