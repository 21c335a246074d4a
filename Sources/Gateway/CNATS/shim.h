#ifndef LIVEHOST_CNATS_SHIM_H
#define LIVEHOST_CNATS_SHIM_H

/* The door to libnats. Of it only connections, messages and subscriptions are used. */
#include <nats/nats.h>

#endif
