#ifndef LIVEHOST_CPLATFORM_SHIM_H
#define LIVEHOST_CPLATFORM_SHIM_H

/* Parts of the C library that Swift's import of it (Glibc) leaves out. */

#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Declared by pthread.h under _GNU_SOURCE only, which Swift's import does not define. */
int pthread_setname_np(pthread_t thread, const char *name);

/* The number of the calling thread, for which pthread_self(3) is not. */
static inline pid_t current_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

/* sched_setattr(2) for the calling thread at the normal policy. The C library of Debian 12 has no function for it. */
static inline long set_normal_scheduling(int32_t niceness, uint64_t slice_nanoseconds) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t niceness;
    uint32_t priority;
    uint64_t slice, deadline, period;
  } attributes = {sizeof attributes, 0, 0, niceness, 0, slice_nanoseconds, 0, 0};
  return syscall(SYS_sched_setattr, 0, &attributes, 0);
}

#endif
