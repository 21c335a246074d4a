// Makes the standard library's Mutex visible to the thread sanitizer. Loaded with LD_PRELOAD.
//
// A thread locks a free Mutex by an atomic operation inlined into its caller, which the sanitizer
// observes. A thread that has to wait calls functions of a library that is not instrumented. The
// functions below replace them: they call the originals and report the lock to the sanitizer.
// Programs without the sanitizer are not affected.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Synchronization._MutexHandle in Swift 6.3. The probe of sanitize.sh fails if these names change.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool tryLock(SELF) __asm__(TRY_LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF) {
  SWIFT void (*original)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
  original(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool tryLock(SELF) {
  SWIFT bool (*original)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
  bool isLocked = original(self);
  if (isLocked && __tsan_acquire) __tsan_acquire(self);
  return isLocked;
}

SWIFT void unlock(SELF) {
  SWIFT void (*original)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(self);
  original(self);
}
