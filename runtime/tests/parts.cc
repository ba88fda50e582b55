// Tests parts of the runtime. The first argument names the group of tests. Prints failures; status
// 1 if there are any. The groups are one program, because reading the runtime's sources is most of
// the compiler's work.
#include "../src/runtime.cc"
#include "../support/row_conflicts.cc"
#if defined(__x86_64__)
#include "yamba/isa/x86_64/isa.h"
#endif

namespace {

int failures = 0;

#define CHECK(condition)                                                                              \
    do {                                                                                              \
        if (!(condition)) failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    } while (false)

}  // namespace

#include "circle.cc"
#include "composer.cc"
#include "load.cc"
#include "row_conflicts.cc"
#include "unit.cc"
// After unit.cc, whose `recorded` it uses.
#include "quietest.cc"

int main(int argc, char **argv) {
    // The tests simulate the processor's clock and counters.
    const yamba::IsaHooks here = yamba::isa_hooks;
    yamba::isa_hooks = {};
    const char *const group = argc > 1 ? argv[1] : "";
    if (strcmp(group, "circle") == 0) circle::test();
    else if (strcmp(group, "composer") == 0 && argc > 2) return composer::test(argv[2]);
    else if (strcmp(group, "load") == 0) load::test();
    else if (strcmp(group, "locale") == 0 && argc > 2) unit::numbers_do_not_depend_on_the_locale(argv[2]);
    else if (strcmp(group, "quietest") == 0 && argc > 2) quietest_tests::test(argv[2]);
    else if (strcmp(group, "row_conflicts") == 0) row_conflicts::test();
    else if (strcmp(group, "unit") == 0) unit::test(here);
    else return fprintf(stderr, "no such group: %s\n", group), 2;
    return failures == 0 ? 0 : 1;
}
