#ifndef LIVEHOST_CPLATFORM_SHIM_H
#define LIVEHOST_CPLATFORM_SHIM_H

/* Parts of the C library that Swift's import of it (Glibc) leaves out. */

#include <pthread.h>
#include <sys/eventfd.h>

/* Declared by pthread.h under _GNU_SOURCE only, which Swift's import does not define. */
int pthread_setname_np(pthread_t thread, const char *name);

#endif
