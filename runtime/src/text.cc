#include "yamba/text.h"

#include "plain_locale.h"
#include "yamba/number.h"

namespace yamba {

Text::Text(const char *s) { add(s); }

Text::Text(const Text &other) { add(other.c_str(), other.size_); }

Text::Text(Text &&other) noexcept : data_(other.data_), size_(other.size_), room_(other.room_) {
    other.data_ = nullptr;
    other.size_ = other.room_ = 0;
}

Text &Text::operator=(Text other) noexcept {
    swap(other);
    return *this;
}

Text::~Text() { free(data_); }

const char *Text::c_str() const { return data_ ? data_ : ""; }

size_t Text::size() const { return size_; }

bool Text::empty() const { return size_ == 0; }

bool Text::is(const char *s) const { return strcmp(c_str(), s) == 0; }

void Text::clear() { size_ = 0; }

Text &Text::add(const char *s, size_t n) {
    if (n >= room_ - size_) grow(size_ + n + 1);
    if (n > 0) memcpy(data_ + size_, s, n);
    size_ += n;
    data_[size_] = '\0';
    return *this;
}

Text &Text::add(const char *s) { return add(s, strlen(s)); }

Text &Text::add(const Text &t) { return add(t.c_str(), t.size_); }

Text &Text::addf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    addv(format, args);
    va_end(args);
    return *this;
}

Text &Text::addv(const char *format, va_list args) {
    const PlainLocale plain;
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

Text &Text::number(double value, bool is_single) {
    if (!is_finite(value)) return add("null");
    char digits[longest_value];
    return add(digits, print_real(digits, value, is_single));
}

Text &Text::quote(const char *s) {
    if (s == nullptr) return add("null");
    add("\"", 1);
    while (*s != '\0') s += quote_one(reinterpret_cast<const unsigned char *>(s));
    return add("\"", 1);
}

void Text::swap(Text &other) noexcept {
    char *data = data_;
    size_t size = size_, room = room_;
    data_ = other.data_, size_ = other.size_, room_ = other.room_;
    other.data_ = data, other.size_ = size, other.room_ = room;
}

void Text::grow(size_t needed) {
    if (needed <= room_) return;
    size_t room = room_ * 2 > needed ? room_ * 2 : needed + 32;
    char *data = static_cast<char *>(realloc(data_, room));
    if (data == nullptr) abort();
    data_ = data;
    room_ = room;
}

size_t Text::quote_one(const unsigned char *s) {
    if (*s == '"' || *s == '\\') return addf("\\%c", *s), size_t(1);
    if (*s < 0x20) return addf("\\u%04x", *s), size_t(1);
    size_t length = *s < 0x80 ? 1 : *s >= 0xC2 && *s < 0xE0 ? 2 : (*s & 0xF0) == 0xE0 ? 3 : *s >= 0xF0 && *s < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) length = 0;
    // Surrogates, overlong forms and code points above U+10FFFF are not UTF-8.
    bool wrong =
        (*s == 0xE0 && s[1] < 0xA0) || (*s == 0xED && s[1] > 0x9F) || (*s == 0xF0 && s[1] < 0x90) || (*s == 0xF4 && s[1] > 0x8F);
    if (length == 0 || (length > 2 && wrong)) return add("\xEF\xBF\xBD"), size_t(1);
    return add(reinterpret_cast<const char *>(s), length), length;
}

}  // namespace yamba
