// Reads JSON that programs write, and quotes texts. A number keeps its digits.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <utility>
#include <vector>

namespace bundle {

struct Json {
    enum Kind { absent, null, truth, number, text, list, object } kind = absent;
    std::string plain;                                  // of a truth, a number or a text
    std::vector<std::pair<std::string, Json>> members;  // of an object; of a list, without names

    const Json &at(const char *name) const {
        static const Json none;
        for (const auto &member : members)
            if (member.first == name) return member.second;
        return none;
    }

    bool has_value() const { return kind != absent && kind != null; }
    double value() const { return strtod(plain.c_str(), nullptr); }
};

class JsonReader {
  public:
    explicit JsonReader(const std::string &text) : p_(text.c_str()) {}

    // Whether the whole text is one value, which is in `out` then.
    bool whole(Json &out) {
        bool is_good = value(out, 0);
        space();
        return is_good && *p_ == '\0';
    }

  private:
    void space() { p_ += strspn(p_, " \t\r\n"); }

    bool next(char c) {
        space();
        return *p_ == c ? p_++, true : false;
    }

    bool value(Json &out, int depth) {
        space();
        if (depth > 64) return false;
        if (*p_ == '{') return members(out, Json::object, '}', depth);
        if (*p_ == '[') return members(out, Json::list, ']', depth);
        if (*p_ == '"') return out.kind = Json::text, string(out.plain);
        return word(out);
    }

    bool members(Json &out, Json::Kind kind, char close, int depth) {
        out.kind = kind, p_++;
        if (next(close)) return true;
        do {
            std::pair<std::string, Json> member;
            if (kind == Json::object && !name(member.first)) return false;
            if (!value(member.second, depth + 1)) return false;
            out.members.push_back(std::move(member));
        } while (next(','));
        return next(close);
    }

    bool name(std::string &out) {
        space();
        return *p_ == '"' && string(out) && next(':');
    }

    bool string(std::string &out) {
        for (p_++; *p_ != '"'; p_++) {
            if (static_cast<unsigned char>(*p_) < 0x20) return false;
            if (*p_ != '\\') out.push_back(*p_);
            else if (!escape(out)) return false;
        }
        return p_++, true;
    }

    bool escape(std::string &out) {
        static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
        p_++;
        if (*p_ == 'u') return unicode(out);
        const char *found = *p_ == '\0' ? nullptr : strchr(names, *p_);
        if (found == nullptr) return false;
        return out.push_back(values[found - names]), true;
    }

    bool unicode(std::string &out) {
        unsigned code = 0;
        for (int i = 0; i < 4; i++) {
            const char *digits = "0123456789abcdef";
            const char *found = *++p_ == '\0' ? nullptr : strchr(digits, *p_ | 0x20);
            if (found == nullptr) return false;
            code = code << 4 | unsigned(found - digits);
        }
        if (code < 0x80) return out.push_back(char(code)), true;
        if (code < 0x800) return out.push_back(char(0xC0 | code >> 6)), out.push_back(char(0x80 | (code & 63))), true;
        out.push_back(char(0xE0 | code >> 12));
        return out.push_back(char(0x80 | (code >> 6 & 63))), out.push_back(char(0x80 | (code & 63))), true;
    }

    bool word(Json &out) {
        size_t n = strcspn(p_, ",]} \t\r\n");
        out.plain.assign(p_, n);
        p_ += n;
        if (out.plain == "null") return out.kind = Json::null, true;
        if (out.plain == "true" || out.plain == "false") return out.kind = Json::truth, true;
        out.kind = Json::number;
        return n > 0 && strspn(out.plain.c_str(), "-+.eE0123456789") == n && strpbrk(out.plain.c_str(), "0123456789") != nullptr;
    }

    const char *p_;
};

// The text in quotes. Bytes that are not printable ASCII become \u00XX.
inline std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (unsigned char c : text) {
        char escaped[8];
        if (c == '"' || c == '\\') out.push_back('\\'), out.push_back(char(c));
        else if (c == '\n') out += "\\n";
        else if (c >= 0x20 && c < 0x7F) out.push_back(char(c));
        else snprintf(escaped, sizeof escaped, "\\u%04x", c), out += escaped;
    }
    return out + "\"";
}

}  // namespace bundle
