/* SPDX-License-Identifier: MIT */
/*
 * test.c: the cases of a test program, its watchdog, runtimes and waiting. Only the main thread
 * calls test_init, test_begin, test_end and test_done; any thread may call the rest.
 */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

uint64_t test_seed;

static struct {
	const char *program;
	const char *only;    /* the only case to run, from the command line */
	char name[128];      /* the running case */
	unsigned cases;
	unsigned watchdog;
} state;

/* ---- checks --------------------------------------------------------------------------------- */

_Noreturn void
test_fail(const char *file, int line, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	(void)n;
	fflush(stdout);
	fprintf(stderr, "%s:%d: %s: check failed: %s\n", file, line, state.name, text);
	fprintf(stderr, "again: MELY_TEST_SEED=%#llx%s %s '%s'\n", (unsigned long long)test_seed,
	    test_long() ? " MELY_TEST_LONG=1" : "", state.program, state.name);
	fflush(stderr);
	_exit(1);
}

static void
on_alarm(int signum)
{
	static const char hung[] = ": hung: the watchdog of the test ends it\n";
	ssize_t n;

	(void)signum;
	n = write(STDERR_FILENO, state.name, strlen(state.name));
	n = write(STDERR_FILENO, hung, sizeof hung - 1);
	(void)n;
	_exit(1);
}

/* ---- the program ---------------------------------------------------------------------------- */

bool
test_long(void)
{
	const char *value = getenv("MELY_TEST_LONG");

	return value != NULL && strcmp(value, "1") == 0;
}

unsigned
test_scale(unsigned n)
{
	unsigned divisor = TEST_TSAN ? 5 : TEST_ASAN ? 3 : 1;

	return n / divisor > 0 ? n / divisor : 1;
}

uint64_t
test_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void
test_init(int argc, char **argv, unsigned watchdog_seconds)
{
	const char *seed = getenv("MELY_TEST_SEED");
	struct timespec now;

	setvbuf(stdout, NULL, _IOLBF, 0);
	state.program = argv[0];
	if (argc > 1)
		state.only = argv[1];
	clock_gettime(CLOCK_REALTIME, &now);
	test_seed = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	test_seed = test_random(&test_seed);
	if (seed != NULL)
		test_seed = strtoull(seed, NULL, 0);
	printf("seed %#llx\n", (unsigned long long)test_seed);
	/* ThreadSanitizer loses a signal that arrives during its first blocking call. */
	(void)poll(NULL, 0, 0);
	test_hold_sanitizer_at_forks();
	signal(SIGALRM, on_alarm);
	/* Not 1: beside other work a test may take several times as long. */
	state.watchdog = (TEST_TSAN || TEST_ASAN ? 6 : 3) * watchdog_seconds;
	alarm(state.watchdog); /* and again for each case */
}

bool
test_begin(const char *name)
{
	snprintf(state.name, sizeof state.name, "%s", name);
	alarm(state.watchdog);
	return state.only == NULL || strcmp(state.only, name) == 0;
}

void
test_end(void)
{
	state.cases++;
	printf("ok %s\n", state.name);
}

int
test_done(void)
{
	if (state.cases == 0) {
		fprintf(stderr, "%s: no case named %s\n", state.program,
		    state.only != NULL ? state.only : "(any)");
		return 1;
	}
	return 0;
}

_Noreturn void
test_skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	fflush(stdout);
	_exit(77);
}

int
test_child(void (*fn)(void), char *text, size_t size)
{
	size_t length = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	fflush(stdout);
	TEST_CHECK(pipe(fds) == 0);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], text + length, size - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(fds[0]);
	TEST_CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* ---- runtimes ------------------------------------------------------------------------------- */

void
test_config(struct mely_config *config, int cores)
{
	TEST_OK(mely_config_init(config));
	config->cores = cores;
}

struct mely_runtime *
test_runtime_with(const struct mely_config *config)
{
	struct mely_runtime *rt = NULL;

	TEST_OK(mely_runtime_new(&rt, config));
	TEST_CHECK(rt != NULL);
	TEST_EQ(mely_cores(rt), config->cores);
	return rt;
}

struct mely_runtime *
test_runtime(int cores)
{
	struct mely_config config;

	test_config(&config, cores);
	return test_runtime_with(&config);
}

struct mely_counters
test_counters(struct mely_runtime *rt)
{
	struct mely_counters total;
	struct mely_stats *stats;

	TEST_OK(mely_stats_take(rt, MELY_STATS_COUNTERS, 0, &stats));
	total = stats->total;
	mely_stats_free(stats);
	return total;
}

static void *
run_thread(void *arg)
{
	struct test_runner *runner = arg;

	runner->result = mely_run(runner->rt);
	return NULL;
}

struct started {
	struct mely_event ev;
	struct mely_handler handler;
	_Atomic uint64_t ran;
};

static void
on_started(void *arg)
{
	struct started *started = arg;

	test_add(&started->ran, 1);
}

void
test_run_start(struct test_runner *runner, struct mely_runtime *rt)
{
	struct started started;

	atomic_init(&started.ran, 0);
	mely_handler_init(&started.handler, on_started, "started");
	mely_event_init(&started.ev, &started.handler, &started);
	runner->rt = rt;
	runner->result = 1;
	TEST_OK(mely_event_post_id(rt, 0, &started.ev));
	runner->thread = test_thread(run_thread, runner);
	test_await(&started.ran, 1);
}

void
test_run_join(struct test_runner *runner)
{
	test_thread_join(runner->thread);
	TEST_OK(runner->result);
}

void
test_run_stop(struct test_runner *runner, enum mely_stop_mode mode)
{
	TEST_OK(mely_stop(runner->rt, mode));
	test_run_join(runner);
}

static void
on_stop(void *arg)
{
	(void)arg;
	TEST_OK(mely_stop(mely_current_runtime(), MELY_STOP_DRAIN));
}

static void
on_discard(void *arg)
{
	(void)arg;
	TEST_OK(mely_stop(mely_current_runtime(), MELY_STOP_DISCARD));
}

struct mely_handler test_stop_handler = MELY_HANDLER(on_stop);
struct mely_handler test_discard_handler = MELY_HANDLER(on_discard);

void
test_run_dry(struct mely_runtime *rt)
{
	TEST_OK(mely_post_id(rt, 0, &test_stop_handler, NULL));
	TEST_OK(mely_run(rt));
}

void
test_settle(struct mely_color *color)
{
	struct started settled;

	atomic_init(&settled.ran, 0);
	mely_handler_init(&settled.handler, on_started, "settled");
	mely_event_init(&settled.ev, &settled.handler, &settled);
	TEST_OK(mely_event_post(color, &settled.ev));
	test_await(&settled.ran, 1);
}

struct mely_color *
test_color(struct mely_runtime *rt)
{
	struct mely_color *color = aligned_alloc(64, sizeof *color);

	TEST_CHECK(color != NULL);
	TEST_OK(mely_color_init(color, rt));
	return color;
}

struct mely_color *
test_color_on(struct mely_runtime *rt, int core)
{
	struct mely_color *color = aligned_alloc(64, sizeof *color);

	TEST_CHECK(color != NULL);
	TEST_OK(mely_color_init_on(color, rt, core));
	return color;
}

/* ---- waiting -------------------------------------------------------------------------------- */

void
test_nap_us(unsigned us)
{
	struct timespec nap = {us / 1000000, (long)(us % 1000000) * 1000};

	nanosleep(&nap, NULL);
}

/* acquire: pairs with the release in test_add */
uint64_t
test_get(_Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

/* release: pairs with the acquire in test_get */
void
test_add(_Atomic uint64_t *word, uint64_t n)
{
	atomic_fetch_add_explicit(word, n, memory_order_release);
}

void
test_await(_Atomic uint64_t *word, uint64_t value)
{
	while (test_get(word) < value)
		test_nap_us(50);
}

void
test_close(const int *fds, int n)
{
	while (n-- > 0)
		close(fds[n]);
}

void
test_spin_ns(uint64_t ns)
{
	uint64_t until = mely_now_ns() + ns;

	while (mely_now_ns() < until)
		continue;
}

pthread_t
test_thread(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	TEST_EQ(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

void
test_thread_join(pthread_t thread)
{
	TEST_EQ(pthread_join(thread, NULL), 0);
}
