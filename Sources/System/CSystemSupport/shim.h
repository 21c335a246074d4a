#ifndef LIVEHOST_CPLATFORM_SHIM_H
#define LIVEHOST_CPLATFORM_SHIM_H

/* Parts of the C library that are missing in the Swift module Glibc. */

#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* pthread.h declares this function only with _GNU_SOURCE, which Swift does not define. */
int pthread_setname_np(pthread_t thread, const char *name);

/* Returns the kernel's ID of the calling thread, which differs from pthread_self(3). */
static inline pid_t current_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

/* Calls sched_setattr(2) for the calling thread with the normal policy. The C library of Debian 12
   has no function for this system call. */
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
