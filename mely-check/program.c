/* SPDX-License-Identifier: MIT */
/*
 * program.c: examine a binary. The names that it defines, imports and needs are in its string
 * tables, each ended by a zero byte. This file searches them as text, so that a stripped binary and
 * one without section headers need no special case.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "text.h"

/* The checker keeps this string in the library (mely/check/check.c). */
static const char mark[] = "mely-color-checker", other_mark[] = "melyint_check_posted";

/* The file that execvp would run; NULL with errno. */
static const char *
find(const char *name)
{
	const char *at = getenv("PATH"), *end, *path;

	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == 0 ? name : NULL;
	for (at = at != NULL ? at : "/usr/bin:/bin"; *at != '\0';
	     at = *end == ':' ? end + 1 : end) {
		end = at + strcspn(at, ":");
		path = text_format("%.*s/%s", end > at ? (int)(end - at) : 1, end > at ? at : ".",
		    name);
		if (access(path, X_OK) == 0)
			return path;
	}
	errno = ENOENT;
	return NULL;
}

static bool
contains(const char *data, size_t size, const char *text, size_t length)
{
	return memmem(data, size, text, length) != NULL;
}

static void
look_inside(struct program *program, const char *data, size_t size)
{
	static const char init[] = "__tsan_init", runtime[] = "libtsan.so";
	static const char needed[] = "\0libmely.so", other[] = "\0libmely-libasync.so";
	static const char with_checker[] = "\0libmely-check.so";

	program->elf = size > SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
	if (!program->elf)
		return;
	program->instrumented = contains(data, size, init, sizeof init);
	program->clang = program->instrumented
	    && !contains(data, size, runtime, sizeof runtime - 1);
	program->shared_library = contains(data, size, needed, sizeof needed - 1) ||
	    contains(data, size, other, sizeof other - 1);
	program->checker = contains(data, size, mark, sizeof mark - 1) ||
	    contains(data, size, other_mark, sizeof other_mark) ||
	    contains(data, size, with_checker, sizeof with_checker - 1);
}

int
program_look(struct program *program, const char *name)
{
	struct stat st;
	void *data;
	int fd;

	memset(program, 0, sizeof *program);
	program->path = find(name);
	if (program->path == NULL)
		return -errno;
	fd = open(program->path, O_RDONLY | O_CLOEXEC);
	/* Run a file as it is that can be run but not read. */
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		close(fd);
		return S_ISREG(st.st_mode) ? 0 : -EACCES;
	}
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return -errno;
	look_inside(program, data, (size_t)st.st_size);
	munmap(data, (size_t)st.st_size);
	return 0;
}
