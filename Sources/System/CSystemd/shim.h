#ifndef LIVEHOST_CSYSTEMD_SHIM_H
#define LIVEHOST_CSYSTEMD_SHIM_H

/*
 * The import of libsystemd. Swift calls the functions directly. None of those used here has
 * variable arguments, so this header adds no wrappers.
 *
 * Without SD_JOURNAL_SUPPRESS_LOCATION, sd-journal.h replaces sd_journal_sendv with a macro that
 * adds the location of the C caller (CODE_FILE, CODE_LINE, CODE_FUNC). Swift passes the location of
 * the log statement, and a field sent twice would become an array.
 */
#define SD_JOURNAL_SUPPRESS_LOCATION 1

#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#endif
