// The contents of the bundle: an index of lines, texts, and programs. The first program is
// complete; each other one is a patch of it (the format of bsdiff), since nearly all of a static
// program is the same library and harness.
#pragma once

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "checksum.h"
#include "inflate.h"

namespace bundle {

struct Part {
    uint64_t offset = 0, length = 0, size = 0;
};

struct Program {
    Part part;
    std::string name;
};

class Archive {
  public:
    Archive() {
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        // Without /proc, the kernel's own word for the path of this program.
        if (fd < 0) fd = open(reinterpret_cast<const char *>(getauxval(AT_EXECFN)), O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (fd < 0 || fstat(fd, &status) != 0) give_up("the file cannot be opened");
        size_ = size_t(status.st_size);
        data_ = static_cast<const uint8_t *>(mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0));
        close(fd);
        read_index();
    }

    // The values of the lines with this name, in order.
    const std::vector<std::string> &all(const std::string &name) { return lines_[name]; }

    const std::string &one(const std::string &name) {
        if (lines_[name].size() != 1) give_up(("its index lacks " + name).c_str());
        return lines_[name][0];
    }

    const char *line(const std::string &name) const {
        auto found = lines_.find(name);
        return found == lines_.end() ? "" : found->second[0].c_str();
    }

    uint64_t number(const std::string &name) { return strtoull(one(name).c_str(), nullptr, 10); }

    const std::vector<Program> &programs() const { return programs_; }

    std::string text(const std::string &name) { return unpacked(parts_.at(name)); }

    std::string program(size_t number) {
        if (base_.empty()) base_ = unpacked(programs_[0].part);
        return number == 0 ? base_ : patched(unpacked(programs_[number].part));
    }

  private:
    static uint64_t word(const uint8_t *bytes) {
        uint64_t value = 0;
        for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
        return value;
    }

    void read_index() {
        if (data_ == MAP_FAILED || size_ < 32 || memcmp(data_ + size_ - 32, "yamba-bundle/1 ", 15) != 0)
            give_up("its end is missing");
        uint64_t offset = word(data_ + size_ - 16), length = word(data_ + size_ - 8);
        if (offset > size_ || length > size_ - offset) give_up("its index is missing");
        std::string index(reinterpret_cast<const char *>(data_ + offset), length);
        for (size_t at = 0, end; (end = index.find('\n', at)) != std::string::npos; at = end + 1)
            enter(index.substr(at, end - at));
        check(offset, index);
    }

    void enter(const std::string &line) {
        size_t space = line.find(' ');
        std::string name = line.substr(0, space), value = line.substr(space + 1);
        char rest[256];
        Part part;
        if (name != "part" && name != "executable") return lines_[name].push_back(value);
        unsigned long long numbers[3];
        if (sscanf(value.c_str(), "%llu %llu %llu %255s", numbers, numbers + 1, numbers + 2, rest) != 4)
            give_up("its index is wrong");
        part.offset = numbers[0], part.length = numbers[1], part.size = numbers[2];
        if (name == "part") parts_[rest] = part;
        else programs_.push_back(Program{part, rest});
    }

    // Compares the checksum of all parts, and that of the index, which is a part of its last line.
    void check(uint64_t end, const std::string &index) {
        const uint64_t begin = number("begin");
        if (begin > end) give_up("its index is wrong");
        const uint32_t sum = crc32(data_ + begin, end - begin);
        const size_t last = index.rfind("id ");
        char id[24];
        snprintf(id, sizeof id, "%08x%08x", crc32(index.data(), last == std::string::npos ? 0 : last), sum);
        if (sum != number("crc32") || one("id") != id) give_up("its checksum is wrong");
    }

    std::string unpacked(const Part &part) {
        if (part.offset > size_ || part.length > size_ - part.offset) give_up("a part is missing");
        return Inflate(data_ + part.offset, part.length).all(part.size);
    }

    // A signed number: 63 bits and a sign.
    static int64_t offset(const uint8_t *bytes) {
        uint64_t raw = word(bytes);
        int64_t value = int64_t(raw & ~(uint64_t(1) << 63));
        return raw >> 63 ? -value : value;
    }

    std::string patched(const std::string &patch) const {
        std::string out;
        const uint8_t *p = reinterpret_cast<const uint8_t *>(patch.data()), *end = p + patch.size();
        size_t from = 0;
        while (end - p >= 24) {
            uint64_t mixed = word(p), copied = word(p + 8);
            int64_t skipped = offset(p + 16);
            p += 24;
            if (mixed > size_t(end - p) || copied > size_t(end - p) - mixed || mixed > base_.size() - from)
                give_up("a patch is wrong");
            for (size_t i = 0; i < mixed; i++) out.push_back(char(uint8_t(base_[from + i]) + p[i]));
            out.append(reinterpret_cast<const char *>(p + mixed), copied);
            p += mixed + copied;
            from = size_t(int64_t(from + mixed) + skipped);
            if (from > base_.size()) give_up("a patch is wrong");
        }
        return out;
    }

    const uint8_t *data_ = nullptr;
    size_t size_ = 0;
    std::map<std::string, std::vector<std::string>> lines_;
    std::map<std::string, Part> parts_;
    std::vector<Program> programs_;
    std::string base_;
};

}  // namespace bundle
