#include "CAllocationCounter.h"

#include <errno.h>
#include <stddef.h>

static __thread uint64_t count;

uint64_t allocation_count(void) { return count; }

// The hooks of the Swift runtime for errors that are thrown (stdlib/public/runtime/ErrorObject.h).
extern _Atomic(void *) _swift_willThrow;
extern _Atomic(void *) _swift_willThrowTypedImpl;

static void *hook, *typed_hook;

void observe_thrown_errors(int observes) {
  if (observes) {
    _swift_willThrow = hook;
    _swift_willThrowTypedImpl = typed_hook;
  } else {
    hook = _swift_willThrow;
    typed_hook = _swift_willThrowTypedImpl;
    _swift_willThrow = NULL;
    _swift_willThrowTypedImpl = NULL;
  }
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

// Sanitizers replace the allocation functions, which must not be replaced again.
#if !defined(SANITIZED) && defined(__GLIBC__)

#include <malloc.h>

uint64_t allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count++;
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  count++;
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  count++;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count++;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count++;
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

#else

uint64_t allocated_bytes(void) { return 0; }

#endif
