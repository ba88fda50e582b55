// Writes the items of a capture: as one JSON document, or as frames for a serial line.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <termios.h>
#include <unistd.h>

#include "checksum.h"
#include "json.h"
#include "process.h"

namespace bundle {

class Writer {
  public:
    // A writer that `only_counts` writes nothing. `name` is that of standard output in messages.
    Writer(bool is_serial, bool only_counts, int repeat, const std::string &run, const char *name)
        : is_serial_(is_serial), only_counts_(only_counts), repeat_(repeat), run_(run.substr(0, 8)), name_(name) {
        if (!is_serial_) put("{\"schema\":\"yamba-capture/1\",\"items\":[\n");
    }

    // Writes one JSON object on one line.
    void item(const std::string &text) {
        if (is_serial_) return frames(text);
        put((items_++ == 0 ? "" : ",\n") + text);
    }

    void finish() {
        if (!is_serial_) put("\n]}\n");
        for (int i = 1; i < repeat_; i++) put(sent_);
    }

    bool is_serial() const { return is_serial_; }
    uint64_t items() const { return items_; }
    uint64_t bytes() const { return bytes_; }
    bool has_failed() const { return has_failed_; }

  private:
    // Short, so that a lost frame costs little, and a line of 256 characters holds it.
    static constexpr size_t payload = 192;

    void frames(const std::string &text) {
        items_++;
        std::string sent;
        for (size_t at = 0; at < text.size();) {
            std::string part;
            while (at < text.size() && part.size() < payload) part += printable(static_cast<unsigned char>(text[at++]));
            sent += frame(part, at == text.size());
        }
        if (repeat_ > 1) sent_ += sent;
        put(sent);
    }

    static std::string printable(unsigned char c) {
        char escaped[4];
        if (c >= 0x20 && c < 0x7F && c != '%') return std::string(1, char(c));
        snprintf(escaped, sizeof escaped, "%%%02X", c);
        return escaped;
    }

    // `~yb RUN NUMBER LENGTH CRC PART`. A `.` after the length ends an item, a `+` continues it.
    // The checksum covers all but itself.
    std::string frame(const std::string &part, bool is_last) {
        char head[40], sum[12];
        snprintf(head, sizeof head, "~yb %s %06llx %03zx%c ", run_.c_str(), static_cast<unsigned long long>(number_++),
                 part.size(), is_last ? '.' : '+');
        const std::string covered = head + part;
        snprintf(sum, sizeof sum, "%08x ", crc32(covered.data(), covered.size()));
        return head + (sum + part) + "\n";
    }

    // Also waits until a line has sent everything: its interrupts must not disturb the next launch.
    // A failure stops the run.
    void put(const std::string &text) {
        bytes_ += text.size();
        if (only_counts_ || has_failed_) return;
        for (size_t done = 0; done < text.size();) {
            ssize_t n = write(STDOUT_FILENO, text.data() + done, text.size() - done);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return perror(name_), has_failed_ = true, void(stop_requested = 1);
            done += size_t(n);
        }
        tcdrain(STDOUT_FILENO);
    }

    bool is_serial_, only_counts_, has_failed_ = false;
    int repeat_;
    std::string run_, sent_;
    const char *name_;
    uint64_t number_ = 0, items_ = 0, bytes_ = 0;
};

}  // namespace bundle
