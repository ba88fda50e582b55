// All of a program that does not depend on its benchmark. Built once for each compiler and instruction set, with that instruction set's header included first.
#include "yamba/runtime.h"
