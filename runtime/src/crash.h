// Writes a crash into the record: the signal, the address of the faulting instruction, and the
// composed code around it. Everything here runs inside a signal handler: no allocation, no locks,
// no stdio.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "yamba/isa_hooks.h"
#include "yamba/record_writer.h"

namespace yamba {
namespace crash {

// At most this much code is shown, so that the record stays small even if the composed code fills a
// cache.
constexpr size_t window = 1024;

// A line in preallocated memory.
struct Line {
    char data[16384];
    size_t size;

    void byte(char c) {
        if (size < sizeof data) data[size++] = c;
    }
    void add(const char *s) {
        while (*s != '\0') byte(*s++);
    }
    // Writes a JSON string. Names come from the compiler or the library; characters that JSON would
    // have to escape are replaced.
    void quote(const char *s) {
        byte('"');
        for (; *s != '\0'; s++) byte(*s == '"' || *s == '\\' || static_cast<unsigned char>(*s) < 0x20 ? '?' : *s);
        byte('"');
    }
    void number(uint64_t value) {
        char digits[24];
        size_t n = 0;
        do digits[n++] = char('0' + value % 10);
        while ((value /= 10) != 0);
        while (n > 0) byte(digits[--n]);
    }
    void hex(const unsigned char *bytes, size_t count) {
        static const char digits[] = "0123456789abcdef";
        byte('"');
        for (size_t i = 0; i < count; i++) byte(digits[bytes[i] >> 4]), byte(digits[bytes[i] & 15]);
        byte('"');
    }
};
inline Line line;
inline const char *isa = "";

inline const char *name_of(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV";
        case SIGBUS: return "SIGBUS";
        case SIGILL: return "SIGILL";
        case SIGFPE: return "SIGFPE";
        case SIGTRAP: return "SIGTRAP";
        case SIGABRT: return "SIGABRT";
        default: return "signal";
    }
}

// Chooses the start of the shown code. Disassembly must start at an instruction: the last
// contribution that starts well before the fault.
inline size_t window_start(const CodeSite &site, size_t fault) {
    if (site.bytes <= window) return 0;
    size_t start = 0;
    for (size_t i = 0; i < site.part_count; i++) {
        size_t begin = site.parts[i].start / 8;
        if (site.parts[i].start % 8 == 0 && begin + 64 <= fault && begin > start) start = begin;
    }
    return fault - start < window ? start : fault & ~size_t(15);
}

inline void add_parts(const CodeSite &site, size_t start, size_t end) {
    line.add(",\"parts\":[");
    bool first = true;
    for (size_t i = 0; i < site.part_count && line.size < sizeof line.data / 2; i++) {
        const CodePart &part = site.parts[i];
        if (part.end <= start * 8 || part.start >= end * 8) continue;
        line.add(first ? "{\"name\":" : ",{\"name\":");
        line.quote(part.name);
        line.add(",\"start\":");
        line.number(part.start > start * 8 ? part.start - start * 8 : 0);
        line.add(",\"end\":");
        line.number((part.end < end * 8 ? part.end : end * 8) - start * 8);
        line.add(",\"depth\":");
        line.number(part.depth);
        line.add("}");
        first = false;
    }
    line.add("]");
}

inline void add_code(uintptr_t pc) {
    CodeSite site;
    line.add(",\"code\":");
    if (pc == 0 || find_code == nullptr || !find_code(pc, site)) return line.add("null");
    size_t start = window_start(site, pc - uintptr_t(site.base));
    size_t end = site.bytes - start < window ? site.bytes : start + window;
    line.add("{\"member\":");
    line.quote(site.member);
    line.add(",\"base\":");
    line.number(uintptr_t(site.base) + start);
    line.add(",\"bytes\":");
    line.hex(site.base + start, end - start);
    line.add(",\"isa\":");
    line.quote(isa);
    add_parts(site, start, end);
    line.add("}");
}

// Set by the first thread that crashes. Others that crash meanwhile wait for the end of the
// process, so that one report is whole.
inline bool is_reported = false;

inline void handle(int signal, siginfo_t *info, void *context) {
    while (__atomic_test_and_set(&is_reported, __ATOMIC_ACQUIRE)) pause();
    uintptr_t pc = isa_hooks.program_counter != nullptr ? isa_hooks.program_counter(context) : 0;
    line.size = 0;
    line.add("{\"event\":\"crash\",\"signal\":");
    line.quote(name_of(signal));
    line.add(",\"number\":");
    line.number(uint64_t(signal));
    line.add(",\"pc\":");
    line.number(pc);
    line.add(",\"address\":");
    line.number(signal == SIGABRT ? 0 : uintptr_t(info->si_addr));
    add_code(pc);
    line.add("}\n");
    if (before_last_words != nullptr) before_last_words();
    write_all(record_fd, line.data, line.size);
    ::signal(signal, SIG_DFL);
    raise(signal);  // ends the process when the handler returns, and the parent sees which signal it was
}

}  // namespace crash

// The handler has its own stack in each thread: the benchmark may have overflowed the ordinary one.
using CrashStack = unsigned char[65536];
inline void use_crash_stack(CrashStack &stack) {
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
}

inline void catch_crashes(const char *isa) {
    static CrashStack stack;
    crash::isa = isa;
    use_crash_stack(stack);
    struct sigaction action {};
    action.sa_sigaction = crash::handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);  // a crash within the handler then ends the process at once
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace yamba
