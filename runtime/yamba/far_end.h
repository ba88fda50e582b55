// The far end of a benchmark that measures between this machine and another one: the same program,
// started there over ssh. It is compiled once for all programs (src/far_end/talk.h);
// library/far_end.yamba documents its use in benchmarks.
#pragma once

#include <stdint.h>

#include "text.h"

namespace yamba {
namespace far_end {

inline Text machine;               // the far end's machine, as ssh knows it; empty without a far end
inline bool this_machine = false;  // `machine` is another name of this machine
inline int line = -1;              // the connection to the other end

constexpr int far_patience = 600;                              // seconds to wait for a message: longer than a batch lasts
constexpr const char *address_variable = "YAMBA_FAR_ADDRESS";  // the far machine's address, if it is not the ssh server's

void open();
// Returns the far end's answer to `word`; it is valid until the next message.
const char *tell_text(const char *word, const char *text);
uint64_t tell(const char *word, uint64_t number);
uint64_t ask(const char *question, uint64_t number);
void answer(const char *question, uint64_t (*by)(void *self, uint64_t number), void *self);
[[noreturn]] void serve();
void await();
void close();
// Far end only: whether `file` becomes readable, or has a connection to accept, within `seconds`.
// Ends when the near end ends.
bool await_input(int file, int seconds);

}  // namespace far_end
}  // namespace yamba
