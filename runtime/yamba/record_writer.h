// Raw records: one JSON object a line, written at once, so that what was measured survives any end of the process.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "text.h"

namespace yamba {

inline int record_fd = STDOUT_FILENO;

// Called before a process says why it cannot go on. Where several write into one record, their lines must not mix.
// Async-signal-safe.
inline void (*before_last_words)() = nullptr;

// Async-signal-safe. A reader that has gone away ends the run: nobody would learn of the rest.
void write_all(int fd, const char *data, size_t size);

// Where several processes count that they go on, for a parent that waits for all of them.
inline uint32_t *signs_of_life = nullptr;

// Tells whoever waits for this process that what takes long goes on, by an empty record: it is not taken for hung.
void goes_on();

// Builds one event; written when it goes out of scope.
class Record {
  public:
    explicit Record(const char *event);
    Record(const Record &) = delete;
    ~Record();

    Text &key(const char *name);
    Record &text(const char *name, const char *value);
    Record &number(const char *name, double value);
    Record &count(const char *name, uint64_t value);
    Record &truth(const char *name, bool value);

  private:
    Text line_;
};

}  // namespace yamba
