/* SPDX-License-Identifier: MIT */
/*
 * mb_idle.c: what a process costs while it has nothing to do. The parent measures it, so that the
 * measurement costs the idle process nothing: its CPU clock, the voluntary context switches of its
 * threads (each is a system call that slept, so they are a lower bound), and, in a separate run
 * because tracing disturbs the process, strace. Main thread only.
 */
#include "mb.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Time for the process to become idle after its work. */
#define SETTLE_S 0.3

/* Strace needs this long at most to attach to all threads. */
#define ATTACH_S 0.7

/* ---- from /proc --------------------------------------------------------------------------- */

static double
cpu_s(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;
	int err = clock_getcpuclockid(pid, &clock);

	if (err != 0 || clock_gettime(clock, &ts) != 0)
		mb_fail("the CPU clock of the idle process", err != 0 ? err : errno);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double
thread_switches(pid_t pid, const char *tid)
{
	char path[512], line[256];
	double count = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, tid);
	f = fopen(path, "r");
	if (f == NULL)
		return 0; /* the thread has ended */
	while (fgets(line, sizeof(line), f) != NULL && sscanf(line, "voluntary_ctxt_switches: %lf",
	    &count) != 1)
		;
	fclose(f);
	return count;
}

static double
switches(pid_t pid)
{
	struct dirent *entry;
	double count = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		mb_fail(path, errno);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.')
			count += thread_switches(pid, entry->d_name);
	}
	closedir(dir);
	return count;
}

/* ---- by strace ---------------------------------------------------------------------------- */

bool
mb_idle_has_strace(void)
{
	/* It may be installed and still not be allowed to trace. */
	return system("strace -qq -o /dev/null true 2>/dev/null") == 0;
}

static double
wall_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* System calls that began between two times of day. Lines: "TID SECONDS name(..." */
static double
count_calls(const char *path, double from, double to)
{
	char line[1024], name[2];
	double at, count = 0;
	FILE *f = fopen(path, "r");
	int tid;

	if (f == NULL)
		mb_fail(path, errno);
	while (fgets(line, sizeof(line), f) != NULL) {
		/* "<... resumed>", "--- SIG", "+++ exited" do not begin with a letter. */
		if (sscanf(line, "%d %lf %1[a-z_]", &tid, &at, name) == 3 && at >= from && at < to)
			count++;
	}
	fclose(f);
	return count;
}

static double
traced_calls(pid_t pid, double seconds)
{
	char path[] = "/tmp/mely-idle-XXXXXX", target[16];
	int fd = mkstemp(path);
	double from, count;
	pid_t tracer;

	if (fd < 0)
		mb_fail("mkstemp", errno);
	close(fd);
	snprintf(target, sizeof(target), "%d", (int)pid);
	tracer = fork();
	if (tracer < 0)
		mb_fail("fork", errno);
	if (tracer == 0) {
		execlp("strace", "strace", "-f", "-qq", "-ttt", "-o", path, "-p", target,
		    (char *)NULL);
		_exit(127);
	}
	/* Attaching interrupts every blocked call once: that is not the process's doing. */
	mb_nap(ATTACH_S);
	from = wall_s();
	mb_nap(seconds);
	count = wall_s();
	kill(tracer, SIGINT);
	while (waitpid(tracer, NULL, 0) < 0 && errno == EINTR)
		;
	count = count_calls(path, from, count);
	unlink(path);
	return count;
}

/* ---- the run ------------------------------------------------------------------------------ */

static void
observe(pid_t pid, double seconds, bool strace, struct mb_sample *out)
{
	double start, cpu, calls;

	mb_nap(SETTLE_S);
	if (strace) {
		out->syscalls = traced_calls(pid, seconds) / seconds;
		return;
	}
	start = mb_now_s();
	cpu = cpu_s(pid);
	calls = switches(pid);
	mb_nap(seconds);
	cpu = cpu_s(pid) - cpu;
	calls = switches(pid) - calls;
	seconds = mb_now_s() - start;
	out->value = cpu / seconds * 100;
	out->syscalls = calls / seconds;
}

void
mb_idle_run(void (*child)(void *ctx, int ready_fd, int end_fd), void *ctx, double seconds,
    bool strace, bool abandon, struct mb_sample *out)
{
	int ready[2], end[2], status;
	char byte;
	pid_t pid;

	mb_sample_clear(out);
	fflush(stdout);
	if (pipe(ready) != 0 || pipe(end) != 0)
		mb_fail("pipe", errno);
	pid = fork();
	if (pid < 0)
		mb_fail("fork", errno);
	if (pid == 0) {
		close(ready[0]);
		close(end[1]);
		alarm((unsigned)(seconds * 4) + 60);
		/* Where only a parent may trace, let our strace, a sibling, do it too. */
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		child(ctx, ready[1], end[0]);
		if (abandon)
			_exit(0);
		exit(0);
	}
	close(ready[1]);
	close(end[0]);
	if (read(ready[0], &byte, 1) != 1)
		mb_fail("the idle process never got ready", 0);
	observe(pid, seconds, strace, out);
	close(end[1]);
	close(ready[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		mb_fail("the idle process failed", 0);
}

void
mb_idle_bench(const struct mb_options *opt, const char *peer, int cores, int colors,
    bool abandon, void (*child)(void *ctx, int ready_fd, int end_fd), void *ctx)
{
	bool strace = mb_idle_has_strace();
	struct mb_sample sample, traced;
	struct mb_series series;
	int run;

	if (strace)
		mb_idle_run(child, ctx, opt->seconds, true, abandon, &traced);
	mb_series_init(&series, "idle", peer, "% of a processor", colors, opt->runs);
	series.method = strace ? "CPU clock; system calls by strace, one separate run"
	    : "CPU clock; system calls by voluntary context switches, a lower bound";
	for (run = 0; run < opt->runs; run++) {
		mb_idle_run(child, ctx, opt->seconds, false, abandon, &sample);
		sample.cores = cores;
		if (strace)
			sample.syscalls = traced.syscalls;
		mb_series_add(&series, &sample);
	}
	mb_series_report(&series, opt->json);
}
