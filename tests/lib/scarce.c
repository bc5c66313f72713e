/* SPDX-License-Identifier: MIT */
/*
 * scarce.c: libc's allocator, with a counter in front. glibc exports it under other names.
 */
#include "test.h"
#include "scarce.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 32, CHILD_SECONDS = 100 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

struct calls {
	int count;
	void *frame[FRAMES];
};

/* What a child tells its parent. */
static struct {
	atomic_bool failed;
	struct calls asked;     /* the thread whose allocation fails first writes it */
	struct calls died;      /* the thread that gets a deadly signal writes it */
} *told;

static atomic_long left = LONG_MIN;  /* allocations until the one that fails; any thread */
static long nth;                     /* the one that fails in the next child */
static bool more;                    /* and all that follow it */
static _Thread_local unsigned spared;
static int (*thread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* ---- the allocator --------------------------------------------------------------------------- */

static void
note(struct calls *calls)
{
	spared++;
	calls->count = backtrace(calls->frame, FRAMES);
	spared--;
}

static bool
refused(void)
{
	long mine;

	/* relaxed: each allocation takes a number of its own, nothing else is announced */
	if (spared > 0 || atomic_load_explicit(&left, memory_order_relaxed) == LONG_MIN)
		return false;
	mine = atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed);
	if (mine > 0 || (mine < 0 && !more))
		return false;
	if (mine == 0)
		note(&told->asked);
	/* release: pairs with the load in scarce_failed */
	atomic_store_explicit(&told->failed, true, memory_order_release);
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t size)
{
	return refused() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	return refused() ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
	return size != 0 && refused() ? NULL : __libc_realloc(old, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return refused() ? NULL : __libc_memalign(alignment, size);
}

void *
memalign(size_t alignment, size_t size)
{
	return refused() ? NULL : __libc_memalign(alignment, size);
}

int
posix_memalign(void **p, size_t alignment, size_t size)
{
	*p = refused() ? NULL : __libc_memalign(alignment, size);
	return *p != NULL ? 0 : ENOMEM;
}

void *
mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (refused())
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return refused() ? EAGAIN : thread_create(thread, attr, fn, arg);
}

/* The kernel needs memory, too. */

int
epoll_create1(int flags)
{
	return refused() ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

int
epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	return op == EPOLL_CTL_ADD && refused() ? -1 :
	    (int)syscall(SYS_epoll_ctl, set, op, fd, event);
}

int
eventfd(unsigned count, int flags)
{
	return refused() ? -1 : (int)syscall(SYS_eventfd2, count, flags);
}

int
timerfd_create(int clock, int flags)
{
	return refused() ? -1 : (int)syscall(SYS_timerfd_create, clock, flags);
}

/* ---- in the child ---------------------------------------------------------------------------- */

void
scarce_begin(void)
{
	atomic_store_explicit(&left, nth, memory_order_relaxed); /* threads start later */
}

void
scarce_end(void)
{
	atomic_store_explicit(&left, LONG_MIN, memory_order_relaxed);
}

bool
scarce_failed(void)
{
	/* acquire: pairs with the store in refused */
	return atomic_load_explicit(&told->failed, memory_order_acquire);
}

static void
on_death(int signum)
{
	note(&told->died);
	signal(signum, SIG_DFL);
	raise(signum);
}

void
scarce_spare(void)
{
	spared++;
}

void
scarce_spare_end(void)
{
	spared--;
}

/* ---- the parent ------------------------------------------------------------------------------ */

void
scarce_init(void)
{
	void *frame[1];

	thread_create = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
	    dlsym(RTLD_NEXT, "pthread_create");
	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TEST_CHECK(thread_create != NULL && told != MAP_FAILED);
	(void)backtrace(frame, 1); /* its first call loads a library */
}

static bool
passes(const struct calls *calls, const char *library)
{
	Dl_info info;
	int i;

	for (i = 0; i < calls->count; i++) {
		if (dladdr(calls->frame[i], &info) != 0 && strstr(info.dli_fname, library) != NULL)
			return true;
	}
	return false;
}

static void
print(const char *what, const struct calls *calls)
{
	Dl_info info;
	int i;

	if (calls->count > 0)
		fprintf(stderr, "%s\n", what);
	for (i = 0; i < calls->count; i++) {
		if (dladdr(calls->frame[i], &info) != 0)
			fprintf(stderr, "  %s +%#zx %s\n", info.dli_fname,
			    (size_t)((char *)calls->frame[i] - (char *)info.dli_fbase),
			    info.dli_sname != NULL ? info.dli_sname : "");
	}
}

static int
child(void (*scenario)(void))
{
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	static const struct rlimit no_core = {0, 0};
	int status = 0;
	unsigned i;
	pid_t pid;

	memset(told, 0, sizeof *told);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		alarm((test_long() ? 2 : 1) * CHILD_SECONDS);
		TEST_OK(setrlimit(RLIMIT_CORE, &no_core));
		for (i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
			signal(deadly[i], on_death);
		scenario();
		_exit(0);
	}
	TEST_CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

void
scarce_each(void (*scenario)(void), bool and_more, const struct scarce_fault *fault)
{
	unsigned deaths = 0;
	int status;

	more = and_more;
	for (nth = 0;; nth++) {
		status = child(scenario);
		if (fault != NULL && WIFSIGNALED(status) && passes(&told->died, fault->library)) {
			deaths++;
			continue;
		}
		if (status != 0) {
			fprintf(stderr, "allocation %ld%s fails: %s\n", nth + 1,
			    more ? " and all that follow" : "",
			    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "a failed check");
			print("asked for by", &told->asked);
			print("died in", &told->died);
			TEST_CHECK(status == 0);
		}
		if (!scarce_failed())
			break;
	}
	printf("%ld allocations failed, each in a process of its own\n", nth);
	if (deaths > 0)
		printf("%u of these processes died in %s: %s\n", deaths, fault->library,
		    fault->why);
	TEST_CHECK(nth > 0);
}
