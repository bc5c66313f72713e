/* SPDX-License-Identifier: MIT */
/*
 * erlang_process.c: the program of the Erlang peer. Options, windows, runs and reports are those of
 * our own programs (../../mb.h); the work is in bench.erl. Each run starts an Erlang VM of its own,
 * and reads the counters that its processes write into shared memory. Main thread only.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../mb.h"
#include "shared.h"

/*
 * Options of the VM. As it comes, a scheduler without work spins a while before it sleeps; whether
 * that helps depends on the work and on the machine, so build.sh makes a second program without.
 */
#ifdef PEER_NO_SPIN
#define PEER "erlang-process-nospin"
#define VM_OPTIONS "+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none",
#else
#define PEER "erlang-process"
#define VM_OPTIONS
#endif
#define WORK_S 100e-9

static const struct bench {
	const char *name;
	const char *what;
	const char *unit;
	int colors_default;
	int per_color; /* counters of a color */
	bool has_events;
} benches[] = {
	{"chain", "Each of K processes sends to itself again.", "events/s", 64, 1, true},
	{"compat-chain", "The same; what is sent is allocated each time.", "events/s", 64, 1, true},
	{"pingpong", "Pairs of processes send to each other.", "hops/s", 1, 2, false},
	{"fan", "One process sends to K in turn, 100 ns of work each, 8 rounds outstanding.",
	    "events/s", 1024, 1, false},
};

static struct mb_options opt;
static const struct bench *bench;
static int cores;
static int colors; /* of the configuration that runs now */

/* ---- the VM ------------------------------------------------------------------------------- */

/* The memory for n counters; *fd is for the VM to inherit. */
static struct shared *
share(int n, int *fd)
{
	size_t size = sizeof(struct shared) + (size_t)n * sizeof(struct counter);
	struct shared *shared;

	*fd = memfd_create(PEER, 0);
	if (*fd < 0 || ftruncate(*fd, (off_t)size) != 0)
		mb_fail("the counters", errno);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *fd, 0);
	if (shared == MAP_FAILED)
		mb_fail("mmap", errno);
	return shared;
}

/* The folder of bench.beam and bench_nif.so: erl/ beside this program. */
static void
find_beam(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - sizeof("/erl"));

	if (n < 0)
		mb_fail("/proc/self/exe", errno);
	path[n] = '\0';
	strcpy(strrchr(path, '/'), "/erl");
}

static void __attribute__((noreturn))
exec_vm(uint64_t events_each, int fd)
{
	char beam[4096], threads[32], k[16], events[24], ticks[24], counters[16];

	find_beam(beam, sizeof(beam));
	snprintf(threads, sizeof(threads), "%d:%d", cores, cores);
	snprintf(k, sizeof(k), "%d", colors);
	snprintf(events, sizeof(events), "%llu", (unsigned long long)events_each);
	snprintf(ticks, sizeof(ticks), "%llu",
	    (unsigned long long)(mb_ticks_per_s() * WORK_S));
	snprintf(counters, sizeof(counters), "%d", fd);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("ERL_CRASH_DUMP_BYTES", "0", 1);
	execlp("erl", "erl", "+S", threads, VM_OPTIONS "-boot", "no_dot_erlang", "-noinput",
	    "-pa", beam, "-run", "bench", "main", bench->name, k, events, ticks, counters,
	    (char *)NULL);
	mb_fail("erl", errno);
}

static pid_t
start_vm(uint64_t events_each, int fd)
{
	pid_t pid = fork();

	if (pid < 0)
		mb_fail("fork", errno);
	if (pid == 0)
		exec_vm(events_each, fd);
	return pid;
}

/* ---- a run -------------------------------------------------------------------------------- */

static uint64_t
read_counters(void *ctx, int i)
{
	struct shared *shared = ctx;
	uint64_t sum = 0;
	int j;

	/* Relaxed: a number; pairs with publish in bench_nif.c. */
	for (j = 0; j < bench->per_color; j++)
		sum += atomic_load_explicit(&shared->counters[i * bench->per_color + j].n,
		    memory_order_relaxed);
	return sum;
}

static void
ended_early(int sig)
{
	static const char text[] = PEER ": the Erlang VM has ended early\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void
run_window(void *ctx, struct mb_sample *out)
{
	int fd;
	struct shared *shared = share(colors * bench->per_color, &fd);
	struct mb_window window = {
		.read = read_counters,
		.ctx = shared,
		.count = colors,
		.warmup_s = MB_WARMUP_S,
		.seconds = opt.seconds,
	};
	pid_t vm;

	(void)ctx;
	signal(SIGCHLD, ended_early);
	vm = start_vm(0, fd);
	mb_window_measure(&window, out);
	signal(SIGCHLD, SIG_DFL);
	kill(vm, SIGKILL);
	waitpid(vm, NULL, 0);
	out->cores = cores;
	out->cpu_ns = NAN; /* this process's, not the VM's */
	if (strcmp(bench->name, "fan") == 0)
		out->ideal_pct = out->value * WORK_S / cores * 100;
}

static void
run_fixed(void *ctx, struct mb_sample *out)
{
	int fd;
	struct shared *shared = share(0, &fd);
	uint64_t k = (uint64_t)colors, each = (opt.events + k - 1) / k;
	int status = 0;

	(void)ctx;
	if (waitpid(start_vm(each, fd), &status, 0) < 0 || status != 0 || shared->fixed_ns == 0)
		mb_fail("the Erlang VM has failed", 0);
	out->cores = cores;
	out->events = (double)(each * k);
	out->value = out->events / ((double)shared->fixed_ns * 1e-9);
}

/* ---- which -------------------------------------------------------------------------------- */

static int
usage(FILE *to, int status)
{
	size_t i;

	fprintf(to, "usage: " PEER " BENCH [options]; BENCH is one of");
	for (i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		fprintf(to, " %s", benches[i].name);
	fprintf(to, "; BENCH --help tells more\n");
	return status;
}

int
main(int argc, char **argv)
{
	struct mb_program program = {0};
	struct mb_bench all = {0};
	size_t i;
	int cpu;

	if (argc < 2)
		return usage(stderr, 2);
	if (strcmp(argv[1], "--help") == 0)
		return usage(stdout, 0);
	for (i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		if (strcmp(argv[1], benches[i].name) == 0)
			bench = &benches[i];
	if (bench == NULL)
		return usage(stderr, 2);

	program.name = bench->name;
	program.what = bench->what;
	program.colors_help = "processes (pingpong: pairs)";
	program.colors_default = bench->colors_default;
	program.colors_max = 100000; /* the VM has room for 262,144 processes */
	program.seconds_default = 1;
	program.has_events = bench->has_events;
	mb_options_parse(&program, argc - 1, argv + 1, &opt);
	cores = opt.cores > 0 ? opt.cores : mb_processors(&cpu, 1);

	all.name = bench->name;
	all.peer = PEER;
	all.unit = bench->unit;
	all.variant = opt.events > 0 ? "fixed work" : NULL;
	all.run = opt.events > 0 ? run_fixed : run_window;
	all.colors = &colors;
	all.abandon = true;
	mb_bench_runs(&all, &opt);
	return 0;
}
