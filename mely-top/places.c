/* SPDX-License-Identifier: MIT */
/*
 * places.c: find the sockets of programs. mely/live.h describes the default place.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find.h"

enum { SOCKETS = 1024, LINE = 512 };

/* ---- by file name --------------------------------------------------------------------------- */

/* Whether name is "123.sock" or "123.2.sock" of process pid, or with pid 0 of any process. */
static bool
is_name(const char *name, pid_t pid)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)name[0]))
		return false;
	n = strtol(name, &end, 10);
	if (pid != 0 && n != pid)
		return false;
	if (end[0] == '.' && isdigit((unsigned char)end[1]))
		(void)strtol(end + 1, &end, 10);
	return strcmp(end, ".sock") == 0;
}

static int
by_number(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	const char *nx = strrchr(x->path, '/') + 1, *ny = strrchr(y->path, '/') + 1;
	long px = strtol(nx, NULL, 10), py = strtol(ny, NULL, 10);

	/* The first socket of a process first: "1.sock" before "1.2.sock". */
	if (px != py)
		return px < py ? -1 : 1;
	if (strlen(nx) != strlen(ny))
		return strlen(nx) < strlen(ny) ? -1 : 1;
	return strcmp(nx, ny);
}

/* The library puts no socket into a directory that other users could have made or can write to; so
 * ignore what is in such a directory. */
static bool
is_private(int fd, uid_t user)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 022) == 0 &&
	    (st.st_uid == user || st.st_uid == 0);
}

static int
in_directory(const char *dir, uid_t user, pid_t pid, struct place *places, int most)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	int n = 0, length;

	if (stream == NULL)
		return 0;
	if (!is_private(dirfd(stream), user)) {
		closedir(stream);
		return 0;
	}
	while (n < most && (entry = readdir(stream)) != NULL) {
		if (!is_name(entry->d_name, pid))
			continue;
		length = snprintf(places[n].path, sizeof places[n].path, "%s/%s", dir,
		    entry->d_name);
		if (length > 0 && (size_t)length < sizeof places[n].path)
			n++;
	}
	closedir(stream);
	qsort(places, (size_t)n, sizeof places[0], by_number);
	return n;
}

int
places_named(pid_t pid, uid_t user, struct place *places, int most)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	char dir[4096];
	int n = 0;

	if (run != NULL && run[0] == '/' && user == geteuid()) {
		snprintf(dir, sizeof dir, "%s/mely", run);
		n = in_directory(dir, user, pid, places, most);
	} else {
		/* the place of logind */
		snprintf(dir, sizeof dir, "/run/user/%lu/mely", (unsigned long)user);
		n = in_directory(dir, user, pid, places, most);
	}
	snprintf(dir, sizeof dir, "/tmp/mely-%lu", (unsigned long)user);
	return n + in_directory(dir, user, pid, places + n, most - n);
}

/* ---- by /proc --------------------------------------------------------------------- */

/* Find the open sockets of pid. Returns their number, or a negative errno. */
static int
inodes_of(pid_t pid, uint64_t *inodes)
{
	char dir[64], path[384], target[64];
	struct dirent *entry;
	int n = 0;
	DIR *stream;

	snprintf(dir, sizeof dir, "/proc/%d/fd", (int)pid);
	stream = opendir(dir);
	if (stream == NULL)
		return -errno;
	while (n < SOCKETS && (entry = readdir(stream)) != NULL) {
		ssize_t length;

		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		length = readlink(path, target, sizeof target - 1);
		if (length <= 8)
			continue;
		target[length] = '\0';
		if (strncmp(target, "socket:[", 8) == 0)
			inodes[n++] = strtoull(target + 8, NULL, 10);
	}
	closedir(stream);
	return n;
}

/* The inode of a listening socket with a file, from a line of /proc/net/unix; else 0. */
static uint64_t
listening(char *line, const char **path)
{
	unsigned long flags, type, state;
	unsigned long long inode;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	/* address: references protocol flags type state inode path */
	if (sscanf(line, "%*s %*s %*s %lx %lx %lx %llu %n", &flags, &type, &state, &inode,
	    &at) < 4 || at == 0)
		return 0;
	*path = line + at;
	if (!(flags & 0x10000) || type != 1 || **path == '\0' || **path == '@')
		return 0;
	return inode;
}

int
places_listening(pid_t pid, struct place *places, int most)
{
	static uint64_t inodes[SOCKETS];
	char table[64], line[LINE];
	int found = inodes_of(pid, inodes), n = 0, i, length;
	const char *path = NULL;
	FILE *file;

	if (found < 0)
		return found;
	snprintf(table, sizeof table, "/proc/%d/net/unix", (int)pid);
	file = fopen(table, "r");
	if (file == NULL)
		return -errno;
	while (n < most && fgets(line, sizeof line, file) != NULL) {
		uint64_t inode = listening(line, &path);

		for (i = 0; i < found && (inode == 0 || inodes[i] != inode); i++)
			;
		if (inode == 0 || i == found)
			continue;
		/* A relative path counts from the working directory of the program. */
		length = path[0] == '/' ?
		    snprintf(places[n].path, sizeof places[n].path, "%s", path) :
		    snprintf(places[n].path, sizeof places[n].path, "/proc/%d/cwd/%s", (int)pid,
		        path);
		if (length > 0 && (size_t)length < sizeof places[n].path)
			n++;
	}
	fclose(file);
	return n;
}
