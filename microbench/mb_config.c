/* SPDX-License-Identifier: MIT */
/*
 * mb_config.c: configurations by name. Environment variables switch the heuristics, as for any
 * program. The scheduler of libasync-smp is the library libmely-libasync, which has the same
 * interface as libmely; the dynamic linker loads it first. Main thread only.
 */
#include "mb_config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mb.h"

#define LIBASYNC "libmely-libasync.so"

const char *const mb_config_names[] = {"libasync", "libasync-ws", "mely", "mely-base-ws",
	"time-left", "penalty", "locality", "all", "auto", NULL};

const char mb_config_help[] =
    "      libasync      libasync-smp's scheduler, without stealing\n"
    "      libasync-ws   libasync-smp's scheduler with its stealing\n"
    "      mely          Mely without stealing\n"
    "      mely-base-ws  Mely with stealing and no heuristic\n"
    "      time-left, penalty, locality\n"
    "                    Mely with stealing and this heuristic\n"
    "      all           everything on, handlers annotated\n"
    "      auto          everything on, handlers not annotated: times are measured\n";

static const struct mb_config configs[] = {
	{.name = "libasync", .peer = "libasync", .libasync = true, .annotated = true},
	{.name = "libasync-ws", .peer = "libasync", .libasync = true, .annotated = true,
	    .steal = true},
	{.name = "mely", .peer = "mely", .annotated = true},
	{.name = "mely-base-ws", .peer = "mely", .annotated = true, .steal = true},
	{.name = "time-left", .peer = "mely", .annotated = true, .steal = true,
	    .time_left = true},
	{.name = "penalty", .peer = "mely", .annotated = true, .steal = true, .penalty = true},
	{.name = "locality", .peer = "mely", .annotated = true, .steal = true, .locality = true},
	{.name = "all", .peer = "mely", .annotated = true, .steal = true, .time_left = true,
	    .penalty = true, .locality = true, .measure = true, .balance = true},
	{.name = "auto", .peer = "mely", .steal = true, .time_left = true, .penalty = true,
	    .locality = true, .measure = true, .balance = true},
};

static void
set(const char *name, bool on)
{
	if (setenv(name, on ? "1" : "0", 1) != 0)
		mb_fail("setenv", errno);
}

/* The file that contains the runtime's functions: a library, or this program. */
static const char *
library(void)
{
	void *run = dlsym(RTLD_DEFAULT, "mely_run");
	Dl_info info;

	return run != NULL && dladdr(run, &info) != 0 ? info.dli_fname : "";
}

static void __attribute__((noreturn))
missing(const char *name)
{
	fprintf(stderr, "%s: --config %s: skipped, no %s beside libmely.so\n",
	    program_invocation_short_name, name, LIBASYNC);
	exit(MB_CONFIG_MISSING);
}

/* Run again with the other library first. */
static void __attribute__((noreturn))
run_with_libasync(const char *name, char **argv)
{
	const char *mely = library(), *base = strrchr(mely, '/'), *before = getenv("LD_PRELOAD");
	char path[PATH_MAX];

	if (before != NULL && strstr(before, LIBASYNC) != NULL)
		mb_fail("the library in LD_PRELOAD was not loaded", 0);
	if (base == NULL || snprintf(path, sizeof(path), "%.*s/%s", (int)(base - mely), mely,
	    LIBASYNC) >= (int)sizeof(path) || access(path, R_OK) != 0)
		missing(name);
	/* In LD_PRELOAD a blank or a colon ends a name. */
	if (strpbrk(path, " :") != NULL)
		mb_fail("LD_PRELOAD cannot hold a path with blanks or colons", 0);
	if (setenv("LD_PRELOAD", path, 1) != 0)
		mb_fail("setenv", errno);
	execv("/proc/self/exe", argv);
	mb_fail("execv", errno);
}

const struct mb_config *
mb_config_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		if (strcmp(configs[i].name, name) == 0)
			return &configs[i];
	}
	return NULL;
}

void
mb_config_set(const struct mb_config *config)
{
	set("MELY_STEAL", config->steal);
	set("MELY_TIME_LEFT", config->time_left);
	set("MELY_PENALTY", config->penalty);
	set("MELY_LOCALITY", config->locality);
	set("MELY_MEASURE", config->measure);
	set("MELY_LEARN_PENALTY", config->measure);
	set("MELY_BALANCE", config->balance);
}

const struct mb_config *
mb_config_enter(const char *name, char **argv)
{
	const struct mb_config *config = mb_config_find(name);
	bool libasync = strstr(library(), LIBASYNC) != NULL;

	if (config->libasync && !libasync)
		run_with_libasync(name, argv);
	if (!config->libasync && libasync)
		mb_fail("LD_PRELOAD has another scheduler than --config", 0);
	mb_config_set(config);
	return config;
}
