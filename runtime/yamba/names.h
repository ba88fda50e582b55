// Names that the C++ of a class may use without a prefix.
#pragma once

#include "code.h"
#include "do_not_optimize.h"
#include "must.h"
#include "platform.h"
#include "scratch.h"
#include "subject.h"

namespace yamba {
namespace names {

using yamba::batch;
using yamba::byte_t;
using yamba::Code;
using yamba::do_not_optimize;
using yamba::iter_t;
using yamba::platform;
using yamba::process;
using yamba::processes;
using yamba::scratch_directory;
using yamba::scratch_file;
using yamba::scratch_room;
using yamba::thread_index;
using yamba::threads;

}  // namespace names
}  // namespace yamba
