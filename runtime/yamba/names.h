// What the C++ of a class may write without a prefix.
#pragma once

#include "must.h"
#include "platform.h"
#include "scratch.h"
#include "subject.h"
#if __has_include("code.h")
#include "code.h"
#endif

namespace yamba {
namespace names {

using yamba::byte_t;
using yamba::interval;
using yamba::iter_t;
using yamba::platform;
using yamba::process;
using yamba::processes;
using yamba::scratch_directory;
using yamba::scratch_file;
using yamba::scratch_room;
#if __has_include("code.h")
using yamba::Code;
#endif

}  // namespace names
}  // namespace yamba
