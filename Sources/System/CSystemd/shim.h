#ifndef LIVEHOST_CSYSTEMD_SHIM_H
#define LIVEHOST_CSYSTEMD_SHIM_H

/*
 * The door to libsystemd. Swift calls every function of it directly: those used here take no
 * variable arguments, so this header adds no function of its own.
 *
 * SD_JOURNAL_SUPPRESS_LOCATION: without it sd-journal.h replaces sd_journal_sendv by a macro that
 * adds the place of the C caller (CODE_FILE, CODE_LINE, CODE_FUNC). Swift passes the place of the
 * log statement itself, and a field sent twice would become an array.
 */
#define SD_JOURNAL_SUPPRESS_LOCATION 1

#include <pthread.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

/* Not among the headers that Swift imports as Glibc. */
#include <sys/eventfd.h>

/*
 * These exist in the C library, but its headers show them under _GNU_SOURCE only, which Swift's
 * import of the C library does not define.
 */
int memfd_create(const char *name, unsigned int flags);
int pthread_setname_np(pthread_t thread, const char *name);

/* Kernel interface (linux/memfd.h, linux/fcntl.h), hidden in the same way. */
enum livehost_memfd_flags {
  LIVEHOST_MFD_CLOEXEC = 0x1,
  LIVEHOST_MFD_ALLOW_SEALING = 0x2,
};
enum livehost_seals {
  LIVEHOST_F_ADD_SEALS = 1024 + 9,
  /* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE */
  LIVEHOST_F_SEAL_ALL = 0x1 | 0x2 | 0x4 | 0x8,
};

#endif
