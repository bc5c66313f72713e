/* SPDX-License-Identifier: MIT */
/*
 * hunt.c: the command hunt: start workers, watch them, report. The first failure ends the hunt: it
 * prints the failure and the command that repeats it, shrinks it, and prints the program.
 */
#include "hunt.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coverage.h"
#include "options.h"
#include "worker.h"

enum {
	STUCK_SECONDS = 30,     /* without a finished schedule */
	POLL_MS = 50
};

struct shared {
	_Atomic bool end;
	struct worker_state worker[];
};

struct hunt {
	uint64_t seed, schedules, seconds;
	int jobs;
	bool progress, verbose, shrink;
	struct shared *shared;
	struct traces *traces;
	pid_t pid[WORKERS_MAX];
	uint64_t seen[WORKERS_MAX];     /* schedules that each had done when last polled ... */
	double seen_at[WORKERS_MAX];    /* ... and when that number last grew */
	double began;
};

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
usage(FILE *out)
{
	fprintf(out, "usage: %s hunt [OPTION]...\n"
	    "Run random programs under random schedules and check the invariants. Each seed gives\n"
	    "a program and a schedule.\n\n"
	    "  --schedules N  number of schedules (default 10000; 0: until --seconds or an\n"
	    "                 interrupt)\n"
	    "  --seconds N    stop after this time\n"
	    "  --seed SEED    the first seed (default: a random one, which is printed)\n"
	    "  --jobs N       number of processes (default 1)\n"
	    "  --progress     print a line on stderr every two seconds\n"
	    "  --no-shrink    do not make a failing program smaller\n"
	    "  --verbose      also list the places that were never reached\n"
	    "  --help         this text\n\n"
	    "Exit status: 0 no failure, 1 a failure, 2 invalid command line.\n", MELY_SIM_NAME);
}

static int
options(int argc, char **argv, struct hunt *h)
{
	static const struct option longs[] = {
		{"schedules", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 's'},
		{"jobs", required_argument, NULL, 'j'},
		{"progress", no_argument, NULL, 'p'},
		{"no-shrink", no_argument, NULL, 'r'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}
	};
	bool good = true;
	uint64_t n;
	int o;

	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1 && good) {
		switch (o) {
		case 'n':
			good = option_number("--schedules", optarg, 0, 1ull << 40, &h->schedules);
			break;
		case 't':
			good = option_number("--seconds", optarg, 1, 10000000, &h->seconds);
			break;
		case 's':
			good = option_seed("--seed", optarg, &h->seed);
			break;
		case 'j':
			good = option_number("--jobs", optarg, 1, WORKERS_MAX, &n);
			h->jobs = (int)n;
			break;
		case 'p':
			h->progress = true;
			break;
		case 'r':
			h->shrink = false;
			break;
		case 'v':
			h->verbose = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return 2;
		}
	}
	if (good && optind < argc)
		fprintf(stderr, "%s: %s: no argument is wanted\n", MELY_SIM_NAME, argv[optind]);
	return good && optind == argc ? -1 : 2;
}

/* ---- workers --------------------------------------------------------------------------------- */

static void
start(struct hunt *h)
{
	size_t size = sizeof *h->shared + (size_t)h->jobs * sizeof h->shared->worker[0];
	int i;

	h->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	h->traces = traces_new(h->schedules);
	if (h->shared == MAP_FAILED || h->traces == NULL) {
		fprintf(stderr, "%s: no memory\n", MELY_SIM_NAME);
		exit(2);
	}
	for (i = 0; i < h->jobs; i++) {
		struct worker_job job = {h->seed, h->schedules, h->jobs, i};

		h->seen_at[i] = now();
		h->pid[i] = fork();
		if (h->pid[i] < 0) {
			fprintf(stderr, "%s: no worker: %s\n", MELY_SIM_NAME, strerror(errno));
			h->shared->end = true;
			exit(2);
		}
		if (h->pid[i] == 0) {
			signal(SIGINT, SIG_IGN);
			worker_run(&job, &h->shared->worker[i], h->traces, &h->shared->end);
			_exit(0);
		}
	}
}

/* Did a worker fail, die or hang? If so, fills in the failure. */
static void
look_at_worker(struct hunt *h, int i, int status, bool gone)
{
	struct worker_state *w = &h->shared->worker[i];

	if (gone && !w->ended) {
		w->failed = true;
		snprintf(w->outcome.text, sizeof w->outcome.text, "%s",
		    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exits");
	}
	if (gone)
		return;
	if (w->done != h->seen[i]) {
		h->seen[i] = w->done;
		h->seen_at[i] = now();
	} else if (now() - h->seen_at[i] > STUCK_SECONDS && !w->ended) {
		w->failed = true;
		snprintf(w->outcome.text, sizeof w->outcome.text, "hangs");
		kill(h->pid[i], SIGKILL);
	}
}

static uint64_t
done(const struct hunt *h)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < h->jobs; i++)
		sum += h->shared->worker[i].done;
	return sum;
}

static _Atomic bool interrupted;

static void
on_interrupt(int signum)
{
	(void)signum;
	interrupted = true;
}

/* Watch the workers until all have ended. */
static void
watch(struct hunt *h)
{
	double said = h->began;
	int i, alive = h->jobs;

	while (alive > 0) {
		struct timespec nap = {0, POLL_MS * 1000000};
		double at = now();

		nanosleep(&nap, NULL);
		for (i = 0; i < h->jobs; i++) {
			int status = 0;
			bool gone = h->pid[i] > 0 && waitpid(h->pid[i], &status, WNOHANG) > 0;

			if (h->pid[i] == 0)
				continue;
			look_at_worker(h, i, status, gone);
			if (h->shared->worker[i].failed)
				h->shared->end = true;
			if (gone) {
				h->pid[i] = 0;
				alive--;
			}
		}
		if ((h->seconds > 0 && at - h->began >= (double)h->seconds) || interrupted)
			h->shared->end = true;
		if (h->progress && at - said >= 2) {
			fprintf(stderr, "%llu schedules, %.0f a second\n",
			    (unsigned long long)done(h), (double)done(h) / (at - h->began));
			said = at;
		}
	}
}

/* ---- the report ------------------------------------------------------------------------------ */

static uint64_t
median_length(const struct hunt *h)
{
	uint64_t total = done(h), sum = 0;
	int length, i;

	for (length = 0; length < LENGTHS; length++) {
		for (i = 0; i < h->jobs; i++)
			sum += h->shared->worker[i].lengths[length];
		if (2 * sum >= total)
			break;
	}
	return (uint64_t)length * LENGTH_STEP;
}

static void
report(const struct hunt *h)
{
	uint64_t hits[WORKER_SITES], accesses = 0, switches = 0, digest = 0;
	uint64_t n = done(h), at;
	double seconds = now() - h->began;
	int i;

	memset(hits, 0, sizeof hits);
	for (i = 0; i < h->jobs; i++) {
		const struct worker_state *w = &h->shared->worker[i];

		accesses += w->accesses;
		switches += w->switches;
		digest += w->digest;
		for (at = 0; at < WORKER_SITES; at++)
			hits[at] += w->site_hits[at];
	}
	printf("%llu schedules from seed 0x%llx in %.1f s, %.0f a second\n",
	    (unsigned long long)n, (unsigned long long)h->seed, seconds, (double)n / seconds);
	if (n == 0)
		return;
	printf("shared accesses: median %llu, mean %.0f; switches: mean %.0f\n",
	    (unsigned long long)median_length(h), (double)accesses / (double)n,
	    (double)switches / (double)n);
	printf("distinct traces: %s%llu; sum of all: %016llx\n",
	    h->traces->count >= h->traces->slots / 4 * 3 ? "more than " : "",
	    (unsigned long long)h->traces->count, (unsigned long long)digest);
	coverage_print(hits, h->verbose, stdout);
}

static void
print_smaller(struct hunt_case *c, const char *text, bool progress)
{
	static struct program program;
	struct hunt_result result;

	hunt_case_try(c, 1, &result);
	if (!result.failed) {
		printf("it did not fail again: what ran before it matters\n");
		return;
	}
	hunt_shrink(c, text, progress);
	hunt_case_try(c, 1, &result);
	hunt_case_make(c, &program);
	printf("made smaller, to %d operations: %s\n", program_size(&program),
	    result.outcome.text);
	program_print(&program, stdout);
	printf("again: ");
	hunt_case_print(c, stdout);
}

static int
failures(struct hunt *h)
{
	int i;

	for (i = 0; i < h->jobs; i++) {
		struct worker_state *w = &h->shared->worker[i];
		struct hunt_case c;

		if (!w->failed)
			continue;
		hunt_case_init(&c, w->seed);
		printf("FAILURE: seed 0x%llx: %s\nagain: ", (unsigned long long)c.seed,
		    w->outcome.text);
		hunt_case_print(&c, stdout);
		fflush(stdout);
		if (h->shrink)
			print_smaller(&c, w->outcome.text, h->progress);
		return 1;
	}
	return 0;
}

int
hunt_main(int argc, char **argv)
{
	struct hunt h;
	int code;

	memset(&h, 0, sizeof h);
	h.schedules = 10000;
	h.jobs = 1;
	h.shrink = true;
	if (getrandom(&h.seed, sizeof h.seed, 0) != (ssize_t)sizeof h.seed)
		h.seed = (uint64_t)time(NULL);
	code = options(argc, argv, &h);
	if (code >= 0)
		return code;
	h.began = now();
	signal(SIGINT, on_interrupt);
	fflush(stdout);
	start(&h);
	watch(&h);
	report(&h);
	return failures(&h);
}
