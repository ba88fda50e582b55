// The far end of a benchmark that measures between this machine and another one: the same program there, started over ssh. It is
// compiled once for all programs (src/far_end/talk.h); library/far_end.yamba tells what a benchmark does with it.
#pragma once

#include <stdint.h>

#include "text.h"

namespace yamba {
namespace far_end {

inline Text machine;               // that it is on, as ssh knows it; empty where there is none
inline bool this_machine = false;  // that one is this one, by another name
inline int line = -1;              // to the other end

constexpr int far_patience = 600;                              // seconds without a word: more than an interval lasts
constexpr const char *address_variable = "YAMBA_FAR_ADDRESS";  // of the far machine, where it is not the one at which ssh arrives

void open();
// What the far end says with this word; it is valid until one of the two says more.
const char *tell_text(const char *word, const char *text);
uint64_t tell(const char *word, uint64_t number);
uint64_t ask(const char *question, uint64_t number);
void answer(const char *question, uint64_t (*by)(void *self, uint64_t number), void *self);
[[noreturn]] void serve();
void await();
void close();
// Far: whether there is something to read, or somebody to accept, within so many seconds. Ends with the near end.
bool await_input(int file, int seconds);

}  // namespace far_end
}  // namespace yamba
