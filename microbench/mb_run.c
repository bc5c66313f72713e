/* SPDX-License-Identifier: MIT */
/*
 * mb_run.c: runs in child processes, and the window of time in which one is measured.
 */
#include "mb.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A run may take this much longer than its window (set-up, a sanitizer, a busy machine). */
enum { PATIENCE_S = 60 };

/* ---- the child ---------------------------------------------------------------------------- */

static void __attribute__((noreturn))
child(void (*fn)(void *ctx, struct mb_sample *out), void *ctx, double seconds, bool abandon,
    int fd, struct mb_sample *out, int count)
{
	size_t size = sizeof(*out) * (size_t)count;

	alarm((unsigned)(seconds * 4) + PATIENCE_S);
	fn(ctx, out);
	/* Less than PIPE_BUF: one write, whole or not at all. */
	if (write(fd, out, size) != (ssize_t)size)
		mb_fail("write to the parent", errno);
	if (abandon)
		_exit(0);
	exit(0);
}

void
mb_child_run(void (*fn)(void *ctx, struct mb_sample *out), void *ctx, double seconds,
    bool abandon, struct mb_sample *out, int count)
{
	size_t size = sizeof(*out) * (size_t)count;
	int fds[2], i, status;
	ssize_t got;
	pid_t pid;

	for (i = 0; i < count; i++)
		mb_sample_clear(&out[i]);
	mb_ticks_per_s(); /* measured once, inherited by all */
	fflush(stdout);
	if (pipe(fds) != 0)
		mb_fail("pipe", errno);
	pid = fork();
	if (pid < 0)
		mb_fail("fork", errno);
	if (pid == 0) {
		close(fds[0]);
		child(fn, ctx, seconds, abandon, fds[1], out, count);
	}
	close(fds[1]);
	do
		got = read(fds[0], out, size);
	while (got < 0 && errno == EINTR);
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "a run was ended by signal %d%s\n", WTERMSIG(status),
		    WTERMSIG(status) == SIGALRM ? ": it hung" : "");
		exit(1);
	}
	if (status != 0 || got != (ssize_t)size)
		mb_fail("a run failed", 0);
}

void
mb_bench_runs(const struct mb_bench *bench, const struct mb_options *opt)
{
	struct mb_series series;
	struct mb_sample sample;
	int i, r;

	for (i = 0; i < opt->colors_count; i++) {
		*bench->colors = opt->colors[i];
		mb_series_init(&series, bench->name, bench->peer, bench->unit, opt->colors[i],
		    opt->runs);
		series.variant = bench->variant;
		for (r = 0; r < opt->runs; r++) {
			mb_child_run(bench->run, NULL, opt->seconds, bench->abandon, &sample, 1);
			mb_series_add(&series, &sample);
		}
		mb_series_report(&series, opt->json);
	}
}

/* ---- the window --------------------------------------------------------------------------- */

static uint64_t
sum(const struct mb_window *w)
{
	uint64_t total = 0;
	int i;

	for (i = 0; i < w->count; i++)
		total += w->read(w->ctx, i);
	return total;
}

void
mb_window_measure(const struct mb_window *w, struct mb_sample *out)
{
	uint64_t *first, n, before, least = UINT64_MAX, most = 0, total = 0;
	double start, seconds, cpu;
	int i;

	first = malloc(sizeof(*first) * (size_t)w->count);
	if (first == NULL)
		mb_fail("malloc", errno);
	while (sum(w) == 0)
		mb_nap(0.001);
	mb_nap(w->warmup_s);

	/* Reading many counters takes a while, but the same while at both ends. */
	start = mb_now_s();
	cpu = mb_cpu_s();
	for (i = 0; i < w->count; i++)
		first[i] = w->read(w->ctx, i);
	/* On a busy machine a short window may pass without an event: then it is longer. */
	before = sum(w);
	do
		mb_nap(w->seconds);
	while (sum(w) == before);
	seconds = mb_now_s() - start;
	cpu = mb_cpu_s() - cpu;
	for (i = 0; i < w->count; i++) {
		n = w->read(w->ctx, i) - first[i];
		total += n;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	free(first);
	out->value = (double)total / seconds;
	out->events = (double)total;
	if (total > 0)
		out->cpu_ns = cpu / (double)total * 1e9;
	if (w->count > 1)
		out->fairness = most > 0 ? (double)least / (double)most : 0;
}
