#define _GNU_SOURCE
#include "simulated_machine.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

struct thread {
    ucontext_t context;
    void *stack;
    void *(*start)(void *);
    void *argument;
    /* What it waits for: a descriptor, or -1, until a time. */
    int descriptor;
    uint64_t until;
    bool has_ended;
};

enum { MAXIMUM_THREADS = 64, STACK_BYTES = 1 << 20, MAXIMUM_READINGS = 1000000 };

/* The runtime of Swift keeps the accesses in progress by thread, not by stack. Other tests look at them. */
extern bool _swift_disableExclusivityChecking;

static uint64_t monotonic, realtime_ahead, cost_of_reading;
static struct thread *threads[MAXIMUM_THREADS];
static int thread_count;
static ucontext_t caller;
/* How often the thread that runs has looked at the clock since it was made to run. */
static int readings;
/* The simulated thread that runs. */
static struct thread *current;
/* There are others, which are not simulated: those of libdispatch. */
static __thread bool is_machine;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

static void give_up(const char *problem) {
    fprintf(stderr, "simulated machine: %s\n", problem);
    abort();
}

/* Time */

int clock_gettime(clockid_t clock, struct timespec *time) {
    static __typeof__(&clock_gettime) below;
    if (below == NULL) below = REAL(clock_gettime);
    if (!is_machine) return below(clock, time);
    uint64_t now = 0;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE: now = monotonic + realtime_ahead; break;
    case CLOCK_MONOTONIC:
        if (current != NULL && ++readings > MAXIMUM_READINGS) give_up("a thread never waits");
        monotonic += cost_of_reading;
        now = monotonic;
        break;
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME: now = monotonic; break;
    default: break; /* Processor time does not pass. */
    }
    time->tv_sec = (time_t)(now / 1000000000);
    time->tv_nsec = (long)(now % 1000000000);
    return 0;
}

void machine_start(uint64_t now, uint64_t realtime) {
    monotonic = now;
    realtime_ahead = realtime - now;
    is_machine = true;
    _swift_disableExclusivityChecking = true;
}

uint64_t machine_now(void) { return monotonic; }
void machine_advance(uint64_t to) { if (to > monotonic) monotonic = to; }
void machine_set_realtime(uint64_t realtime) { realtime_ahead = realtime - monotonic; }
void machine_set_cost_of_reading(uint64_t nanoseconds) { cost_of_reading = nanoseconds; }

/* Threads */

static void run(void) {
    current->start(current->argument);
    current->has_ended = true;
    setcontext(&caller);
}

static bool is_simulated(pthread_t thread) {
    for (int number = 0; number < thread_count; number++)
        if ((pthread_t)threads[number] == thread) return true;
    return false;
}

int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    if (!is_machine || attributes != NULL)
        return REAL(pthread_create)(thread, attributes, start, argument);
    struct thread *made = thread_count < MAXIMUM_THREADS ? calloc(1, sizeof *made) : NULL;
    if (made == NULL) return EAGAIN;
    made->stack = mmap(
        NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (made->stack == MAP_FAILED) {
        free(made);
        return EAGAIN;
    }
    made->start = start;
    made->argument = argument;
    made->descriptor = -1;
    getcontext(&made->context);
    made->context.uc_stack.ss_sp = made->stack;
    made->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&made->context, run, 0);
    threads[thread_count++] = made;
    *thread = (pthread_t)made;
    return 0;
}

int pthread_setname_np(pthread_t thread, const char *name) {
    return is_machine && is_simulated(thread) ? 0 : REAL(pthread_setname_np)(thread, name);
}

int pthread_detach(pthread_t thread) {
    return is_machine && is_simulated(thread) ? 0 : REAL(pthread_detach)(thread);
}

static bool is_ready(int descriptor) {
    static __typeof__(&poll) below;
    if (below == NULL) below = REAL(poll);
    struct pollfd awaited = {.fd = descriptor, .events = POLLIN};
    return below(&awaited, 1, 0) > 0;
}

/* Lets the others run until something can be read, or this time. */
static void wait_for(int descriptor, uint64_t until) {
    struct thread *thread = current;
    thread->descriptor = descriptor;
    thread->until = until;
    swapcontext(&thread->context, &caller);
    thread->descriptor = -1;
    thread->until = 0;
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout) {
    __typeof__(&poll) below = REAL(poll);
    if (!is_machine || current == NULL || count != 1) return below(descriptors, count, timeout);
    uint64_t until = timeout < 0 ? MACHINE_NEVER : monotonic + (uint64_t)timeout * 1000000;
    while (true) {
        int result = below(descriptors, 1, 0);
        if (result != 0 || until <= monotonic) return result;
        wait_for(descriptors[0].fd, until);
    }
}

int machine_thread_count(void) { return thread_count; }

uint64_t machine_thread_due(int number) {
    struct thread *thread = threads[number];
    return thread->descriptor >= 0 && is_ready(thread->descriptor) ? 0 : thread->until;
}

void machine_run(int number) {
    current = threads[number];
    readings = 0;
    swapcontext(&caller, &current->context);
    struct thread *thread = current;
    current = NULL;
    if (!thread->has_ended) return;
    thread_count--;
    memmove(threads + number, threads + number + 1, sizeof *threads * (size_t)(thread_count - number));
    munmap(thread->stack, STACK_BYTES);
    free(thread);
}

bool machine_is_thread(void) { return current != NULL; }

void machine_pause(uint64_t nanoseconds) { wait_for(-1, monotonic + nanoseconds); }
