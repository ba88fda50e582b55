// The harness's interface to the operating system: one folder per system; `posix` is the fallback.
#pragma once

#if defined(__linux__) && !defined(YAMBA_SYSTEM_POSIX)
#include "system/linux/children.h"
#include "system/linux/futex.h"
#include "system/linux/system.h"
#else
#include "system/posix/children.h"
#include "system/posix/futex.h"
#include "system/posix/system.h"
#endif
