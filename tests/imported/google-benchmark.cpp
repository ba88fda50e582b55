// What `google-benchmark.json` is of: it was measured once, with libbenchmark 1.7.1 of Debian 12.
//   g++ -O2 google-benchmark.cpp -lbenchmark -o bench
//   ./bench --benchmark_format=json --benchmark_min_time=0.01 > google-benchmark.json
// Afterwards the names of the host and of the program's folder were replaced; nothing else was touched.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstring>
#include <vector>

static void copy(benchmark::State &state)
{
    std::vector<char> from(state.range(0)), to(state.range(0));
    for (auto _ : state)
    {
        std::memcpy(to.data(), from.data(), from.size());
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(copy)->Arg(64)->Arg(1 << 20);

static void sort(benchmark::State &state)
{
    std::vector<unsigned> numbers(state.range(0));
    for (auto _ : state)
    {
        unsigned next = 1;
        for (unsigned &number : numbers)
            number = next = next * 1664525 + 1013904223;
        std::sort(numbers.begin(), numbers.end());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.SetComplexityN(state.range(0));
}
BENCHMARK(sort)->Arg(10000)->Repetitions(3)->Unit(benchmark::kMillisecond);
BENCHMARK(sort)->Name("sort/summed")->Arg(1000)->Repetitions(5)->ReportAggregatesOnly()->Unit(benchmark::kMicrosecond);
BENCHMARK(sort)->Name("sort/grows")->RangeMultiplier(4)->Range(256, 4096)->Complexity(benchmark::oNLogN);

static void count(benchmark::State &state)
{
    static int shared;
    for (auto _ : state)
        __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
    state.counters["held"] = state.threads();
}
BENCHMARK(count)->Threads(2)->UseRealTime();

static void absent(benchmark::State &state)
{
    state.SkipWithError("there is no such device");
    for (auto _ : state)
        ;
}
BENCHMARK(absent);

BENCHMARK_MAIN();
