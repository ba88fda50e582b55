// Raw records: one JSON object a line, written at once, so that what was measured survives any end of the process.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "cold.h"
#include "once.h"
#include "text.h"

YAMBA_COLD_BEGIN
namespace yamba {

inline int record_fd = STDOUT_FILENO;

// Called before a process says why it cannot go on. Where several write into one record, their lines must not mix. Async-signal-safe.
inline void (*before_last_words)() = nullptr;

// Async-signal-safe. A reader that has gone away ends the run: nobody would learn of the rest.
YAMBA_ONCE void write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(3);
        data += n;
        size -= size_t(n);
    }
}

// Where several processes count that they go on, for a parent that waits for all of them.
inline uint32_t *signs_of_life = nullptr;

// Tells whoever waits for this process that what takes long goes on, by an empty record: it is not taken for hung.
YAMBA_ONCE void goes_on() {
    if (signs_of_life != nullptr) __atomic_add_fetch(signs_of_life, 1, __ATOMIC_RELEASE);
    write_all(record_fd, "\n", 1);
}

// Builds one event; written when it goes out of scope.
class Record {
  public:
    YAMBA_ONCE_MADE explicit Record(const char *event) {
        line_.add("{\"event\":");
        line_.quote(event);
    }
    Record(const Record &) = delete;
    YAMBA_ONCE_MADE ~Record() {
        line_.add("}\n");
        write_all(record_fd, line_.c_str(), line_.size());
    }

    YAMBA_ONCE Text &key(const char *name) {
        line_.add(",");
        line_.quote(name);
        return line_.add(":");
    }
    YAMBA_ONCE Record &text(const char *name, const char *value) {
        key(name).quote(value);
        return *this;
    }
    YAMBA_ONCE Record &number(const char *name, double value) {
        key(name).number(value);
        return *this;
    }
    YAMBA_ONCE Record &count(const char *name, uint64_t value) {
        key(name).addf("%llu", static_cast<unsigned long long>(value));
        return *this;
    }
    YAMBA_ONCE Record &truth(const char *name, bool value) {
        key(name).add(value ? "true" : "false");
        return *this;
    }

  private:
    Text line_;
};

}  // namespace yamba
YAMBA_COLD_END
