/* SPDX-License-Identifier: MIT */
/*
 * quota.c: the CPU quota of the process: the smallest of its cgroup and of all groups above it, in
 * cgroup v1 and v2. Needs no memory: to miss the quota is to start too many cores. Any thread.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life/life.h"

enum { PATH_SIZE = 4096, TEXT_SIZE = 16384 };

/* What a file holds, as a string; "" if it cannot be read, and cut where it is too long. False when
 * it is "". */
static bool
read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && length < size - 1) {
		n = read(fd, text + length, size - 1 - length);
		length += n > 0 ? (size_t)n : 0;
	}
	text[length] = '\0';
	if (fd >= 0)
		close(fd);
	return length > 0;
}

static int
rounded_up(long long quota, long long period)
{
	if (quota <= 0 || period <= 0)
		return 0;
	return (int)((quota + period - 1) / period);
}

/* cpu.max of a v2 group: "max 100000" or "150000 100000". */
static int
quota_v2(const char *dir)
{
	char path[PATH_SIZE + 32], line[128];
	long long quota, period;

	snprintf(path, sizeof path, "%s/cpu.max", dir);
	if (!read_text(path, line, sizeof line) || sscanf(line, "%lld %lld", &quota, &period) != 2)
		return 0;
	return rounded_up(quota, period);
}

static int
quota_v1(const char *dir)
{
	char path[PATH_SIZE + 32], line[128];
	long long quota;

	snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
	if (!read_text(path, line, sizeof line))
		return 0;
	quota = atoll(line);
	snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
	if (!read_text(path, line, sizeof line))
		return 0;
	return rounded_up(quota, atoll(line));
}

/* The smallest quota of the group below mount and of all groups above it; 0: none has one. */
static int
smallest(const char *mount, char *group, int (*quota_of)(const char *dir))
{
	char dir[PATH_SIZE];
	int best = 0;

	for (;;) {
		char *slash;
		int quota;

		snprintf(dir, sizeof dir, "%s%s", mount, group);
		quota = quota_of(dir);
		if (quota > 0 && (best == 0 || quota < best))
			best = quota;
		slash = strrchr(group, '/');
		if (slash == NULL)
			return best;
		*slash = '\0';
	}
}

/* Is "cpu" one of the comma-separated controllers? */
static bool
has_cpu(const char *controllers)
{
	const char *at = controllers;

	while (*at != '\0') {
		size_t n = strcspn(at, ",");

		if (n == 3 && strncmp(at, "cpu", 3) == 0)
			return true;
		at += n + (at[n] == ',');
	}
	return false;
}

/* The quota of a line of /proc/self/cgroup: "0::/a/b" or "4:cpu,cpuacct:/a/b". */
static int
quota_of_line(const char *root, char *line)
{
	char mount[PATH_SIZE / 2], *controllers = strchr(line, ':'), *group;

	if (controllers == NULL || (group = strchr(controllers + 1, ':')) == NULL)
		return 0;
	*controllers++ = '\0';
	*group++ = '\0';
	if (*controllers == '\0')
		return smallest(root, group, quota_v2);
	if (!has_cpu(controllers))
		return 0;
	snprintf(mount, sizeof mount, "%.1000s/%.1000s", root, controllers);
	return smallest(mount, group, quota_v1);
}

int
melyint_topo_quota(const char *root, const char *self)
{
	char text[TEXT_SIZE], *line, *rest = text;
	int best = 0;

	if (!read_text(self, text, sizeof text))
		return 0;
	while ((line = strsep(&rest, "\n")) != NULL) {
		int quota = quota_of_line(root, line);

		if (quota > 0 && (best == 0 || quota < best))
			best = quota;
	}
	return best;
}
