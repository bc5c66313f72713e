/* SPDX-License-Identifier: MIT */
/*
 * scarce_shim.c: for LD_PRELOAD: a program whose memory, disk or threads fail when a test wants it.
 * SCARCE names a file of struct control that both have mapped.
 *
 * libev ends the program when it gets no memory, and has no other way; its calls never fail here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

/* The test writes all but the counts. 0: nothing fails. */
struct control {
	_Atomic(int64_t) memory_at;  /* this allocation, counted down; 1: the next */
	_Atomic(int64_t) memory_all; /* and all that follow it */
	_Atomic(int64_t) memory_failed;
	_Atomic(int64_t) disk_error; /* of each read of a file */
	_Atomic(int64_t) disk_failed;
	_Atomic(int64_t) no_threads;
	_Atomic(int64_t) threads_failed;
};

static struct control none, *control = &none;
static uintptr_t spared_from, spared_to;

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void (*real_free)(void *);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_preadv2)(int, const struct iovec *, int, off_t, int);
static ssize_t (*real_sendfile)(int, int, off_t *, size_t);
static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* dlsym may allocate before it has found calloc. */
static char early[65536];
static size_t early_used;

static void *
early_alloc(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	return early_used <= sizeof early ? p : NULL;
}

static int
find_spared(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (strstr(info->dlpi_name, "libev.") == NULL)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
			spared_from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			spared_to = spared_from + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static void
find_all(void)
{
	if (real_free != NULL)
		return;
	*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	*(void **)&real_pread = dlsym(RTLD_NEXT, "pread64");
	*(void **)&real_preadv2 = dlsym(RTLD_NEXT, "preadv64v2");
	*(void **)&real_sendfile = dlsym(RTLD_NEXT, "sendfile64");
	*(void **)&real_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)&real_free = dlsym(RTLD_NEXT, "free");
}

static __attribute__((constructor)) void
begin(void)
{
	const char *name = getenv("SCARCE");
	int fd = name != NULL ? open(name, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd >= 0 ? mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
	    : MAP_FAILED;

	find_all();
	dl_iterate_phdr(find_spared, NULL);
	if (fd >= 0)
		close(fd);
	if (p != MAP_FAILED)
		control = p;
}

static bool
fails(void *caller)
{
	uintptr_t at = (uintptr_t)caller;
	int64_t left;

	if (atomic_load(&control->memory_at) == 0 || (at >= spared_from && at < spared_to))
		return false;
	left = atomic_fetch_sub(&control->memory_at, 1);
	if (left > 1)
		return false;
	if (left < 1) {
		/* Another thread was faster. */
		atomic_fetch_add(&control->memory_at, 1);
		return false;
	}
	if (atomic_load(&control->memory_all))
		atomic_store(&control->memory_at, 1);
	atomic_fetch_add(&control->memory_failed, 1);
	errno = ENOMEM;
	return true;
}

#define OR_FAIL(call) (fails(__builtin_return_address(0)) ? NULL : (call))

void *
malloc(size_t size)
{
	if (real_malloc == NULL)
		return early_alloc(size);
	return OR_FAIL(real_malloc(size));
}

void *
calloc(size_t count, size_t size)
{
	if (real_calloc == NULL)
		return early_alloc(count * size);
	return OR_FAIL(real_calloc(count, size));
}

void *
realloc(void *p, size_t size)
{
	find_all();
	if ((char *)p >= early && (char *)p < early + sizeof early)
		return memcpy(real_malloc(size), p, size);
	return OR_FAIL(real_realloc(p, size));
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return OR_FAIL(real_aligned_alloc(alignment, size));
}

void
free(void *p)
{
	if (real_free != NULL && ((char *)p < early || (char *)p >= early + sizeof early))
		real_free(p);
}

static bool
disk_fails(void)
{
	int64_t error = atomic_load(&control->disk_error);

	if (error == 0)
		return false;
	atomic_fetch_add(&control->disk_failed, 1);
	errno = (int)error;
	return true;
}

ssize_t
pread(int fd, void *to, size_t len, off_t at)
{
	return disk_fails() ? -1 : real_pread(fd, to, len, at);
}

ssize_t
pread64(int fd, void *to, size_t len, off_t at)
{
	return disk_fails() ? -1 : real_pread(fd, to, len, at);
}

ssize_t
preadv2(int fd, const struct iovec *iov, int count, off_t at, int flags)
{
	return disk_fails() ? -1 : real_preadv2(fd, iov, count, at, flags);
}

ssize_t
preadv64v2(int fd, const struct iovec *iov, int count, off_t at, int flags)
{
	return disk_fails() ? -1 : real_preadv2(fd, iov, count, at, flags);
}

ssize_t
sendfile(int to, int fd, off_t *at, size_t len)
{
	return disk_fails() ? -1 : real_sendfile(to, fd, at, len);
}

ssize_t
sendfile64(int to, int fd, off_t *at, size_t len)
{
	return disk_fails() ? -1 : real_sendfile(to, fd, at, len);
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	if (atomic_load(&control->no_threads)) {
		atomic_fetch_add(&control->threads_failed, 1);
		return EAGAIN;
	}
	return real_pthread_create(thread, attr, fn, arg);
}
