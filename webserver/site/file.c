/* SPDX-License-Identifier: MIT */
/*
 * file.c: the kernel resolves each path beneath the root (openat2), so neither "..", nor a link,
 * nor a concurrent rename leads out of it. Nothing is checked afterwards, so nothing can race with
 * a check.
 *
 * Without openat2 (kernels before 5.6, some sandboxes, valgrind) sws opens a path step by step and
 * follows no links: it serves less, but nothing outside the root.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/notice.h"
#include "http/path.h"
#include "site/file.h"

#define INDEX "index.html"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Open a path without openat2. It is in normal form, so no step leads up. */
static int
open_by_steps(int root_fd, const char *path)
{
	int dir = root_fd, fd, error;

	SWS_ASSERT(path[0] != '/');
	for (;;) {
		const char *slash = strchr(path, '/');
		char step[NAME_MAX + 1];

		if (slash == NULL || slash[1] == '\0')
			break;
		fd = -1;
		error = ENAMETOOLONG;
		if ((size_t)(slash - path) < sizeof step) {
			memcpy(step, path, (size_t)(slash - path));
			step[slash - path] = '\0';
			/* Nothing but the normal form keeps the steps beneath the root. */
			SWS_ASSERT(slash > path && strcmp(step, "..") != 0);
			fd = openat(dir, step, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			error = errno;
		}
		if (dir != root_fd)
			close(dir);
		if (fd < 0)
			return -error;
		dir = fd;
		path = slash + 1;
	}
	SWS_ASSERT(path[0] != '\0' && strncmp(path, "..", 3) != 0);
	fd = openat(dir, path, OPEN_FLAGS | O_NOFOLLOW);
	/* A link at the end: the error of openat2 for a link that leads out. */
	error = errno == ELOOP ? EXDEV : errno;
	if (dir != root_fd)
		close(dir);
	return fd >= 0 ? fd : -error;
}

static int
open_beneath(int root_fd, const char *path)
{
	/* O_NONBLOCK: opening a FIFO or device must not block the core; fstat rejects it later. */
	struct open_how how = {
		.flags = OPEN_FLAGS,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	SWS_ASSERT(root_fd >= 0 && path[0] != '/');
	/* EAGAIN: a rename raced with the resolution of a ".." in a link. A few attempts suffice
	 * unless renames never stop. */
	for (int tries = 0; tries < 4; tries++) {
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_steps(root_fd, path);
	return fd >= 0 ? (int)fd : -errno;
}

int
sws_root_open(const char *path, int *fd)
{
	int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), probe;

	if (root < 0)
		return -errno;
	probe = open_beneath(root, ".");
	if (probe < 0) {
		close(root);
		return probe;
	}
	close(probe);
	*fd = root;
	return 0;
}

static int
status_of(int error)
{
	SWS_ASSERT(error > 0);
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return -404;
	case EACCES:
	case EPERM:
	case EXDEV:
	case ENXIO:
	case ENODEV:
		return -403;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EAGAIN:
		sws_notice(SWS_NOTICE_FILES, error);
		return -503;
	default:
		sws_notice(SWS_NOTICE_FILES, error);
		return -500;
	}
}

int
sws_file_open(int root_fd, const char *key, size_t len, int *fd, struct stat *st)
{
	const char *suffix, *index;
	char name[PATH_MAX];

	SWS_ASSERT(len > 0 && key[0] == '/');
	suffix = http_coding_suffix(sws_key_parts(key, len).coding);
	len = sws_key_parts(key, len).path_len;
	index = key[len - 1] == '/' ? INDEX : "";
	/* A zero byte in it would end the name early, and name another file. */
	SWS_DEBUG_ASSERT(http_path_is_normal(key, len));
	*fd = -1;
	/* Relative to the root: without the slash in front. */
	if (snprintf(name, sizeof name, "%.*s%s%s", (int)(len - 1), key + 1, index, suffix)
	    >= (int)sizeof name)
		return -404;
	*fd = open_beneath(root_fd, name);
	if (*fd < 0)
		return status_of(-*fd);
	if (fstat(*fd, st) == 0) {
		if (S_ISREG(st->st_mode))
			return SWS_FILE_REGULAR;
		if (S_ISDIR(st->st_mode)) {
			close(*fd);
			*fd = -1;
			/* Only the path itself is redirected, not a file of it. */
			return *index != '\0' || *suffix != '\0' ? -404 : SWS_FILE_DIRECTORY;
		}
	}
	close(*fd);
	*fd = -1;
	return -403;
}
