/* SPDX-License-Identifier: MIT */
/*
 * quiet.c: while the checker writes a report, the handler that is reported makes no progress; that
 * is not a stall. Standard error is a full pipe here, so that the report cannot be written until a
 * thread empties the pipe, long after a stall would have been reported. Status 0: the checker has
 * reported the fault, and meanwhile no line has said that a handler stalls. Time only decides
 * whether a checker that is not quiet is found out.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include "fault.h"

enum { STALL_MS = 300, START_MS = 200, PATIENCE_S = 2, END = '$' };

static long counter;
static int from_stderr;
static int faults, stalls;
static volatile int writing; /* a report */

/* The sanitizer calls these two before it writes a report, and after. */
#define HOOK __attribute__((no_sanitize("thread")))
bool _ZN6__tsan8OnReportEPKNS_10ReportDescEb(const void *report, bool suppressed);
void __tsan_on_report(const void *report);

HOOK bool
_ZN6__tsan8OnReportEPKNS_10ReportDescEb(const void *report, bool suppressed)
{
	(void)report;
	writing = 1;
	return suppressed;
}

HOOK void
__tsan_on_report(const void *report)
{
	(void)report;
	writing = 0;
}

static void
on_count(void *arg)
{
	(void)arg;
	counter++;
	done();
}

static struct mely_handler count = MELY_HANDLER(on_count);

/* The runtime's other threads have begun. */
static void
on_start(void *arg)
{
	(void)arg;
	MUST(mely_post_id(rt, 1, &count, NULL));
	MUST(mely_post_id(rt, 2, &count, NULL));
}

static struct mely_handler start = MELY_HANDLER(on_start);

static void
on_line(void *ctx, const char *line)
{
	(void)ctx;
	printf("%s%s\n", line, writing ? ", during a report" : "");
	stalls += writing && strstr(line, "has run for") != NULL;
}

/* Fill standard error, which a thread empties later: returns its other end. */
static int
fill_stderr(void)
{
	static char filler[4096];
	int fds[2];

	memset(filler, '-', sizeof filler);
	if (pipe(fds) != 0 || fcntl(fds[1], F_SETPIPE_SZ, 4096) < 0 ||
	    fcntl(fds[1], F_SETFL, O_NONBLOCK) != 0)
		exit(2);
	while (write(fds[1], filler, sizeof filler) > 0)
		;
	if (fcntl(fds[1], F_SETFL, 0) != 0 || dup2(fds[1], STDERR_FILENO) < 0)
		exit(2);
	close(fds[1]);
	return fds[0];
}

static void *
empty_stderr(void *arg)
{
	struct timespec patience = {PATIENCE_S, 0};
	char text[4096 + 1];
	ssize_t n;

	/* Not usleep: the checker's own would wait for the report. */
	(void)syscall(SYS_nanosleep, &patience, NULL);
	do {
		n = read(from_stderr, text, sizeof text - 1);
		text[n > 0 ? n : 0] = '\0';
		faults += strstr(text, "WARNING: ThreadSanitizer: data race") != NULL;
	} while (n > 0 && strchr(text, END) == NULL);
	return arg;
}

int
main(void)
{
	struct mely_config config;
	struct mely_color *color;
	mely_watch timer;
	pthread_t thread;

	MUST(mely_config_init(&config));
	config.stall_ms = STALL_MS;
	config.report = on_line;
	MUST(mely_runtime_new(&rt, &config));
	MUST(mely_color_of_id(rt, 0, &color));
	MUST(mely_join_init(&fault_parts, 2, color, &fault_end));
	from_stderr = fill_stderr();
	if (pthread_create(&thread, NULL, empty_stderr, NULL) != 0)
		return 2;
	MUST(mely_timer_start(color, START_MS * 1000000, 0, 0, &start, NULL, &timer));
	run();
	/* No end of the file comes: the program that finds symbols for the checker has it, too. */
	if (write(STDERR_FILENO, (char[]){END}, 1) != 1)
		return 2;
	pthread_join(thread, NULL);
	printf("%d faults, %d stalls\n", faults, stalls);
	return faults > 0 && stalls == 0 ? 0 : 1;
}
