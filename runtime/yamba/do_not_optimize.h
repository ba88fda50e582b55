// Keeps the compiler from leaving out code whose result nothing uses.
#pragma once

namespace yamba {

// Makes a value count as used, and as changed: the compiler must compute it, and afterwards knows
// nothing of it. The value is stored to memory for this.
template <class Value>
inline void do_not_optimize(Value &&value) {
    asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace yamba
