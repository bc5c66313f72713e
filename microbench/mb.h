/* SPDX-License-Identifier: MIT */
/*
 * mb.h: what the microbenchmarks share: options, windows of time, samples, reports. It does not
 * depend on libmely, so that the same code drives, times and reports the peers in
 * microbench/peers/. Valid as C11 and C++17.
 *
 * Every run is a separate child process: no run inherits pools, colors or threads from another,
 * and a hang ends in an alarm, not in a benchmark that never returns.
 */
#ifndef MB_H
#define MB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ------------------------------------------------------------------------------ */

#define MB_CONFIGS_MAX 16

struct mb_options {
	int cores; /* 0: not given */
	int colors[MB_CONFIGS_MAX];
	int colors_count;
	double seconds; /* length of one measured window */
	int runs;
	bool json;
	const char *config; /* --config: one of the program's configs */
	uint64_t events; /* --events: fixed work instead of a window; 0: not given */
};

/* An option of one program that takes no argument. */
struct mb_switch {
	const char *name;
	const char *help;
	bool *on;
};

struct mb_program {
	const char *name;
	const char *what;        /* one paragraph for --help */
	const char *colors_help; /* what --colors counts */
	int colors_default;
	int colors_max;
	double seconds_default;
	bool has_events; /* it has the option --events */
	const struct mb_switch *switches; /* ended by a NULL name; may be NULL */
	const char *const *configs; /* values of --config, ended by NULL; NULL: no such option */
	const char *configs_help;   /* a line for each of them, for --help */
};

/* Fill opt from the command line. Exits 0 after --help and --version, 2 on a bad option. */
void mb_options_parse(const struct mb_program *program, int argc, char **argv,
    struct mb_options *opt);

/* ---- time, processors, memory ------------------------------------------------------------- */

/* The cheapest clock of the machine, the same on all its processors. */
static inline uint64_t
mb_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

/* Keep the processor busy for a number of ticks: the work of the fan benchmark. */
static inline void
mb_spin(uint64_t ticks)
{
	uint64_t start = mb_ticks();

	while (mb_ticks() - start < ticks)
		;
}

double mb_ticks_per_s(void); /* measured at the first call, 50 ms */
double mb_now_s(void);
double mb_cpu_s(void); /* processor time of this process so far */
void mb_nap(double seconds);

/* The processors this process may use; returns their number, at most max of them in cpu[]. */
int mb_processors(int *cpu, int max);
/* Move the calling thread to one processor; a failure is fatal. */
void mb_pin_self(int cpu);

/* Resident memory of this process in bytes, exact where the kernel has smaps_rollup. */
double mb_rss_bytes(void);

/* Report an error and exit 1. errnum 0: no errno text. */
void mb_fail(const char *what, int errnum) __attribute__((noreturn, cold));

/* ---- samples and reports ------------------------------------------------------------------ */

/* The results of one run. Fields that do not apply are NAN. */
struct mb_sample {
	double value;
	double fairness; /* events of the slowest color / of the fastest, in the window */
	double p99;
	double ideal_pct;
	double events;
	double cpu_ns;   /* an event: processor time of this process */
	double requests; /* per second */
	double syscalls; /* per second */
	double steals;   /* per second */
	double stolen_events; /* a steal */
	double stolen_cycles; /* a steal: cycles of work in those events */
	double steal_cycles;  /* a steal: cycles of the thief, failed attempts included */
	double lock_pct;      /* share of the cores' time spent waiting for locks of other cores */
	double cache_misses;  /* an event: last level, counted by the processor */
	int cores;
};

/* The runs of one configuration. */
struct mb_series {
	const char *bench;
	const char *peer;
	const char *variant; /* NULL: the plain one */
	const char *unit;
	const char *method;  /* how it was counted; NULL: the unit implies it */
	int colors;
	double ratio;        /* to the reference measured in the same run; NAN: none */
	int count;
	struct mb_sample *samples;
};

/* All fields NAN, cores 0. */
void mb_sample_clear(struct mb_sample *sample);
/* A series with room for runs samples; lack of memory is fatal. */
void mb_series_init(struct mb_series *series, const char *bench, const char *peer,
    const char *unit, int colors, int runs);
void mb_series_add(struct mb_series *series, const struct mb_sample *sample);
double mb_series_median(const struct mb_series *series);
/* One line, for people or as a JSON object; then the samples are freed. */
void mb_series_report(struct mb_series *series, bool json);

/* ---- runs --------------------------------------------------------------------------------- */

/*
 * Call fn(ctx, out) in a child process and return its count samples. A child that fails or takes
 * much longer than seconds is fatal. abandon: the child ends by _exit, with threads still running;
 * otherwise by exit, so that leak checkers run.
 */
void mb_child_run(void (*fn)(void *ctx, struct mb_sample *out), void *ctx, double seconds,
    bool abandon, struct mb_sample *out, int count);

/* A benchmark whose runs return one sample each. */
struct mb_bench {
	const char *name;
	const char *peer;
	const char *variant; /* NULL: the plain one */
	const char *unit;
	void (*run)(void *ctx, struct mb_sample *out); /* one run, in a child */
	int *colors;  /* the number of colors; set for run before each configuration */
	bool abandon; /* as in mb_child_run */
};

/* Run all configurations that the options name, and report each. */
void mb_bench_runs(const struct mb_bench *bench, const struct mb_options *opt);

/* A window of time over counters that the program increments. */
struct mb_window {
	uint64_t (*read)(void *ctx, int i); /* counter i now; called on the measuring thread */
	void *ctx;
	int count;
	double warmup_s; /* from the first event counted */
	double seconds;
};

/* The usual warm-up; also the time that a skewed start has to balance itself. */
#define MB_WARMUP_S 0.1

/*
 * The other way to measure: a fixed amount of work that is done when every color has run its
 * share. Starving some colors gains nothing here, because they must run in the end. Any thread.
 */
struct mb_fixed;
struct mb_fixed *mb_fixed_new(int colors);
void mb_fixed_begin(struct mb_fixed *fixed); /* the clock starts */
void mb_fixed_done(struct mb_fixed *fixed);  /* one color has run its share */
/* Wait for the last color; events were run in all. */
void mb_fixed_measure(struct mb_fixed *fixed, uint64_t events, struct mb_sample *out);
void mb_fixed_free(struct mb_fixed *fixed);

/* Warm up, measure; value is counts per second, events and fairness are filled in too. */
void mb_window_measure(const struct mb_window *window, struct mb_sample *out);

/* ---- wake --------------------------------------------------------------------------------- */

enum mb_wake_contender { /* in the order of the samples */
	MB_WAKE_RUNTIME,
	MB_WAKE_EPOLL, /* a thread in epoll_wait on an eventfd */
	MB_WAKE_READ,  /* a thread in read on an eventfd */
	MB_WAKE_COUNT
};

struct mb_wake;

/*
 * Prepare, in the child, before the runtime starts. cross: the calling thread, and so the threads
 * that it makes, moves to the last processor; the poster runs on the first and stays busy until
 * the event has run. Otherwise nothing is pinned and the poster sleeps.
 */
struct mb_wake *mb_wake_new(bool cross, double seconds);
/* The runtime's event runs: its handler calls this. */
void mb_wake_hit(struct mb_wake *wake);
/* Wake the runtime with post(ctx), and the two bare threads, in turn, for the seconds given. */
void mb_wake_measure(struct mb_wake *wake, void (*post)(void *ctx), void *ctx,
    struct mb_sample out[MB_WAKE_COUNT]);
void mb_wake_free(struct mb_wake *wake);
/*
 * All runs of the wake benchmark, both modes, and their reports. fn(ctx, out) makes one run;
 * *cross selects the mode. The bare threads are reported if bare is true.
 */
void mb_wake_bench(const struct mb_options *opt, const char *peer, bool bare, bool abandon,
    bool *cross, void (*fn)(void *ctx, struct mb_sample *out), void *ctx);

/* ---- idle --------------------------------------------------------------------------------- */

/*
 * One run of the idle benchmark: child(ctx, ready_fd, end_fd) runs in a child process, does some
 * work, writes a byte to ready_fd when all is done, blocks in read(end_fd) until end of file,
 * and stops. The parent reads the CPU time that it takes in between; value is in percent of one
 * processor. System calls: with strace all of them, otherwise voluntary context switches, which
 * are a lower bound.
 */
void mb_idle_run(void (*child)(void *ctx, int ready_fd, int end_fd), void *ctx, double seconds,
    bool strace, bool abandon, struct mb_sample *out);
/* Does strace work here? */
bool mb_idle_has_strace(void);
/* All runs of the idle benchmark and their report; one more with strace where it works. */
void mb_idle_bench(const struct mb_options *opt, const char *peer, int cores, int colors,
    bool abandon, void (*child)(void *ctx, int ready_fd, int end_fd), void *ctx);

#ifdef __cplusplus
}
#endif

#endif
