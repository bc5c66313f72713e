/* SPDX-License-Identifier: MIT */
/*
 * file.c: the kernel resolves each path beneath the root (openat2), so neither "..", nor a link,
 * nor a concurrent rename leads out of it. Nothing is checked afterwards, so nothing can race with
 * a check. An operator may allow links that lead out; a path, in normal form, still cannot.
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
#include <time.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/notice.h"
#include "http/path.h"
#include "site/file.h"

/* O_NONBLOCK: opening a FIFO or device must not block the core; fstat rejects it later. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define DIRECTORY_FLAGS (O_RDONLY | O_CLOEXEC | O_DIRECTORY)

/* Open a path without openat2. It is in normal form, so no step leads up. */
static int
open_by_steps(int root_fd, const char *path, int flags)
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
	fd = openat(dir, path, flags | O_NOFOLLOW);
	/* A link at the end: the error of openat2 for a link that leads out. */
	error = errno == ELOOP ? EXDEV : errno;
	if (dir != root_fd)
		close(dir);
	return fd >= 0 ? fd : -error;
}

static int
open_beneath(const struct sws_root *root, const char *path, int flags)
{
	static const uint64_t resolve[] = {
		[SWS_SYMLINKS_BENEATH] = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
		[SWS_SYMLINKS_NONE] = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
		[SWS_SYMLINKS_FOLLOW] = RESOLVE_NO_MAGICLINKS
	};
	struct open_how how = {.flags = (uint64_t)flags, .resolve = resolve[root->symlinks]};
	long fd;

	SWS_ASSERT(root->fd >= 0 && path[0] != '/');
	/* EAGAIN: a rename raced with the resolution of a ".." in a link. A few attempts suffice
	 * unless renames never stop. */
	for (int tries = 0; tries < 4; tries++) {
		fd = syscall(SYS_openat2, root->fd, path, &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_steps(root->fd, path, flags);
	return fd >= 0 ? (int)fd : -errno;
}

int
sws_root_open(struct sws_root *root, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), probe;

	SWS_ASSERT(root->index != NULL);
	root->fd = fd;
	if (fd < 0)
		return -errno;
	probe = open_beneath(root, ".", OPEN_FLAGS);
	if (probe < 0) {
		close(fd);
		root->fd = -1;
		return probe;
	}
	close(probe);
	return 0;
}

int64_t
sws_file_unrest_ns(const struct stat *st)
{
	struct timespec now;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	/* Seconds first: a time from anywhere must not overflow. One ahead of the clock says
	 * nothing. */
	if (now.tv_sec - st->st_mtim.tv_sec > 1 || now.tv_sec < st->st_mtim.tv_sec)
		return 0;
	age = (now.tv_sec - st->st_mtim.tv_sec) * INT64_C(1000000000) + now.tv_nsec
	    - st->st_mtim.tv_nsec;
	return age >= 0 && age < SWS_REST_NS ? SWS_REST_NS - age : 0;
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

/* ---- indexes ------------------------------------------------------------------------------- */

/* Take the next name from a list. False: there is none. */
static bool
next_name(const char **list, char name[NAME_MAX + 1])
{
	const char *from = *list + strspn(*list, " ");
	size_t len = strcspn(from, " ");

	if (len == 0 || len > NAME_MAX)
		return false;
	memcpy(name, from, len);
	name[len] = '\0';
	*list = from + len;
	return true;
}

const char *
sws_index_check(const char *names)
{
	char name[NAME_MAX + 1];
	bool any = false;

	while (next_name(&names, name)) {
		any = true;
		if (strchr(name, '/') != NULL || name[0] == '.')
			return "a name has a slash, or begins with a dot";
		for (const char *p = name; *p != '\0'; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				return "a name has a control byte";
	}
	return any && names[strspn(names, " ")] == '\0' ? NULL
	    : "not a list of names of files, such as 'index.html index.htm'";
}

/* Open a file by a path relative to the root, with two more parts. A descriptor, or -errno. */
static int
open_parts(const struct sws_root *root, const char *path, size_t len, const char *name,
    const char *suffix)
{
	char all[PATH_MAX];

	if (snprintf(all, sizeof all, "%.*s%s%s", (int)len, path, name, suffix)
	    >= (int)sizeof all)
		return -ENAMETOOLONG;
	return open_beneath(root, all, OPEN_FLAGS);
}

/*
 * Open the index of a directory, or with a suffix the file beside it. The first name that exists
 * counts, with any suffix: one beside a name that comes later is of another file.
 */
static int
open_index(const struct sws_root *root, const char *path, size_t len, const char *suffix)
{
	const char *names = root->index;
	char name[NAME_MAX + 1];
	int fd = -ENOENT;

	while (next_name(&names, name)) {
		bool last = names[strspn(names, " ")] == '\0';

		if (*suffix != '\0' && !last) {
			fd = open_parts(root, path, len, name, "");
			if (fd >= 0)
				close(fd);
		} else {
			fd = open_parts(root, path, len, name, suffix);
		}
		if (fd >= 0 || (fd != -ENOENT && fd != -ENOTDIR))
			return *suffix != '\0' && !last && fd >= 0
			    ? open_parts(root, path, len, name, suffix) : fd;
	}
	return fd;
}

const char *
sws_index_name(const struct sws_root *root, const char *path, size_t len, const char *suffix,
    const struct stat *st, char name[NAME_MAX + 1])
{
	const char *names = root->index;
	struct stat other;

	SWS_ASSERT(len > 0 && path[len - 1] == '/');
	while (next_name(&names, name)) {
		bool same = names[strspn(names, " ")] == '\0';
		int fd = same ? -1 : open_parts(root, path + 1, len - 1, name, suffix);

		if (fd >= 0) {
			same = fstat(fd, &other) == 0 && other.st_dev == st->st_dev
			    && other.st_ino == st->st_ino;
			close(fd);
		}
		if (same)
			break;
	}
	return name;
}

/* ---- opening ------------------------------------------------------------------------------- */

int
sws_directory_open(const struct sws_root *root, const char *path, size_t len)
{
	char name[PATH_MAX] = ".";
	int fd;

	SWS_ASSERT(len > 0 && path[0] == '/' && path[len - 1] == '/');
	SWS_DEBUG_ASSERT(http_path_is_normal(path, len));
	if (len > 1 && snprintf(name, sizeof name, "%.*s", (int)(len - 2), path + 1)
	    >= (int)sizeof name)
		return -404;
	fd = open_beneath(root, name, DIRECTORY_FLAGS);
	return fd >= 0 ? fd : status_of(-fd);
}

bool
sws_file_stat(const struct sws_root *root, const char *path, const char *name, struct stat *st)
{
	char all[PATH_MAX];
	int fd;
	bool fine;

	SWS_ASSERT(path[0] == '/' && strchr(name, '/') == NULL);
	if (snprintf(all, sizeof all, "%s%s", path + 1, name) >= (int)sizeof all)
		return false;
	fd = open_beneath(root, all, O_PATH | O_CLOEXEC);
	fine = fd >= 0 && fstat(fd, st) == 0;
	if (fd >= 0)
		close(fd);
	return fine;
}

int
sws_file_open(const struct sws_root *root, const char *key, size_t len, int *fd, struct stat *st)
{
	const char *suffix;
	bool index;

	SWS_ASSERT(len > 0 && key[0] == '/');
	suffix = http_coding_suffix(sws_key_parts(key, len).coding);
	len = sws_key_parts(key, len).path_len;
	index = key[len - 1] == '/';
	/* A zero byte in it would end the name early, and name another file. */
	SWS_DEBUG_ASSERT(http_path_is_normal(key, len));
	/* Relative to the root: without the slash in front. */
	*fd = index ? open_index(root, key + 1, len - 1, suffix)
	    : open_parts(root, key + 1, len - 1, "", suffix);
	if (*fd < 0) {
		int error = -*fd;

		*fd = -1;
		return status_of(error);
	}
	if (fstat(*fd, st) == 0) {
		if (S_ISREG(st->st_mode))
			return SWS_FILE_REGULAR;
		if (S_ISDIR(st->st_mode)) {
			close(*fd);
			*fd = -1;
			/* Only the path itself is redirected, not a file of it. */
			return index || *suffix != '\0' ? -404 : SWS_FILE_DIRECTORY;
		}
	}
	close(*fd);
	*fd = -1;
	return -403;
}
