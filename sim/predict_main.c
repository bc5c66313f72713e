/* SPDX-License-Identifier: MIT */
/*
 * predict_main.c: the command line of "mely-sim predict". Each scheduler has its own program. Each
 * prediction runs in a separate process, so it does not depend on earlier predictions.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../microbench/mb.h"
#include "../microbench/mb_config.h"
#include "machine.h"
#include "predict.h"

#ifdef MELYINT_LIBASYNC
enum { LIBASYNC = true };
#else
enum { LIBASYNC = false };
#endif

enum { LIST_MAX = 32, ROUNDS_LARGE = 2, ROUNDS_SMALL = 10, TEXT_MAX = 512, ENVIRONMENT_MAX = 64 };

extern char **environ;

static struct {
	struct sim_machine machine;
	const char *topology;
	const char *benchmarks, *configs, *cores;
	int producers, colors, rounds;
	uint64_t seed;
	bool json, one;
} opt = {.benchmarks = "unbalanced", .configs = "every", .producers = 1,
	.seed = 1};

static const char *const benchmark_names[] =
    {"unbalanced", "penalty", "cache-efficient", NULL};

/* libasync-ws whose steals scan to the end of the queue: the costlier reading of figure 2. */
#define FULL "libasync-ws-full"

/* The configurations of the microbenchmarks, and FULL. */
static const char *config_names[LIST_MAX];

static const struct mb_config *
config_find(const char *name)
{
	return mb_config_find(strcmp(name, FULL) == 0 ? "libasync-ws" : name);
}

static void
list_configs(void)
{
	int n = 0, i;

	for (i = 0; mb_config_names[i] != NULL; i++) {
		config_names[n++] = mb_config_names[i];
		if (strcmp(mb_config_names[i], "libasync-ws") == 0)
			config_names[n++] = FULL;
	}
}

void
sim_wrong(const char *what, int error)
{
	if (error != 0)
		fprintf(stderr, "mely-sim predict: %s: %s\n", what, strerror(error));
	else
		fprintf(stderr, "mely-sim predict: %s\n", what);
	exit(1);
}

static void
usage(FILE *to)
{
	const struct sim_machine *m;

	fprintf(to, "usage: mely-sim predict [options]\n\n"
	    "Run the paper's microbenchmarks on a simulated machine: the runtime's own code on\n"
	    "virtual cores, under virtual time. Print one line for each benchmark, configuration\n"
	    "and number of cores. Equal options give equal figures.\n\n"
	    "  --benchmark NAME,...  unbalanced, penalty, cache-efficient, or every (default:\n"
	    "                        unbalanced)\n"
	    "  --config NAME,...     one of these, or every (default)\n%s"
	    "      " FULL "\n"
	    "                    libasync-ws with steals that scan to the end of the queue\n"
	    "  --machine NAME        one of these (default: paper)\n", mb_config_help);
	for (m = sim_machines; m->name != NULL; m++)
		fprintf(to, "      %-14s%s;\n                    \"%s\"\n", m->name, m->what,
		    m->topology);
	fprintf(to,
	    "  --topology TEXT       another topology: hwloc's synthetic description or an XML\n"
	    "                        file\n"
	    "  --cores N,...         use the first N cores (default: all of the machine)\n"
	    "  --producers N         unbalanced: the number of cores that post a round's events,\n"
	    "                        evenly spread; 0: one for every two cores (default 1)\n"
	    "  --colors K            events or colors at the start of a round (default: the\n"
	    "                        benchmark's)\n"
	    "  --rounds R            measured rounds, after one to warm up (default:\n"
	    "                        unbalanced %d, others %d)\n"
	    "  --seed N              the seed of the jitter of misses (default 1)\n"
	    "  --set NAME=VALUE      change one of the machine's times\n"
	    "  --json                print one JSON object a line\n"
	    "  --help                this text\n"
	    "  --version             the version of the project\n", ROUNDS_LARGE, ROUNDS_SMALL);
}

/* ---- options --------------------------------------------------------------------------------- */

static void __attribute__((noreturn))
bad(const char *option, const char *text)
{
	fprintf(stderr, "mely-sim predict: --%s: invalid value '%s' (try --help)\n",
	    option, text);
	exit(2);
}

static uint64_t
number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < min || value > max)
		bad(option, text);
	return value;
}

static void
choose_machine(const char *name)
{
	const struct sim_machine *m = sim_machine_find(name);

	if (m == NULL)
		bad("machine", name);
	opt.machine = *m;
}

static void
parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"benchmark", required_argument, NULL, 'b'},
		{"config", required_argument, NULL, 'c'},
		{"machine", required_argument, NULL, 'm'},
		{"topology", required_argument, NULL, 't'},
		{"cores", required_argument, NULL, 'n'},
		{"producers", required_argument, NULL, 'p'},
		{"colors", required_argument, NULL, 'k'}, {"rounds", required_argument, NULL, 'r'},
		{"seed", required_argument, NULL, 's'}, {"set", required_argument, NULL, 'x'},
		{"json", no_argument, NULL, 'j'}, {"one", no_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0}};
	int which;

	choose_machine("paper");
	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (which) {
		case 'b': opt.benchmarks = optarg; break;
		case 'c': opt.configs = optarg; break;
		case 'm': choose_machine(optarg); break;
		case 't': opt.topology = optarg; break;
		case 'n': opt.cores = optarg; break;
		case 'p': opt.producers = (int)number("producers", optarg, 0, SIM_CPUS_MAX); break;
		case 'k': opt.colors = (int)number("colors", optarg, 1, 1000000); break;
		case 'r': opt.rounds = (int)number("rounds", optarg, 1, 10000); break;
		case 's': opt.seed = number("seed", optarg, 0, UINT64_MAX); break;
		case 'x':
			if (!sim_machine_set(&opt.machine, optarg))
				bad("set", optarg);
			break;
		case 'j': opt.json = true; break;
		case 'o': opt.one = true; break;
		case 'h':
			usage(stdout);
			exit(0);
		case 'v':
			printf("mely-sim predict (mely) %s\n", MELY_VERSION_STRING);
			exit(0);
		default:
			fprintf(stderr, "mely-sim predict: try --help\n");
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "mely-sim predict: invalid argument '%s' (try --help)\n",
		    argv[optind]);
		exit(2);
	}
	if (opt.topology == NULL)
		opt.topology = opt.machine.topology;
}

/* Split a list of names; "every" means all of them. Returns their number. */
static int
split(const char *option, const char *text, const char *const *all, char list[][TEXT_MAX])
{
	const char *const *name;
	size_t length;
	int n = 0;

	if (all != NULL && strcmp(text, "every") == 0) {
		for (name = all; *name != NULL; name++)
			snprintf(list[n++], TEXT_MAX, "%s", *name);
		return n;
	}
	for (;; text += length + 1) {
		length = strcspn(text, ",");
		if (length == 0 || length >= TEXT_MAX || n == LIST_MAX)
			bad(option, text);
		snprintf(list[n], TEXT_MAX, "%.*s", (int)length, text);
		for (name = all; name != NULL && *name != NULL; name++) {
			if (strcmp(*name, list[n]) == 0)
				break;
		}
		if (all != NULL && *name == NULL)
			bad(option, list[n]);
		n++;
		if (text[length] == '\0')
			return n;
	}
}

/* ---- one ------------------------------------------------------------------------------------- */

static double
per(double what, double of)
{
	return of > 0 ? what / of : 0;
}

/* Values computed from several figures of a prediction. */
struct derived {
	double rate, ideal, lock, cost;
};

static void
report_json(const struct sim_predict *p, const char *config, const struct sim_prediction *r,
    const struct derived *d)
{
	double events = (double)r->tally.events, steals = (double)r->steals;
	int i;

	printf("{\"bench\": \"%s\", \"config\": \"%s\", \"machine\": \"%s\", \"topology\":"
	    " \"%s\", \"cores\": %d, \"producers\": %d, \"colors\": %d, \"seed\": %llu,",
	    p->workload->name, config, p->params.machine->name, p->topology, p->cores,
	    p->params.producers, p->params.count, (unsigned long long)p->seed);
	printf(" \"events\": %.0f, \"events_s\": %.6g, \"ideal_pct\": %.4f, \"steals\": %.0f,"
	    " \"steals_s\": %.6g, \"stolen_events\": %.6g, \"stolen_cycles\": %.6g,"
	    " \"steal_cycles\": %.6g, \"lock_pct\": %.4f,", events, d->rate, d->ideal, steals,
	    steals / r->seconds, per((double)r->tally.away_events, steals),
	    per((double)r->tally.away_cycles, steals), d->cost, d->lock);
	printf(" \"steals_tried\": %llu, \"steals_empty\": %llu, \"sleeps\": %llu,"
	    " \"wakeups\": %llu, \"steals_at\": [", (unsigned long long)r->steals_tried,
	    (unsigned long long)r->steals_empty, (unsigned long long)r->sleeps,
	    (unsigned long long)r->wakeups);
	for (i = 0; i < MELY_DISTANCES; i++)
		printf("%s%llu", i > 0 ? ", " : "", (unsigned long long)r->steals_at[i]);
	printf("], \"cache_misses\": %.4f, \"transfers\": %.4f, \"accesses\": %.2f,"
	    " \"virtual_s\": %.9f, \"trace\": \"%016llx\"}\n", (double)r->misses / events,
	    (double)r->transfers / events, (double)r->accesses / events, r->seconds,
	    (unsigned long long)r->trace);
}

static void
report(const struct sim_predict *p, const char *config, const struct sim_prediction *r)
{
	double events = (double)r->tally.events, steals = (double)r->steals;
	double rate = events / r->seconds, mhz = p->params.machine->mhz;
	double ideal = (double)r->tally.cycles / (mhz * 1e6 * r->seconds * p->cores) * 100;
	double lock = (double)r->lock_ps / 1e12 / (r->seconds * p->cores) * 100;
	double cost = per((double)r->held_ps * mhz / 1e6, steals);

	if (opt.json) {
		report_json(p, config, r, &(struct derived){rate, ideal, lock, cost});
		return;
	}
	printf("%-15s %-16s %3d cores %10.1f KEvents/s", p->workload->name, config, p->cores,
	    rate / 1e3);
	if (r->tally.cycles > 0)
		printf("  ideal %5.1f %%", ideal);
	printf("  locks %5.2f %%  misses/event %7.2f", lock, (double)r->misses / events);
	if (r->steals > 0)
		printf("  steal %6.0f cycles, for %.0f cycles in %.2f events", cost,
		    per((double)r->tally.away_cycles, steals),
		    per((double)r->tally.away_events, steals));
	printf("\n");
}

static int
predict_one(void)
{
	const struct mb_config *config = config_find(opt.configs);
	struct sim_predict p = {.workload = sim_workload_find(opt.benchmarks),
		.topology = opt.topology, .seed = opt.seed};
	struct sim_prediction r;

	p.cores = (int)number("cores", opt.cores, 1, SIM_CPUS_MAX);
	p.params = (struct sim_params){&opt.machine, opt.producers, opt.colors, config->annotated,
		opt.rounds};
	if (opt.rounds == 0)
		p.params.rounds = p.workload == &sim_unbalanced ? ROUNDS_LARGE : ROUNDS_SMALL;
	if (opt.producers == 0)
		p.params.producers = p.cores > 1 ? p.cores / 2 : 1;
	if (!p.workload->many)
		p.params.producers = 1;
	if (p.params.producers > p.cores)
		bad("producers", "more than cores");
	mb_config_set(config);
	if (setenv("MELY_LIBASYNC_SCAN", strcmp(opt.configs, FULL) == 0 ? "full" : "count", 1) != 0)
		sim_wrong("setenv", errno);
	if (sim_predict_run(&p, &r) != 0) {
		fprintf(stderr, "mely-sim predict: --topology \"%s\": not a topology of %d"
		    " processing units\n", opt.topology, p.cores);
		return 2;
	}
	report(&p, opt.configs, &r);
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The path of this program, or of the one with the other scheduler in the same directory. */
static void
program(bool libasync, char path[PATH_MAX])
{
	static const char suffix[] = "-libasync";
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof(suffix));

	if (length < 0)
		sim_wrong("/proc/self/exe", errno);
	path[length] = '\0';
	if (LIBASYNC && !libasync)
		path[length - (ssize_t)strlen(suffix)] = '\0';
	else if (!LIBASYNC && libasync)
		strcat(path, suffix);
}

/* The environment of a prediction: the library's switches and the variables that running a program
 * needs. Other variables would only change the addresses of its memory. */
static char **
own_environment(void)
{
	static const char *const kept[] = {"MELY_", "LD_", "ASAN_", "UBSAN_", "LSAN_"};
	static char *own[ENVIRONMENT_MAX + 1];
	size_t n = 0, k;
	char **at;

	for (at = environ; *at != NULL && n < ENVIRONMENT_MAX; at++) {
		for (k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
			if (strncmp(*at, kept[k], strlen(kept[k])) == 0) {
				own[n++] = *at;
				break;
			}
		}
	}
	own[n] = NULL;
	return own;
}

static void
spawn(char **argv, int argc, const char *benchmark, const char *config, const char *cores)
{
	char path[PATH_MAX];
	char **args = calloc((size_t)argc + 10, sizeof(*args));
	int n, status, error;
	pid_t pid;

	if (args == NULL)
		sim_wrong("no memory", 0);
	program(config_find(config)->libasync, path);
	for (n = 0; n < argc; n++)
		args[n] = argv[n];
	/* The last occurrence of an option wins. */
	args[n++] = (char *)(uintptr_t)"--one";
	args[n++] = (char *)(uintptr_t)"--benchmark";
	args[n++] = (char *)(uintptr_t)benchmark;
	args[n++] = (char *)(uintptr_t)"--config";
	args[n++] = (char *)(uintptr_t)config;
	args[n++] = (char *)(uintptr_t)"--cores";
	args[n++] = (char *)(uintptr_t)cores;
	error = posix_spawn(&pid, path, NULL, NULL, args, own_environment());
	if (error != 0)
		sim_wrong(path, error);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(args);
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "mely-sim predict: %s %s: killed by signal %d\n", benchmark, config,
		    WTERMSIG(status));
		exit(1);
	}
	if (WEXITSTATUS(status) != 0)
		exit(WEXITSTATUS(status));
}

int
main(int argc, char **argv)
{
	static char benchmarks[LIST_MAX][TEXT_MAX], configs[LIST_MAX][TEXT_MAX];
	static char cores[LIST_MAX][TEXT_MAX];
	int b, c, n, benchmarks_count, configs_count, cores_count = 1;

	list_configs();
	parse(argc, argv);
	if (opt.one)
		return predict_one();
	benchmarks_count = split("benchmark", opt.benchmarks, benchmark_names, benchmarks);
	configs_count = split("config", opt.configs, config_names, configs);
	if (opt.cores != NULL) {
		cores_count = split("cores", opt.cores, NULL, cores);
	} else {
		n = sim_topology_cpus(opt.topology); /* all of them */
		if (n == 0)
			bad("topology", opt.topology);
		snprintf(cores[0], TEXT_MAX, "%d", n);
	}
	for (b = 0; b < benchmarks_count; b++)
		for (n = 0; n < cores_count; n++)
			for (c = 0; c < configs_count; c++)
				spawn(argv, argc, benchmarks[b], configs[c], cores[n]);
	return 0;
}
