#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

// How often this thread has asked for memory so far.
//
// Linked into an executable, the target takes the place of the C library's allocation functions, also
// for the Swift runtime, and passes on every call.
uint64_t allocation_count(void);

// Bytes that all threads have asked for and not given back. 0 if the allocator is not the C library's:
// under a sanitizer nothing is counted either.
uint64_t allocated_bytes(void);

// With 0, nobody is told of errors that are thrown, until this is called with 1. The testing library keeps where
// each of them came from, which counts as allocated.
void observe_thrown_errors(int observes);

#endif
