/* SPDX-License-Identifier: MIT */
/*
 * trace.c: the life of a trace (include/mely/trace.h): start, stop, names, the path. Records come
 * from observe.c, the file from write.c.
 *
 * NOTE(tracer)
 *   A. A runtime gets its tracer, one piece of memory with all rings, when it is first traced, and
 *      keeps it until it is freed. So a core that writes a record never loses the ring, and neither
 *      start nor stop waits for a core.
 *   B. `on` says whether records count. Start sets what the writer needs, then `on` (release); a
 *      core that sees it (acquire) writes records. Stop clears it after it has written the file.
 *   C. A thread sets `writing` before it writes the file, so that a signal handler that has to
 *      write the same file waits for it, or gives up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/clock.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "core/handlers.h"
#include "core/runtimes.h"
#include "look/trace/observe.h"
#include "look/trace/tracer.h"

/* One start, stop or exit at a time in the process. */
static pthread_mutex_t trace_lock MELY_LASTING = PTHREAD_MUTEX_INITIALIZER;

/* ---- memory ---------------------------------------------------------------------------------- */

/* Take size bytes, rounded up to whole cache lines. */
static void *
carve(char **at, size_t size)
{
	void *here = *at;

	*at += (size + MELY_CACHE_LINE - 1) & ~(size_t)(MELY_CACHE_LINE - 1);
	return here;
}

/* Place everything behind tracer, whose counts are set. Returns the size; dry: only that. */
static size_t
lay_out(struct melyint_tracer *tracer, uint64_t records, bool dry)
{
	char *at = (char *)tracer;
	size_t n = (size_t)tracer->rings_count;
	size_t words = records * MELYINT_RECORD_WORDS * sizeof(uint64_t);
	struct melyint_ring *rings;
	void *names, *stacks, *stamps, *copy;
	size_t i;

	(void)carve(&at, sizeof *tracer);
	rings = carve(&at, n * sizeof rings[0]);
	names = carve(&at, MELYINT_TRACE_NAMES * sizeof tracer->names[0]);
	stacks = carve(&at, (n - 1) * MELYINT_FATAL_STACK);
	stamps = carve(&at, records * sizeof(uint64_t));
	copy = carve(&at, melyint_trace_copy_size(tracer->rings_count));
	for (i = 0; i < n; i++) {
		void *ring = carve(&at, words);

		if (dry)
			continue;
		rings[i].words = ring;
		rings[i].mask = records - 1;
	}
	if (!dry) {
		tracer->rings = rings;
		tracer->names = names;
		tracer->stacks = stacks;
		rings[n - 1].stamps = stamps;
		tracer->copy = copy;
	}
	return (size_t)(at - (char *)tracer);
}

/* A of NOTE(tracer). Under the lock. */
static int
obtain(struct mely_runtime *rt, struct melyint_tracer **out)
{
	struct melyint_tracer *tracer = MELY_LOAD(&rt->look.tracer, relaxed); /* under the lock */
	struct melyint_tracer plan = {.rings_count = rt->cores_count + 1};
	uint64_t records = 1;
	size_t size;

	*out = tracer;
	if (tracer != NULL)
		return 0;
	while (records < rt->config.trace_events)
		records *= 2;
	size = lay_out(&plan, records, true);
	/* Pages that are never written cost nothing. */
	tracer = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (tracer == MAP_FAILED)
		return -ENOMEM;
	tracer->magic = MELYINT_TRACER_MAGIC;
	tracer->rt = rt;
	tracer->rings_count = plan.rings_count;
	tracer->sample = rt->config.trace_sample;
	tracer->map_size = size;
	(void)lay_out(tracer, records, false);
	pthread_mutex_init(&tracer->names_lock, NULL);
	/* release: pairs with the acquire in observe.c:tracer_of */
	MELY_STORE(&rt->look.tracer, tracer, release);
	*out = tracer;
	return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The writer must not look them up itself: E of NOTE(handlers). */
static void
find_handler_names(void)
{
	uint32_t end = melyint_handlers_end(), i;

	for (i = 1; i < end; i++)
		(void)melyint_handler_name(i); /* its entry keeps it */
}

static void
note_name(struct melyint_tracer *tracer, const struct mely_color *color, const char *name,
    uint64_t ticks)
{
	bool object = mely_color_is_object(color);
	uint64_t count;

	pthread_mutex_lock(&tracer->names_lock);
	count = MELY_LOAD(&tracer->names_count, relaxed); /* under the lock */
	if (count < MELYINT_TRACE_NAMES) {
		struct melyint_trace_name *to = &tracer->names[count];

		to->color = object ? (uint64_t)(uintptr_t)color : mely_color_id(color);
		to->flags = object ? MELYINT_TRACE_OBJECT : 0;
		to->ticks = ticks;
		snprintf(to->name, sizeof to->name, "%s", name != NULL ? name : "");
		/* release: pairs with the acquire in write.c:put_all */
		MELY_STORE(&tracer->names_count, count + 1, release);
	}
	pthread_mutex_unlock(&tracer->names_lock);
}

void
melyint_trace_named(struct mely_runtime *rt, const struct mely_color *color, const char *name)
{
	/* acquire: pairs with the release in obtain */
	struct melyint_tracer *tracer = MELY_LOAD(&rt->look.tracer, acquire);

	/* acquire: pairs with the release in mely_trace_start */
	if (MELY_UNLIKELY(tracer != NULL) && MELY_LOAD(&tracer->on, acquire))
		note_name(tracer, color, name, melyint_ticks());
}

/* A name that a color already has when the trace begins. */
static void
note_old_name(void *arg, const struct mely_color *color, const char *name)
{
	struct melyint_tracer *tracer = arg;

	note_name(tracer, color, name, tracer->start_ticks);
}

/* ---- the path -------------------------------------------------------------------------------- */

/* Write path to `to` as an absolute path, with %p and %% replaced. */
static int
expand(const char *path, char *to, size_t size)
{
	size_t used = 0;

	if (path == NULL || path[0] == '\0')
		return -EINVAL;
	if (path[0] != '/') {
		if (getcwd(to, size) == NULL)
			return -errno;
		used = strlen(to);
		to[used++] = '/';
	}
	for (; *path != '\0'; path++) {
		if (used + 16 > size)
			return -ENAMETOOLONG;
		if (*path != '%') {
			to[used++] = *path;
			continue;
		}
		path++;
		if (*path == 'p')
			used += (size_t)snprintf(to + used, size - used, "%ld", (long)getpid());
		else if (*path == '%')
			to[used++] = '%';
		else
			return -EINVAL;
	}
	to[used] = '\0';
	return 0;
}

/* Set the paths of the trace, and check that the file can be created. */
static int
settle_path(struct melyint_tracer *tracer, const char *path)
{
	char suffix[32];
	struct stat st;
	bool exists;
	int fd, error;

	/* Other processes may trace to the same path, for example forked ones. */
	snprintf(suffix, sizeof suffix, ".%ld.tmp", (long)getpid());
	error = expand(path, tracer->path, sizeof tracer->path - sizeof suffix);
	if (error != 0)
		return error;
	exists = stat(tracer->path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode))
		return -EISDIR;
	/* A pipe or a device is written in place. */
	memcpy(tracer->temporary, tracer->path, sizeof tracer->path);
	if (exists && !S_ISREG(st.st_mode))
		return access(tracer->path, W_OK) == 0 ? 0 : -errno;
	memcpy(tracer->temporary + strlen(tracer->temporary), suffix, strlen(suffix) + 1);
	fd = melyint_fd_high(open(tracer->temporary, MELYINT_TRACE_MAKE, 0666));
	if (fd < 0)
		return -errno;
	close(fd);
	(void)unlink(tracer->temporary); /* this was only a test */
	return 0;
}

/* ---- start and stop -------------------------------------------------------------------------- */

/* Under the lock. */
static int
start(struct mely_runtime *rt, const char *path)
{
	struct melyint_tracer *tracer;
	int error, i;

	/* acquire: pairs with the store in the child of a fork */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED)
		return -ECHILD;
	error = obtain(rt, &tracer);
	if (error != 0)
		return error;
	if (MELY_LOAD(&tracer->on, relaxed)) /* under the lock */
		return -EBUSY;
	error = settle_path(tracer, path);
	if (error != 0)
		return error;
	find_handler_names();
	tracer->pid = getpid();
	for (i = 0; i < tracer->rings_count; i++) {
		/* relaxed: a record that is being written now is older */
		tracer->rings[i].from = MELY_LOAD(&tracer->rings[i].head, relaxed);
	}
	MELY_STORE(&tracer->names_count, 0, relaxed); /* unread: no trace is on */
	tracer->start_ns = melyint_now_ns();
	tracer->start_ticks = melyint_ticks();
	/* release: B of NOTE(tracer), pairs with the acquire in observe.c:tracer_of */
	MELY_STORE(&tracer->on, true, release);
	melyint_colorext_each_name(rt->colorext, note_old_name, tracer);
	melyint_fatal_watch(tracer);
#ifndef MELYINT_SIM
	MELY_ADD(&melyint_observing, 1, relaxed); /* a hint: cores see it sooner or later */
#endif
	return 0;
}

/* Under the lock. -EALREADY: no trace is on. */
static int
stop(struct mely_runtime *rt, const char *why)
{
	struct melyint_tracer *tracer = MELY_LOAD(&rt->look.tracer, relaxed); /* under the lock */
	int error = 0;

	if (tracer == NULL || !MELY_LOAD(&tracer->on, relaxed)) /* as above */
		return -EALREADY;
	/* acquire: C of NOTE(tracer), pairs with the release below */
	if (!MELY_EXCHANGE(&tracer->writing, true, acquire)) {
		find_handler_names();
		error = melyint_trace_write(tracer, why);
		MELY_STORE(&tracer->on, false, relaxed); /* late records do not count */
		melyint_fatal_unwatch(tracer);
		/* release: pairs with the acquire above */
		MELY_STORE(&tracer->writing, false, release);
	}
#ifndef MELYINT_SIM
	MELY_SUB(&melyint_observing, 1, relaxed); /* as in start */
#endif
	if (error != 0)
		melyint_say("trace %s: %s", tracer->path, strerror(-error));
	return error;
}

int
mely_trace_start(struct mely_runtime *rt, const char *path)
{
	int error;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	melyint_exit_prepare();
	pthread_mutex_lock(&trace_lock);
	error = start(rt, path);
	pthread_mutex_unlock(&trace_lock);
	return error;
}

int
mely_trace_stop(struct mely_runtime *rt)
{
	int error;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	pthread_mutex_lock(&trace_lock);
	error = stop(rt, "stop");
	pthread_mutex_unlock(&trace_lock);
	return error;
}

/* ---- the life of a runtime ------------------------------------------------------------------- */

void
melyint_trace_begin(struct mely_runtime *rt)
{
	static _Atomic unsigned made MELY_LASTING; /* traces begun by the environment */
	char path[PATH_MAX];
	unsigned n;
	int error;

	if (rt->config.trace == NULL || rt->config.trace[0] == '\0')
		return;
	n = MELY_ADD(&made, 1, relaxed) + 1; /* only to be unique */
	if (n == 1)
		snprintf(path, sizeof path, "%s", rt->config.trace);
	else
		snprintf(path, sizeof path, "%s.%u", rt->config.trace, n);
	error = mely_trace_start(rt, path);
	if (error != 0)
		melyint_say("trace %s: %s; nothing is traced", path, strerror(-error));
}

void
melyint_trace_end(struct mely_runtime *rt)
{
	struct melyint_tracer *tracer;

	pthread_mutex_lock(&trace_lock);
	(void)stop(rt, "free"); /* it reports its errors */
	pthread_mutex_unlock(&trace_lock);
	tracer = MELY_LOAD(&rt->look.tracer, relaxed); /* no other thread has the runtime */
	if (tracer == NULL)
		return;
	pthread_mutex_destroy(&tracer->names_lock);
	munmap(tracer, tracer->map_size);
}

void
melyint_trace_exit(struct mely_runtime *rt)
{
	pthread_mutex_lock(&trace_lock);
	(void)stop(rt, "exit"); /* as above */
	pthread_mutex_unlock(&trace_lock);
}

void
melyint_trace_fork(struct mely_runtime *rt)
{
	struct melyint_tracer *tracer = MELY_LOAD(&rt->look.tracer, relaxed); /* one thread */

	/* Threads of the parent may have held them. */
	pthread_mutex_init(&trace_lock, NULL);
	melyint_fatal_fork();
	if (tracer == NULL)
		return;
	pthread_mutex_init(&tracer->names_lock, NULL);
	/* relaxed, all: one thread */
	MELY_STORE(&tracer->writing, false, relaxed);
#ifndef MELYINT_SIM
	if (MELY_LOAD(&tracer->on, relaxed))
		MELY_SUB(&melyint_observing, 1, relaxed);
#endif
	MELY_STORE(&tracer->on, false, relaxed);
}
