// All of a program that does not depend on its benchmark. Yamba compiles this file once for each compiler, target and set of
// options, with the target's isa.h included first, and links the object into every program. It includes the other files, because
// a compiler that reads the headers once needs less than half of the time.
#include "yamba/program.h"

#include "yamba/cold.h"

// Optimised: composing may take a hundred thousand steps.
#include "code.cc"
#include "composer.cc"
#include "number.cc"

// What is never timed and hardly ever runs twice is compiled without optimisation, which takes less time.
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

#include "bounds.h"
#include "counters.h"
#include "disturbance.h"
#include "interval_record.h"
#include "precision.h"
#include "tick.h"
YAMBA_COLD_END

// Optimised: what is timed.
#include "circle.h"
#include "harness.h"

YAMBA_COLD_BEGIN
#include "circle.cc"
#include "main.cc"
YAMBA_COLD_END
