// All headers that a generated program needs for its classes and its Subject. The harness and the
// program's main() are in runtime/src, which is compiled once for all programs.
#pragma once

#include "cache_curve.h"
#include "clock.h"
#include "code.h"
#include "cold.h"
#include "compose_command.h"
#include "conditions.h"
#include "curve.h"
#include "cycle.h"
#include "far_end.h"
#include "memory.h"
#include "must.h"
#include "names.h"
#include "parameters.h"
#include "placement.h"
#include "platform.h"
#include "refuse.h"
#include "scratch.h"
#include "subject.h"
#include "system.h"
