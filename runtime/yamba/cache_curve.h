// The staircase of load latency against buffer size, from which Yamba infers the caches of the
// machine.
#pragma once

#include <stddef.h>

namespace yamba {
namespace cache_curve {

// The largest buffer without a limit of the caller.
constexpr size_t most_bytes = size_t(1) << 30;

// Measures the curve with buffers of up to `limit` bytes, and never more than a fifth of the
// available memory. Writes all its passes as one `curve` record. Returns the share of the largest
// buffer in huge pages, from 0 to 1.
double record(size_t limit);

}  // namespace cache_curve
}  // namespace yamba
