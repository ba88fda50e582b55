// All parts of a program that do not depend on its benchmark. Yamba compiles this file once for
// each compiler, target and set of options, with the target's isa.h included first. It links the
// object into every program. This file includes the other sources, because reading the headers once
// takes less than half of the time.
#include "yamba/program.h"

#include "yamba/cold.h"

// Optimised: composing may take a hundred thousand steps, and the curve of load latencies is timed.
#include "cache_curve.cc"
#include "code.cc"
#include "composer.cc"
#include "curve.cc"
#include "number.cc"

// Code that is never timed and rarely runs twice is compiled without optimisation, which takes less
// time.
YAMBA_COLD_BEGIN
#include "clock.cc"
#include "compose_command.cc"
#include "conditions.cc"
#include "disk.cc"
#include "memory.cc"
#include "memory_groups.cc"
#include "must.cc"
#include "parameters.cc"
#include "placement.cc"
#include "platform.cc"
#include "record_writer.cc"
#include "refuse.cc"
#include "scratch.cc"
#include "text.cc"

#include "batch_record.h"
#include "bounds.h"
#include "counters.h"
#include "disturbance.h"
#include "precision.h"
#include "tick.h"
YAMBA_COLD_END

// Optimised: timed code.
#include "circle.h"
#include "harness.h"

YAMBA_COLD_BEGIN
#include "circle.cc"
#include "main.cc"
YAMBA_COLD_END
