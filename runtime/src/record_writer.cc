#include "yamba/record_writer.h"

namespace yamba {

void write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(3);
        data += n;
        size -= size_t(n);
    }
}

void goes_on() {
    if (signs_of_life != nullptr) __atomic_add_fetch(signs_of_life, 1, __ATOMIC_RELEASE);
    write_all(record_fd, "\n", 1);
}

Record::Record(const char *event) {
    line_.add("{\"event\":");
    line_.quote(event);
}

Record::~Record() {
    line_.add("}\n");
    write_all(record_fd, line_.c_str(), line_.size());
}

Text &Record::key(const char *name) {
    line_.add(",");
    line_.quote(name);
    return line_.add(":");
}

Record &Record::text(const char *name, const char *value) {
    key(name).quote(value);
    return *this;
}

Record &Record::number(const char *name, double value) {
    key(name).number(value);
    return *this;
}

Record &Record::count(const char *name, uint64_t value) {
    key(name).addf("%llu", static_cast<unsigned long long>(value));
    return *this;
}

Record &Record::truth(const char *name, bool value) {
    key(name).add(value ? "true" : "false");
    return *this;
}

}  // namespace yamba
