/* SPDX-License-Identifier: MIT */
/*
 * shim.h: precedes every source of the library in a simulation (-include): system calls use virtual
 * threads, virtual descriptors and virtual time. It includes all headers first, so only the
 * library's own lines see the replaced names.
 *
 * Left out of the simulation: signals and children of the process (their calls find none), forks,
 * and the real machine (the topology is always given).
 */
#ifndef SIM_SHIM_H
#define SIM_SHIM_H

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <hwloc.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "memory.h"

/* ---- memory ---------------------------------------------------------------------------------- */

#undef strdup
#define malloc(size) sim_malloc(size)
#define calloc(count, size) sim_calloc((count), (size))
#define aligned_alloc(alignment, size) sim_aligned_alloc((alignment), (size))
#define realloc(p, size) sim_realloc((p), (size))
#define free(p) sim_free(p)
#define strdup(text) sim_strdup(text)
#define mmap(at, size, prot, flags, fd, offset) sim_pages(size)
#define munmap(p, size) sim_pages_free((p), (size))

/* ---- threads and time: shim_thread.c --------------------------------------------------------- */

int sim_pthread_create(pthread_t *thread, void *(*fn)(void *arg), void *arg);
int sim_pthread_join(pthread_t thread);
void sim_mutex_init(pthread_mutex_t *mutex);
int sim_mutex_lock(pthread_mutex_t *mutex);
int sim_mutex_trylock(pthread_mutex_t *mutex);
int sim_mutex_unlock(pthread_mutex_t *mutex);
int sim_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until);
int sim_cond_wake(pthread_cond_t *cond, bool all);
int sim_nanosleep(const struct timespec *spell);
int sim_clock_gettime(struct timespec *now);
int sim_getaffinity(size_t size, cpu_set_t *mask);
int sim_setaffinity(const cpu_set_t *mask);
_Noreturn void sim_abort(void);
extern int sim_processors; /* of the machine */

#define pthread_create(thread, attributes, fn, arg) sim_pthread_create((thread), (fn), (arg))
#define pthread_join(thread, result) sim_pthread_join(thread)
#define pthread_self() ((pthread_t)0)
#define pthread_setname_np(thread, name) ((void)(name))
#define pthread_mutex_init(mutex, attributes) sim_mutex_init(mutex)
#define pthread_mutex_destroy(mutex) ((void)(mutex))
#define pthread_mutex_lock(mutex) sim_mutex_lock(mutex)
#define pthread_mutex_trylock(mutex) sim_mutex_trylock(mutex)
#define pthread_mutex_unlock(mutex) sim_mutex_unlock(mutex)
#define pthread_cond_init(cond, attributes) ((void)(cond), 0)
#define pthread_cond_destroy(cond) ((void)(cond))
#define pthread_condattr_init(attributes) ((void)(attributes))
#define pthread_condattr_setclock(attributes, clock) ((void)(attributes))
#define pthread_condattr_destroy(attributes) ((void)(attributes))
#define pthread_cond_wait(cond, mutex) sim_cond_wait((cond), (mutex), NULL)
#define pthread_cond_timedwait(cond, mutex, until) sim_cond_wait((cond), (mutex), (until))
#define pthread_cond_signal(cond) sim_cond_wake((cond), false)
#define pthread_cond_broadcast(cond) sim_cond_wake((cond), true)
/* Each run initializes again: pthread_once always calls fn. */
#define pthread_once(once, fn) ((void)(once), (fn)())
#define pthread_atfork(before, parent, child) \
	((void)(before), (void)(parent), (void)(child), 0)
#define pthread_sigmask(how, set, old) ((void)(set), (void)(old), 0)
#define atexit(fn) ((void)(fn), 0)
#define sched_yield() (sim_yield(), 0)
#define nanosleep(spell, rest) sim_nanosleep(spell)
#define pause() (sim_fail("a thread waits for the process to exit"), 0)
#define clock_gettime(clock, now) ((void)(clock), sim_clock_gettime(now))
#undef sched_getaffinity
#undef sched_setaffinity
#define sched_getaffinity(pid, size, mask) sim_getaffinity((size), (mask))
#define sched_setaffinity(pid, size, mask) sim_setaffinity(mask)
#define abort() sim_abort()
/* No cgroup has a quota. */
#define fopen(path, mode) NULL
#define open(...) (-1)

/* ---- descriptors: shim_fd.c ------------------------------------------------------------------ */

int sim_eventfd(void);
int sim_timerfd(void);
int sim_timerfd_settime(int fd, int flags, const struct itimerspec *value);
int sim_epoll_create(void);
int sim_epoll_ctl(int epfd, int op, int fd, const struct epoll_event *event);
int sim_epoll_wait(int epfd, struct epoll_event *events, int max, uint64_t timeout_ps);
int sim_poll(struct pollfd *fds, int count);
ssize_t sim_read(int fd, void *buf, size_t size);
ssize_t sim_write(int fd, const void *buf, size_t size);
int sim_close(int fd);
/* epoll_pwait2; other system calls do not exist. */
int sim_syscall(long number, ...);
/* Would sim_epoll_wait find anything? Until then, or deadline_ps. */
bool sim_epoll_ready(int epfd);
void sim_epoll_await(int epfd, uint64_t deadline_ps);
/* Is fd readable? Not a step of the run. */
bool sim_fd_ready(int fd);
/* Descriptors open now. */
int sim_fds_open(void);
void sim_fds_begin(void);
/* The last message of the library, without the newline, or "". */
const char *sim_said(void);

#define eventfd(value, flags) sim_eventfd()
#define timerfd_create(clock, flags) sim_timerfd()
#define timerfd_settime(fd, flags, value, old) sim_timerfd_settime((fd), (flags), (value))
#define epoll_create1(flags) sim_epoll_create()
#define epoll_ctl(epfd, op, fd, event) sim_epoll_ctl((epfd), (op), (fd), (event))
#define epoll_wait(epfd, events, max, ms) \
	sim_epoll_wait((epfd), (events), (max), \
	    (ms) < 0 ? SIM_NEVER : (uint64_t)(ms) * 1000000000u)
#define poll(fds, count, ms) sim_poll((fds), (int)(count))
#define read(fd, buf, size) sim_read((fd), (buf), (size))
#define write(fd, buf, size) sim_write((fd), (buf), (size))
#define close(fd) sim_close(fd)
#define syscall(...) sim_syscall(__VA_ARGS__)
#define getpid() ((pid_t)1)
#define sigaction(signum, action, old) ((void)(action), (void)(old), errno = EINVAL, -1)
#define waitid(type, id, info, options) ((void)(info), errno = ECHILD, -1)
#define waitpid(pid, status, options) ((void)(status), (pid_t)-1)

/* ---- topology: shim_topo.c ------------------------------------------------------------------- */

int sim_topology_set(hwloc_topology_t topology, const char *text, bool xml);
int sim_topology_load(hwloc_topology_t *topology);

#define hwloc_topology_init(topology) (*(topology) = NULL, 0)
#define hwloc_topology_set_all_types_filter(topology, filter) ((void)(topology))
#define hwloc_topology_set_type_filter(topology, type, filter) ((void)(topology))
#define hwloc_topology_set_flags(topology, flags) ((void)(topology))
#define hwloc_topology_set_synthetic(topology, text) sim_topology_set((topology), (text), false)
#define hwloc_topology_set_xml(topology, text) sim_topology_set((topology), (text), true)
#define hwloc_topology_load(topology) sim_topology_load(&(topology))
#define hwloc_topology_destroy(topology) ((void)(topology))

#endif
