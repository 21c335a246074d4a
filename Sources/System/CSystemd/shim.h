#ifndef LIVEHOST_CSYSTEMD_SHIM_H
#define LIVEHOST_CSYSTEMD_SHIM_H

/*
 * The door to libsystemd. Swift calls every function of it directly: those used here take no
 * variable arguments, so this header adds no function of its own.
 *
 * SD_JOURNAL_SUPPRESS_LOCATION: without it sd-journal.h replaces sd_journal_sendv by a macro that
 * adds the location of the C caller (CODE_FILE, CODE_LINE, CODE_FUNC). Swift passes the location of
 * the log statement itself, and a field sent twice would become an array.
 */
#define SD_JOURNAL_SUPPRESS_LOCATION 1

#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#endif
