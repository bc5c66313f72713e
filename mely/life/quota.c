/* SPDX-License-Identifier: MIT */
/*
 * quota.c: the CPU quota of the process: the smallest of its cgroup and of all groups above it, in
 * cgroup v1 and v2. Any thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "life/life.h"

enum { PATH_SIZE = 4096 };

static bool
read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool good;

	if (f == NULL)
		return false;
	good = fgets(line, size, f) != NULL;
	fclose(f);
	return good;
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
	if (!read_line(path, line, sizeof line) || sscanf(line, "%lld %lld", &quota, &period) != 2)
		return 0;
	return rounded_up(quota, period);
}

static int
quota_v1(const char *dir)
{
	char path[PATH_SIZE + 32], line[128];
	long long quota;

	snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
	if (!read_line(path, line, sizeof line))
		return 0;
	quota = atoll(line);
	snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
	if (!read_line(path, line, sizeof line))
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

int
melyint_topo_quota(const char *root, const char *self)
{
	char line[PATH_SIZE], mount[PATH_SIZE / 2];
	FILE *f = fopen(self, "re");
	int best = 0;

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL) {
		char *controllers = strchr(line, ':'), *group;
		int quota = 0;

		line[strcspn(line, "\n")] = '\0';
		if (controllers == NULL || (group = strchr(controllers + 1, ':')) == NULL)
			continue;
		*controllers++ = '\0';
		*group++ = '\0';
		if (*controllers == '\0') {
			quota = smallest(root, group, quota_v2);
		} else if (has_cpu(controllers)) {
			snprintf(mount, sizeof mount, "%.1000s/%.1000s", root, controllers);
			quota = smallest(mount, group, quota_v1);
		}
		if (quota > 0 && (best == 0 || quota < best))
			best = quota;
	}
	fclose(f);
	return best;
}
