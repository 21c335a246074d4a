#ifndef LIVEHOST_SIMULATED_MACHINE_H
#define LIVEHOST_SIMULATED_MACHINE_H

/* A machine whose time and threads belong to the program. A program that links this has its own clock_gettime,
   poll and pthread_create, which all of its code and the libraries call: its own code, SwiftNIO, the runtime of
   Swift. Until machine_start they do what those of the C library do.

   A thread that is started after that is a stack of its own on the thread that called machine_start: it runs from
   machine_run until it waits in poll, pauses or ends. So the order in which they run is the caller's choice, and
   nothing depends on the machine below. None may wait in any other way, or pause while it holds a lock. */

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_NEVER UINT64_MAX

/* From now on, threads that this thread starts are simulated, and time stands still. Nanoseconds. May be called
   again once all of them have ended. */
void machine_start(uint64_t monotonic, uint64_t realtime);

uint64_t machine_now(void);
/* Lets time pass. */
void machine_advance(uint64_t to);
/* Sets the time of day, which monotonic time does not follow. */
void machine_set_realtime(uint64_t realtime);
/* How much time passes each time that a program looks at the monotonic clock. */
void machine_set_cost_of_reading(uint64_t nanoseconds);

/* How many threads were started and have not ended. They are numbered from 0, the oldest first. */
int machine_thread_count(void);
/* When a thread may run: 0 for at once, MACHINE_NEVER if only another thread can make it so. */
uint64_t machine_thread_due(int number);
/* Runs a thread until it waits, pauses or ends. */
void machine_run(int number);

/* Whether this is one of the simulated threads. */
bool machine_is_thread(void);
/* Lets the others run until this much time has passed. Only on a simulated thread. */
void machine_pause(uint64_t nanoseconds);

#endif
