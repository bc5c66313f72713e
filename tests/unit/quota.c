/* SPDX-License-Identifier: MIT */
/*
 * quota.c: the CPU quota of cgroups, versions 1 and 2, nested, on made-up file systems.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "life/life.h"

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

static bool no_memory; /* for a stream */

FILE *
__wrap_fopen(const char *path, const char *mode)
{
	if (!no_memory)
		return __real_fopen(path, mode);
	errno = ENOMEM;
	return NULL;
}

static char root[] = "/tmp/mely-quota-XXXXXX";

/* Write a file below the root, making its directories. */
static void
put(const char *path, const char *text)
{
	char full[PATH_MAX];
	char *slash;
	FILE *f;

	snprintf(full, sizeof full, "%s/%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int
quota(const char *self)
{
	char full[PATH_MAX];

	put("self", self);
	snprintf(full, sizeof full, "%s/self", root);
	return melyint_topo_quota(root, full);
}

static void
version_two(void **state)
{
	(void)state;
	put("a/cpu.max", "150000 100000\n");
	put("a/b/cpu.max", "max 100000\n");
	put("a/b/c/cpu.max", "50000 100000\n");
	put("big/cpu.max", "800000 100000\n");
	put("exact/cpu.max", "200000 100000\n");
	put("bad/cpu.max", "what is this\n");
	put("empty/cpu.max", "");
	assert_int_equal(quota("0::/a\n"), 2);          /* rounded up */
	assert_int_equal(quota("0::/a/b\n"), 2);        /* of the group above */
	assert_int_equal(quota("0::/a/b/c\n"), 1);      /* the smaller of both */
	assert_int_equal(quota("0::/big\n"), 8);
	assert_int_equal(quota("0::/exact\n"), 2);
	assert_int_equal(quota("0::/bad\n"), 0);
	assert_int_equal(quota("0::/empty\n"), 0);
	assert_int_equal(quota("0::/\n"), 0);
	assert_int_equal(quota("0::/none\n"), 0);
	assert_int_equal(quota(""), 0);
	assert_int_equal(quota("nonsense\n"), 0);
}

static void
version_one(void **state)
{
	(void)state;
	put("cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n");
	put("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
	put("cpu,cpuacct/y/cpu.cfs_quota_us", "-1\n");
	put("cpu,cpuacct/y/cpu.cfs_period_us", "100000\n");
	assert_int_equal(quota("3:cpu,cpuacct:/x\n"), 3);
	assert_int_equal(quota("3:cpu,cpuacct:/y\n"), 0);
	assert_int_equal(quota("9:memory:/x\n3:cpu,cpuacct:/x\n0::/\n"), 3);
	/* cpuset and cpuacct are not the controller that has quotas */
	assert_int_equal(quota("4:cpuset:/x\n5:cpuacct:/x\n"), 0);
	/* both versions: the smaller */
	assert_int_equal(quota("3:cpu,cpuacct:/x\n0::/a\n"), 2);
}

static void
without_memory(void **state)
{
	char full[PATH_MAX];

	(void)state;
	put("a/cpu.max", "150000 100000\n");
	put("self", "0::/a\n");
	snprintf(full, sizeof full, "%s/self", root);
	no_memory = true;
	assert_int_equal(melyint_topo_quota(root, full), 2);
	no_memory = false;
}

static void
no_such_file(void **state)
{
	(void)state;
	assert_int_equal(melyint_topo_quota(root, "/nonexistent/self"), 0);
	assert_in_range(mely_cores_usable(), 1, MELY_CORES_MAX);
}

static int
make_root(void **state)
{
	(void)state;
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
remove_root(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_two),
		cmocka_unit_test(version_one),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(no_such_file),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
