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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 32, CHILD_SECONDS = 100 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* What a child tells its parent. */
static struct {
	atomic_bool failed;
	int frames;             /* the thread whose allocation fails writes both */
	void *frame[FRAMES];
} *told;

static atomic_long left = LONG_MIN;  /* allocations until the one that fails; any thread */
static long nth;                     /* the one that fails in the next child */
static _Thread_local unsigned spared;
static int (*thread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* ---- the allocator --------------------------------------------------------------------------- */

static bool
refused(void)
{
	/* relaxed: each allocation takes a number of its own, nothing else is announced */
	if (spared > 0 || atomic_load_explicit(&left, memory_order_relaxed) < 0 ||
	    atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed) != 0)
		return false;
	spared++;
	told->frames = backtrace(told->frame, FRAMES);
	spared--;
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

/* ---- in the child ---------------------------------------------------------------------------- */

void
scarce_begin(void)
{
	atomic_store_explicit(&left, nth, memory_order_relaxed); /* threads start later */
}

bool
scarce_failed(void)
{
	/* acquire: pairs with the store in refused */
	return atomic_load_explicit(&told->failed, memory_order_acquire);
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
asked_by(const char *library)
{
	Dl_info info;
	int i;

	for (i = 0; library != NULL && i < told->frames; i++) {
		if (dladdr(told->frame[i], &info) != 0 && strstr(info.dli_fname, library) != NULL)
			return true;
	}
	return false;
}

static void
tell(int status)
{
	Dl_info info;
	int i;

	if (WIFSIGNALED(status))
		fprintf(stderr, "allocation %ld fails: %s; asked for by\n", nth + 1,
		    strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "allocation %ld fails: exit status %d; asked for by\n", nth + 1,
		    WEXITSTATUS(status));
	for (i = 0; i < told->frames; i++) {
		if (dladdr(told->frame[i], &info) != 0)
			fprintf(stderr, "  %s +%#zx %s\n", info.dli_fname,
			    (size_t)((char *)told->frame[i] - (char *)info.dli_fbase),
			    info.dli_sname != NULL ? info.dli_sname : "");
	}
}

unsigned
scarce_each(void (*scenario)(void), const char *known)
{
	unsigned excused = 0;
	int status = 0;

	for (nth = 0;; nth++) {
		pid_t pid;

		memset(told, 0, sizeof *told);
		pid = fork();
		TEST_CHECK(pid >= 0);
		if (pid == 0) {
			alarm((test_long() ? 2 : 1) * CHILD_SECONDS);
			scenario();
			_exit(0);
		}
		TEST_CHECK(waitpid(pid, &status, 0) == pid);
		if (status != 0 && scarce_failed() && asked_by(known)) {
			excused++;
			continue;
		}
		if (status != 0) {
			tell(status);
			TEST_CHECK(status == 0);
		}
		if (!scarce_failed())
			break;
	}
	printf("%ld allocations failed, each in a process of its own", nth);
	printf(excused > 0 ? "; %u of them, in %s, ended it\n" : "\n", excused, known);
	TEST_CHECK(nth > 0);
	return excused;
}
