/* SPDX-License-Identifier: MIT */
/*
 * find.c: connect to the program that the command line names.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find.h"
#include "rows.h"

static enum find_result
none(const char *target, const char *why)
{
	fprintf(stderr, "mely-top: %s: %s\n", target, why);
	return FIND_NONE;
}

/* Print why there is no connection to the socket at a path. */
static enum find_result
refused(const char *path, int error)
{
	struct stat st;

	switch (error) {
	case -ENOENT:
		return none(path, "no such socket; start the program with MELY_SOCKET=1");
	case -ECONNREFUSED:
		if (stat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
			return none(path, "not a socket");
		return none(path, "no program listens there any more");
	case -EACCES:
	case -EPERM:
		return none(path, "belongs to another user");
	default:
		return none(path, strerror(-error));
	}
}

/* Connect to path, if a Mely program answers there. 0 or a negative errno. */
static int
speaks(const char *path, struct link *link)
{
	char *answer = NULL;
	size_t length;
	int error = link_open(link, path);

	if (error != 0)
		return error;
	error = link_ask(link, "version\n", &answer, &length);
	free(answer);
	if (error != 0)
		link_close(link);
	return error;
}

/* ---- by process id --------------------------------------------------------------------------- */

static enum find_result
silent(const char *target, int error)
{
	switch (error) {
	case -ETIMEDOUT:
		return none(target, "does not answer: none of its threads is in mely_run, or it "
		    "is stopped");
	case -ECONNRESET:
		return none(target, "does not answer this user");
	case -EREMOTEIO:
		return none(target, "is busy with other clients");
	case -EACCES:
	case -EPERM:
		return none(target, "belongs to another user");
	default:
		return none(target, "has no socket: start it with MELY_SOCKET=1, or let it call "
		    "mely_socket_open");
	}
}

static enum find_result
by_pid(const char *target, pid_t pid, struct link *link)
{
	struct place places[FIND_PLACES];
	char proc[64];
	struct stat st;
	int n, i, error, last = 0;

	snprintf(proc, sizeof proc, "/proc/%d", (int)pid);
	if (stat(proc, &st) != 0)
		return none(target, "no such process");
	if (st.st_uid != geteuid() && geteuid() != 0)
		return none(target, "belongs to another user");
	n = places_named(pid, st.st_uid, places, FIND_PLACES);
	for (i = 0; i < n; i++) {
		error = speaks(places[i].path, link);
		if (error == 0)
			return FIND_ONE;
		if (error != -ECONNREFUSED && error != -ENOENT)
			return silent(target, error);
	}
	n = places_listening(pid, places, FIND_PLACES);
	for (i = 0; i < n; i++) {
		error = speaks(places[i].path, link);
		if (error == 0)
			return FIND_ONE;
		if (error != -EPROTO)
			last = error;
	}
	return silent(target, n < 0 ? n : last);
}

/* ---- all programs of the user ---------------------------------------------------------------- */

/* Print a line about a program. False: it does not answer. */
static bool
list_one(struct link *link)
{
	struct mely_stats *stats;
	char up[32];

	if (link_look(link, "stats\n", &stats) != 0)
		return false;
	row_span(up, sizeof up, (stats->taken_ns - stats->made_ns) / 1000000000);
	printf("%7u  %-20.20s %5u  %10s  %s\n", stats->pid,
	    mely_stats_name(stats, stats->program_at), stats->cores_count, up, link->path);
	free(stats);
	return true;
}

static enum find_result
any(struct link *link)
{
	struct place places[FIND_PLACES];
	struct link first = {.fd = -1}, other;
	int n = places_named(0, geteuid(), places, FIND_PLACES), found = 0, i;

	for (i = 0; i < n; i++) {
		if (speaks(places[i].path, &other) != 0)
			continue;
		found++;
		if (found == 1) {
			first = other;
			continue;
		}
		if (found == 2) {
			printf("%7s  %-20s %5s  %10s  %s\n", "PID", "PROGRAM", "CORES", "UP",
			    "SOCKET");
			list_one(&first);
		}
		list_one(&other);
		link_close(&other);
	}
	if (found == 1) {
		*link = first;
		return FIND_ONE;
	}
	if (found > 1) {
		link_close(&first);
		return FIND_SEVERAL;
	}
	fputs("mely-top: no running program of this user has a socket: start one with "
	    "MELY_SOCKET=1\n", stderr);
	return FIND_NONE;
}

enum find_result
find(const char *target, struct link *link)
{
	char *end;
	long pid;
	int error;

	if (target == NULL)
		return any(link);
	if (isdigit((unsigned char)target[0])) {
		pid = strtol(target, &end, 10);
		if (*end == '\0' && pid > 0 && pid <= INT_MAX)
			return by_pid(target, (pid_t)pid, link);
	}
	error = speaks(target, link);
	if (error == 0)
		return FIND_ONE;
	if (error == -EPROTO)
		return none(target, "not the socket of a Mely program");
	if (error == -ETIMEDOUT || error == -ECONNRESET || error == -EREMOTEIO)
		return silent(target, error);
	return refused(target, error);
}
