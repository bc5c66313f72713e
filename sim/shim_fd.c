/* SPDX-License-Identifier: MIT */
/*
 * shim_fd.c: descriptors of the simulated process: event counters and epoll sets, which may be
 * nested, and timers of the monotonic clock. A timer of the wall clock never expires: that clock is
 * never set.
 *
 * The shim orders no threads: the library's own locks and atomics must order the data that a
 * wake-up announces.
 */
#include "shim.h"

#undef read
#undef write
#undef close
#undef poll

enum { FDS = 800, FIRST = 3, ENTRIES = 32, PARENTS = 264 };

enum kind { NONE, EVENT, TIMER, SET };

struct entry {
	int fd;
	uint32_t events;
	uint64_t data;
	bool edge;              /* a new event since the last report */
	bool armed;
};

struct vfd {
	uint8_t kind;           /* enum kind */
	uint8_t entries_count;
	uint16_t parents_count;
	uint64_t count;         /* EVENT; TIMER: expirations */
	uint64_t due_ps;        /* TIMER: SIM_NEVER when it is not armed */
	int parents[PARENTS];   /* sets it is in */
	struct entry entries[ENTRIES]; /* SET */
};

static struct {
	struct vfd at[FDS];
	int end;                /* this run has not used descriptors from here on */
	int open;
	bool timers;            /* their thread exists */
	char said[SIM_TEXT_MAX];
} fds;

void
sim_fds_begin(void)
{
	int i;

	for (i = 0; i < fds.end; i++)
		fds.at[i].kind = NONE;
	fds.end = FIRST;
	fds.open = 0;
	fds.timers = false;
	fds.said[0] = '\0';
}

int
sim_fds_open(void)
{
	return fds.open;
}

const char *
sim_said(void)
{
	return fds.said;
}

static struct vfd *
find(int fd, enum kind kind)
{
	if (fd < FIRST || fd >= fds.end || fds.at[fd].kind != kind)
		return NULL;
	return &fds.at[fd];
}

static int
open_one(enum kind kind)
{
	struct vfd *v;
	int fd = FIRST;

	sim_call("open");
	while (fd < fds.end && fds.at[fd].kind != NONE)
		fd++;
	if (fd == FDS) {
		errno = EMFILE;
		return -1;
	}
	if (fd == fds.end)
		fds.end++;
	v = &fds.at[fd];
	v->kind = (uint8_t)kind;
	v->parents_count = v->entries_count = 0;
	v->count = 0;
	v->due_ps = SIM_NEVER;
	fds.open++;
	return fd;
}

static void *run_timers(void *arg);

int
sim_eventfd(void)
{
	return open_one(EVENT);
}

int
sim_timerfd(void)
{
	if (!fds.timers) {
		fds.timers = true;
		sim_thread_service(run_timers);
	}
	return open_one(TIMER);
}

int
sim_epoll_create(void)
{
	return open_one(SET);
}

/* ---- readiness ------------------------------------------------------------------------------- */

static uint32_t level(int fd);

/* What epoll would report of an entry. */
static uint32_t
report(const struct entry *e)
{
	if (!e->armed || ((e->events & EPOLLET) && !e->edge))
		return 0;
	return level(e->fd) & e->events & (EPOLLIN | EPOLLOUT);
}

static uint32_t
level(int fd)
{
	const struct vfd *v = &fds.at[fd];
	int i;

	switch (v->kind) {
	case EVENT:
		return (v->count > 0 ? EPOLLIN : 0) | EPOLLOUT;
	case TIMER:
		return v->count > 0 ? EPOLLIN : 0;
	case SET:
		for (i = 0; i < v->entries_count; i++) {
			if (report(&v->entries[i]) != 0)
				return EPOLLIN;
		}
		return 0;
	default:
		return 0;
	}
}

static struct entry *
entry_of(struct vfd *set, int fd)
{
	int i;

	for (i = 0; i < set->entries_count; i++) {
		if (set->entries[i].fd == fd)
			return &set->entries[i];
	}
	return NULL;
}

/* fd became ready. As Linux does, report to its exclusive sets up to the first in which a thread
 * waits. */
static void
notify(int fd)
{
	struct vfd *v = &fds.at[fd];
	int i;

	for (i = 0; i < v->parents_count; i++) {
		struct vfd *set = &fds.at[v->parents[i]];
		struct entry *e = entry_of(set, fd);
		bool woken;

		e->edge = true;
		if (report(e) == 0)
			continue;
		woken = sim_wake(set, true);
		notify(v->parents[i]);
		if (woken && (e->events & EPOLLEXCLUSIVE))
			return;
	}
}

/* ---- timers ---------------------------------------------------------------------------------- */

int
sim_timerfd_settime(int fd, int flags, const struct itimerspec *value)
{
	struct vfd *v = find(fd, TIMER);
	uint64_t ns = (uint64_t)value->it_value.tv_sec * 1000000000u +
	    (uint64_t)value->it_value.tv_nsec;

	sim_call("timerfd_settime");
	if (v == NULL) {
		errno = EBADF;
		return -1;
	}
	v->count = 0;
	v->due_ps = ns == 0 || (flags & TFD_TIMER_ABSTIME) ? SIM_NEVER :
	    sim_now_ps() + ns * 1000u;
	sim_wake(&fds.timers, true);
	return 0;
}

/* The kernel's part: a thread that waits for the next timer. It is never joined. */
static void *
run_timers(void *arg)
{
	int fd;

	(void)arg;
	for (;;) {
		uint64_t due_ps = SIM_NEVER;

		for (fd = FIRST; fd < fds.end; fd++) {
			struct vfd *v = &fds.at[fd];

			if (v->kind != TIMER || v->due_ps == SIM_NEVER)
				continue;
			if (v->due_ps <= sim_now_ps()) {
				v->due_ps = SIM_NEVER;
				v->count++;
				notify(fd);
			} else if (v->due_ps < due_ps) {
				due_ps = v->due_ps;
			}
		}
		(void)sim_block(&fds.timers, due_ps);
	}
	return NULL;
}

/* ---- epoll ----------------------------------------------------------------------------------- */

static void
forget_parent(int fd, int epfd)
{
	struct vfd *v = &fds.at[fd];
	int i;

	for (i = 0; i < v->parents_count; i++) {
		if (v->parents[i] == epfd)
			v->parents[i] = v->parents[--v->parents_count];
	}
}

static void
forget_entry(int epfd, int fd)
{
	struct vfd *set = &fds.at[epfd];
	struct entry *e = entry_of(set, fd);

	if (e != NULL)
		*e = set->entries[--set->entries_count];
}

static void
arm(int epfd, struct entry *e, const struct epoll_event *event)
{
	e->events = event->events;
	e->data = event->data.u64;
	e->armed = true;
	e->edge = level(e->fd) != 0;
	if (report(e) != 0) {
		sim_wake(&fds.at[epfd], true);
		notify(epfd);
	}
}

int
sim_epoll_ctl(int epfd, int op, int fd, const struct epoll_event *event)
{
	struct vfd *set = find(epfd, SET), *v;
	struct entry *e;

	sim_call("epoll_ctl");
	if (set == NULL || fd < FIRST || fd >= fds.end || fds.at[fd].kind == NONE) {
		errno = EBADF;
		return -1;
	}
	v = &fds.at[fd];
	e = entry_of(set, fd);
	if ((e != NULL) == (op == EPOLL_CTL_ADD)) {
		errno = e != NULL ? EEXIST : ENOENT;
		return -1;
	}
	if (op == EPOLL_CTL_DEL) {
		forget_entry(epfd, fd);
		forget_parent(fd, epfd);
		return 0;
	}
	if (op == EPOLL_CTL_ADD) {
		if (set->entries_count == ENTRIES || v->parents_count == PARENTS) {
			errno = ENOSPC;
			return -1;
		}
		v->parents[v->parents_count++] = epfd;
		e = &set->entries[set->entries_count++];
		e->fd = fd;
	}
	arm(epfd, e, event);
	return 0;
}

static int
collect(struct vfd *set, struct epoll_event *events, int max)
{
	int i, n = 0;

	for (i = 0; i < set->entries_count && n < max; i++) {
		struct entry *e = &set->entries[i];
		uint32_t what = report(e);

		if (what == 0)
			continue;
		e->edge = false;
		if (e->events & EPOLLONESHOT)
			e->armed = false;
		events[n].events = what;
		events[n++].data.u64 = e->data;
	}
	return n;
}

int
sim_epoll_wait(int epfd, struct epoll_event *events, int max, uint64_t timeout_ps)
{
	struct vfd *set = find(epfd, SET);
	uint64_t deadline_ps = SIM_NEVER;
	int n;

	sim_call("epoll_wait");
	if (set == NULL) {
		errno = EBADF;
		return -1;
	}
	if (timeout_ps != SIM_NEVER)
		deadline_ps = sim_now_ps() + timeout_ps;
	while ((n = collect(set, events, max)) == 0 && timeout_ps != 0) {
		if (!sim_block(set, deadline_ps))
			timeout_ps = 0;
	}
	return n;
}

int
sim_syscall(long number, ...)
{
	const struct timespec *timeout;
	struct epoll_event *events;
	int epfd, max;
	va_list args;

	va_start(args, number);
	epfd = va_arg(args, int);
	events = va_arg(args, struct epoll_event *);
	max = va_arg(args, int);
	timeout = va_arg(args, const struct timespec *);
	va_end(args);
#ifdef SYS_epoll_pwait2
	if (number == SYS_epoll_pwait2)
		return sim_epoll_wait(epfd, events, max, ((uint64_t)timeout->tv_sec *
		    1000000000u + (uint64_t)timeout->tv_nsec) * 1000u);
#endif
	errno = ENOSYS;
	return -1;
}

bool
sim_fd_ready(int fd)
{
	return (level(fd) & EPOLLIN) != 0;
}

bool
sim_epoll_ready(int epfd)
{
	return level(epfd) != 0;
}

void
sim_epoll_await(int epfd, uint64_t deadline_ps)
{
	while (!sim_epoll_ready(epfd)) {
		if (!sim_block(&fds.at[epfd], deadline_ps))
			return;
	}
}

int
sim_poll(struct pollfd *p, int count)
{
	int i, n = 0;

	sim_call("poll");
	for (i = 0; i < count; i++) {
		bool open = p[i].fd >= FIRST && p[i].fd < fds.end &&
		    fds.at[p[i].fd].kind != NONE;

		p[i].revents = (short)(open ? level(p[i].fd) & (uint32_t)p[i].events : POLLNVAL);
		n += p[i].revents != 0;
	}
	sim_call("poll"); /* the result may be old when it arrives */
	return n;
}

/* ---- reading and writing --------------------------------------------------------------------- */

ssize_t
sim_read(int fd, void *buf, size_t size)
{
	struct vfd *v = find(fd, EVENT);

	sim_call("read");
	if (v == NULL || v->count == 0 || size < sizeof v->count) {
		errno = v == NULL && find(fd, TIMER) == NULL ? EBADF : EAGAIN;
		return -1;
	}
	memcpy(buf, &v->count, sizeof v->count);
	v->count = 0;
	return sizeof v->count;
}

static ssize_t
say(const char *text, size_t size)
{
	size_t n = size < sizeof fds.said ? size : sizeof fds.said;

	memcpy(fds.said, text, n);
	fds.said[n - 1] = '\0'; /* overwrites the newline */
	return (ssize_t)size;
}

ssize_t
sim_write(int fd, const void *buf, size_t size)
{
	struct vfd *v;
	uint64_t n;

	if (fd == STDERR_FILENO && size > 0)
		return say(buf, size);
	sim_call("write");
	v = find(fd, EVENT);
	if (v == NULL || size < sizeof n) {
		errno = EBADF;
		return -1;
	}
	memcpy(&n, buf, sizeof n);
	v->count += n;
	notify(fd);
	return sizeof n;
}

int
sim_close(int fd)
{
	struct vfd *v;
	int i;

	sim_call("close");
	if (fd < FIRST || fd >= fds.end || fds.at[fd].kind == NONE) {
		sim_fail("descriptor %d is closed and was not open", fd);
		return -1;
	}
	v = &fds.at[fd];
	for (i = 0; i < v->parents_count; i++)
		forget_entry(v->parents[i], fd);
	for (i = 0; v->kind == SET && i < v->entries_count; i++)
		forget_parent(v->entries[i].fd, fd);
	v->kind = NONE;
	fds.open--;
	return 0;
}
