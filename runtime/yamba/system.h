// What the harness asks of the operating system: one folder a system, `posix` where nothing better is known.
#pragma once

#if defined(__linux__) && !defined(YAMBA_SYSTEM_POSIX)
#include "system/linux/futex.h"
#include "system/linux/system.h"
#else
#include "system/posix/futex.h"
#include "system/posix/system.h"
#endif
