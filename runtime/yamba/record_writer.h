// Raw records: one JSON object per line, written immediately. Measured data survives any end of the
// process.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "text.h"

namespace yamba {

inline int record_fd = STDOUT_FILENO;

// Called before a process reports a fatal error. It keeps the lines of processes that share a
// record from mixing. Async-signal-safe.
inline void (*before_last_words)() = nullptr;

// Writes everything. Async-signal-safe. If the reader is gone, the run ends, since its results
// would be lost.
void write_all(int fd, const char *data, size_t size);

// Counter of progress signals from concurrent processes or threads, for the parent that waits for
// them.
inline uint32_t *signs_of_life = nullptr;

// The process whose figures the record has; 0 in a program that has no command to measure.
inline pid_t measured_process = 0;

// Ends a child that a benchmark forked and that goes on with the measurement: its figures would
// pass for those of the benchmark.
void only_in_measured_process();

// Reports progress during a long operation, with an empty record. Otherwise the parent would take
// the process for hung.
void goes_on();

// Builds one event and writes it when it goes out of scope.
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
