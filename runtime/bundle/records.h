// Shortens the records of a launch. "!LINE" is a whole line. A line with the same words as an
// earlier one is written as the numbers that changed: "K:7,,2.5" is the line like line K whose
// first number is 7 and whose third is 2.5; its other numbers are those of the latest such line.
// `null` counts as a number, and a time has the digits that the harness keeps of it.
#pragma once

#include <map>

#include "checksum.h"
#include "json.h"

namespace bundle {

class Records {
  public:
    explicit Records(const std::string &lines) {
        for (size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1) {
            if (end == at) continue;  // a sign of life
            list_ += (count_ == 0 ? "" : ",") + shortened(lines.substr(at, end - at));
            count_++;
        }
    }

    // The lines as a JSON list of texts.
    std::string list() const { return "[" + list_ + "]"; }

    // Of the lines that the list stands for.
    uint32_t checksum() const { return crc32(lines_.data(), lines_.size()); }

  private:
    struct Form {
        size_t line = 0;
        std::vector<std::string> numbers;
    };

    std::string shortened(const std::string &line) {
        std::vector<std::string> numbers;
        std::string words;
        const std::string kept = split(line, words, numbers);
        lines_ += kept + "\n";
        auto found = forms_.find(words);
        if (found != forms_.end()) return changed(found->second, numbers);
        forms_[words] = Form{count_, numbers};
        return quoted("!" + kept);
    }

    static std::string changed(Form &form, const std::vector<std::string> &numbers) {
        std::string out = "\"" + std::to_string(form.line) + ":", pending;
        for (size_t i = 0; i < numbers.size(); i++) {
            if (numbers[i] != form.numbers[i]) out += pending + numbers[i], pending.clear();
            pending += ",";
        }
        form.numbers = numbers;
        return out + "\"";
    }

    // The line with the digits that are kept, and without its numbers outside of texts, each of
    // which is a `#` in `words`.
    static std::string split(const std::string &line, std::string &words, std::vector<std::string> &numbers) {
        std::string kept;
        bool is_text = false;
        for (size_t i = 0; i < line.size();) {
            size_t n = is_text ? 0 : number_at(line.c_str() + i);
            if (n > 0) {
                numbers.push_back(rounded(words, line.substr(i, n)));
                kept += numbers.back(), words.push_back('#'), i += n;
                continue;
            }
            const size_t length = is_text && line[i] == '\\' ? 2 : 1;
            if (line[i] == '"') is_text = !is_text;
            kept.append(line, i, length), words.append(line, i, length), i += length;
        }
        return kept;
    }

    // The length of the number that begins `text`, or 0.
    static size_t number_at(const char *text) {
        if (strncmp(text, "null", 4) == 0) return 4;
        return strchr("-0123456789", *text) == nullptr ? 0 : strspn(text, "-+.eE0123456789");
    }

    // A time in the form of crates/harness/src/time_digits.rs, if the words before it name one.
    static std::string rounded(const std::string &words, const std::string &number) {
        auto ends = [&](const char *name) {
            const size_t n = strlen(name);
            return words.size() >= n && words.compare(words.size() - n, n, name) == 0;
        };
        const int digits = ends("cycle_ns\":") ? 9 : ends("\"ns\":") || ends("\"dummy_ns\":") || ends("\"stolen_ns\":") ? 4 : -1;
        if (digits < 0 || number.find('.') == std::string::npos || number.find('e') != std::string::npos) return number;
        char text[64];
        snprintf(text, sizeof text, "%.*f", digits, strtod(number.c_str(), nullptr));
        return text;
    }

    std::map<std::string, Form> forms_;
    std::string list_, lines_;
    size_t count_ = 0;
};

}  // namespace bundle
