// Shortens the records of a launch. "!LINE" is a whole line. A line with the same words as an earlier one is written as the numbers
// that changed: "K:7,,2.5" is the line like line K whose first number is 7 and whose third is 2.5; its other numbers are those of the
// latest such line.
#pragma once

#include <map>

#include "json.h"

namespace bundle {

class Records {
  public:
    // The lines as a JSON list of texts.
    static std::string list(const std::string &lines) {
        Records records;
        std::string out = "[";
        for (size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1) {
            if (end == at) continue;  // a sign of life
            out += (records.count_ == 0 ? "" : ",") + records.shortened(lines.substr(at, end - at));
            records.count_++;
        }
        return out + "]";
    }

  private:
    struct Form {
        size_t line = 0;
        std::vector<std::string> numbers;
    };

    std::string shortened(const std::string &line) {
        std::vector<std::string> numbers;
        std::string words = split(line, numbers);
        auto found = forms_.find(words);
        if (found != forms_.end()) return changed(found->second, numbers);
        forms_[words] = Form{count_, numbers};
        return quoted("!" + line);
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

    // The line with each number outside of its texts replaced by a `#`.
    static std::string split(const std::string &line, std::vector<std::string> &numbers) {
        std::string words;
        bool is_text = false;
        for (size_t i = 0; i < line.size();) {
            char c = line[i];
            size_t n = is_text || strchr("-0123456789", c) == nullptr ? 0 : strspn(line.c_str() + i, "-+.eE0123456789");
            if (n > 0) {
                numbers.push_back(line.substr(i, n));
                words.push_back('#'), i += n;
                continue;
            }
            if (is_text && c == '\\') words.push_back(c), c = line[++i];
            else if (c == '"') is_text = !is_text;
            words.push_back(c), i++;
        }
        return words;
    }

    std::map<std::string, Form> forms_;
    size_t count_ = 0;
};

}  // namespace bundle
