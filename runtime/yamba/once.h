// Marks a function that the harness's object holds for all programs (runtime/main.cc). A program that calls it compiles nothing of it: most of what a benchmark would be compiled from is the same in
// each of them. Nothing that is timed is marked so: it could not be inlined.
#pragma once

#if defined(YAMBA_PROGRAM)
// As GNU C had it first: the body is for inlining only, and the function is elsewhere. Nor is it inlined: g++ has no other word for that which goes with this one.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wgnu-inline-cpp-without-extern"
#pragma clang diagnostic ignored "-Wstatic-local-in-inline"
#define YAMBA_ONCE __attribute__((gnu_inline, noinline)) inline
#else
#define YAMBA_ONCE __attribute__((gnu_inline, optimize("O0"))) inline
#endif
#define YAMBA_ONCE_FOR extern template
#else
// Also where nothing here calls it.
#define YAMBA_ONCE __attribute__((used)) inline
#define YAMBA_ONCE_FOR template
#endif

// The same for constructors and destructors, of which there are two kinds: clang++ makes the one and calls the other.
#if defined(__clang__)
#define YAMBA_ONCE_MADE inline
#else
#define YAMBA_ONCE_MADE YAMBA_ONCE
#endif
