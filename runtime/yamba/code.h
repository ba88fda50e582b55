// Composed bits as a function. The memory is first written, then made executable: it is never both.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "composer.h"
#include "isa_hooks.h"

namespace yamba {

// One piece of executable memory, shared by all functions with equal bits. It is kept for a while
// after its last user is gone, since a benchmark may compose the same function repeatedly.
struct CodeRegion {
    unsigned char *base;
    size_t size, mapped;  // bytes
    uint64_t hash;
    size_t users;
    CodeRegion *next;
    Text names;  // null-terminated strings, concatenated
    Buffer<CodePart> parts;
};

namespace code {

// Returns the region with these bits, or creates it.
CodeRegion *take(const Composer &composed);

void retain(CodeRegion *region);

void release(CodeRegion *region);

}  // namespace code

template <class Signature>
class Code;

// A function that owns its code. Copies share the code.
template <class R, class... A>
class Code<R(A...)> {
  public:
    Code() = default;
    explicit Code(const Composer &composed) : region_(code::take(composed)) {
        entry_ = reinterpret_cast<R (*)(A...)>(region_->base);
    }
    Code(const Code &other) : entry_(other.entry_), region_(other.region_) { code::retain(region_); }
    Code(Code &&other) noexcept : entry_(other.entry_), region_(other.region_) {
        other.entry_ = nullptr;
        other.region_ = nullptr;
    }
    Code &operator=(Code other) noexcept {
        R (*entry)(A...) = entry_;
        CodeRegion *region = region_;
        entry_ = other.entry_, region_ = other.region_;
        other.entry_ = entry, other.region_ = region;
        return *this;
    }
    ~Code() { code::release(region_); }

    R operator()(A... arguments) const { return entry_(static_cast<A &&>(arguments)...); }

    explicit operator bool() const { return entry_ != nullptr; }
    // The raw function pointer: valid while this object or a copy of it lives.
    R (*function() const)(A...) { return entry_; }
    const unsigned char *data() const { return region_ ? region_->base : nullptr; }
    size_t size() const { return region_ ? region_->size : 0; }  // bytes

  private:
    R (*entry_)(A...) = nullptr;
    CodeRegion *region_ = nullptr;
};

inline void check_whole(const char *member, const Composer &composed) {
    if (composed.bits() % 8 != 0) fail("%s composes %zu bits; a function is a whole number of bytes", member, composed.bits());
}

// Composes a callable bitstring.
template <class Signature, class F>
YAMBA_COMPOSES Code<Signature> make_code(const char *member, const F &terms) {
    Composer composed;
    compose(composed, terms);
    check_whole(member, composed);
    return Code<Signature>(composed);
}

namespace names {
using yamba::Bits;
using yamba::Code;
}  // namespace names

}  // namespace yamba
