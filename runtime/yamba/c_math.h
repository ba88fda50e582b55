// What C has of <math.h>, for headers that every program reads: the C++ library's own brings functions of theoretical physics with it, which take a tenth of what
// it costs to compile a small program. Who wants std::isnan and the like includes <math.h> or <cmath>, also after this.
#pragma once

// The name by which the GNU C++ library's headers ask its wrapper for C's. Where it is not known, the whole header comes.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
