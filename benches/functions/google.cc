#include <benchmark/benchmark.h>

#include "functions.h"

template <unsigned long (*function)()>
static void timed(benchmark::State &state)
{
    for (auto _ : state) benchmark::DoNotOptimize(function());
}

BENCHMARK(timed<add_numbers>)->Name("add_numbers");
BENCHMARK(timed<length_of_text>)->Name("length_of_text");
BENCHMARK(timed<copy_page>)->Name("copy_page");
BENCHMARK(timed<hash_text>)->Name("hash_text");
BENCHMARK(timed<search_sorted>)->Name("search_sorted");
BENCHMARK(timed<walk_list>)->Name("walk_list");
BENCHMARK(timed<sort_numbers>)->Name("sort_numbers");
BENCHMARK(timed<print_number>)->Name("print_number");
BENCHMARK(timed<allocate_memory>)->Name("allocate_memory");
BENCHMARK(timed<ask_parent>)->Name("ask_parent");
BENCHMARK_MAIN();
