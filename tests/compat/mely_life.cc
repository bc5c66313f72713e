/* SPDX-License-Identifier: MIT */
/*
 * mely_life.cc: the life of a program of dialect "mely": queries, stop, exit, signals and macros.
 * Sections 0.5 and 0 (4 and 7) of the facts.
 */
#include "mely.h"

#include <sched.h>

#include "counted.h"
#include "facts.h"

extern int nthreads; /* declared as in old programs */

static int left;

/* ---- where am I ---- */

static void
ask_inside(int color, int proc)
{
	FACT_EQ(get_current_color(), color);
	FACT_EQ(get_current_proc(), proc);
	FACT_EQ(task_get_nthreads(), async_get_nthreads());
	FACTS_END();
}

static void
introspection()
{
	const char *cores = getenv("MELY_CORES");
	int last = task_get_nthreads() - 1;

	FACT_EQ(get_current_color(), -42);
	FACT_EQ(get_current_proc(), MAX_THREADS);
	FACT(cores != NULL && task_get_nthreads() == atoi(cores));
	FACT_EQ(nthreads, task_get_nthreads());
	FACT_EQ(MAX_COLORS, 32764);
	cpucb_tail(cwrap(ask_inside, -(last + 1), last, -(last + 1)));
	amain();
}

/* Programs have arrays of MAX_THREADS elements, so there are never more workers. */
static void
never_too_many()
{
	int status;
	pid_t pid;

	FACT(task_get_nthreads() <= MAX_THREADS);
	pid = fork();
	if (pid == 0) {
		setenv("MELY_CORES", "200", 1);
		execl("/proc/self/exe", "facts", "count_workers", (char *)NULL);
		_exit(98);
	}
	FACT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	FACT_EQ(WEXITSTATUS(status), MAX_THREADS);
	FACTS_END();
}

static void
count_workers()
{
	exit(task_get_nthreads());
}

static void
has_own_processor()
{
	cpu_set_t set;

	FACT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	FACT_EQ(CPU_COUNT(&set), 1);
	if (facts_add(&left, -1) == 0)
		FACTS_END();
}

/* One worker per processor, each bound to its own with MELY_PIN=yes. */
static void
without_environment()
{
	cpu_set_t set;
	int i, processors;

	FACT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	processors = CPU_COUNT(&set);
	FACT(task_get_nthreads() >= 1 && task_get_nthreads() <= processors);
	if (processors == 1 || task_get_nthreads() < processors)
		FACTS_END(); /* more than MAX_THREADS processors, or a CPU quota */
	left = processors;
	for (i = 0; i < processors; i++)
		cpucb_tail(cwrap(has_own_processor, -(i + 1)));
	amain();
}

static void
a_worker_for_each_processor()
{
	unsetenv("MELY_CORES");
	setenv("MELY_PIN", "yes", 1);
	execl("/proc/self/exe", "facts", "without_environment", (char *)NULL);
	_exit(98);
}

/* ---- the stop ---- */

static void
stop_all()
{
	int i;

	for (i = 0; i < task_get_nthreads(); i++)
		cpucb_tail(cpwrap(stop_hw_counters, -(i + 1), 65535));
}

static void
forever()
{
	cpucb_tail(cwrap(forever, get_current_color()));
}

static bool handler_ran;

static void
at_the_end()
{
	handler_ran = true;
	FACT_EQ(get_current_color(), -42);
	FACT_EQ(get_current_proc(), MAX_THREADS);
}

static void
overwritten()
{
	facts_fail(__FILE__, __LINE__, "there is one exit handler");
}

static void
comes_back()
{
	register_atexit_handler(overwritten);
	register_atexit_handler(at_the_end);
	save_bench_time(1500000);
	cpucb_tail(cwrap(forever, 1));
	cpucb_tail(cwrap(forever, 2));
	delaycb(0, 2000000, wrap(stop_all));
	amain();
	FACT(handler_ran);
	FACTS_END();
}

static void
exits_without_handler()
{
	stop_all();
	amain();
	facts_fail(__FILE__, __LINE__, "amain came back");
}

static void *
end_when_idle(void *)
{
	usleep(50000);
	cpucb_tail(wrap(exit, FACTS_PASSED));
	return NULL;
}

static void
go_idle()
{
	facts_thread(end_when_idle);
}

/* With nothing to do and nothing to wait for, and with an exit handler, it still waits. */
static void
never_ends_by_itself()
{
	register_atexit_handler(overwritten);
	cpucb_tail(wrap(go_idle));
	amain();
}

/* The final lines are the program's output, not messages. */
static void
ends_on_standard_output()
{
	FACT(freopen("/dev/null", "w", stderr) != NULL);
	register_atexit_handler(at_the_end);
	save_bench_time(2250000);
	stop_all();
	amain();
	FACTS_END();
}

static void
not_the_last()
{
	FACTS_END();
}

/* All workers but one have stopped: the program continues. */
static void
all_must_stop()
{
	int i;

	for (i = 1; i < task_get_nthreads(); i++)
		cpucb_tail(cwrap(stop_hw_counters, -(i + 1)));
	delaycb(0, 20000000, wrap(not_the_last));
	amain();
}

static void
left_over(counted)
{
	facts_fail(__FILE__, __LINE__, "it ran after the stop");
}

static void
post_and_stop()
{
	int i;

	for (i = 0; i < 100; i++)
		cpucb_tail(cwrap(left_over, counted(), -1));
	for (i = 0; i < task_get_nthreads(); i++)
		stop_hw_counters();
}

static void
check_left_over()
{
	FACT_EQ(counted::alive, 0);
}

/* Callbacks still queued are freed. */
static void
left_over_is_freed()
{
	register_atexit_handler(check_left_over);
	cpucb_tail(cwrap(post_and_stop, -1));
	amain();
	FACTS_END();
}

static void
second_round(int n)
{
	left += n;
	stop_all();
}

/* The loop may be entered again. */
static void
runs_twice()
{
	register_atexit_handler(check_left_over);
	cpucb_tail(wrap(second_round, 1));
	amain();
	FACT_EQ(left, 1);
	delaycb(0, 1000000, wrap(second_round, 2));
	amain();
	FACT_EQ(left, 3);
	FACTS_END();
}

static void
amain_inside()
{
	amain();
}

static void
no_amain_inside()
{
	cpucb_tail(wrap(amain_inside));
	amain();
}

/* ---- exit ---- */

/* Objects that other workers use must not be destroyed while they run. */
struct precious {
	int *p;

	precious() : p(new int(1)) {}
	~precious()
	{
		delete p;
		p = NULL;
		usleep(20000);
	}
};
static precious thing;

static void
use_it(int color)
{
	int i;

	for (i = 0; i < 1000; i++)
		FACT_EQ(*thing.p, 1);
	cpucb_tail(cwrap(use_it, color, color));
}

static void
exits_from_callback()
{
	int i;

	for (i = 1; i < 9; i++)
		cpucb_tail(cwrap(use_it, i, i));
	delaycb(0, 2000000, cwrap(exit, FACTS_PASSED, 9));
	amain();
}

static void
flushed_at_exit()
{
	setvbuf(stdout, NULL, _IOFBF, 4096);
	printf("what was printed ");
	cpucb_tail(wrap(exit, 5));
	amain();
}

static void
leave_thread()
{
	pthread_exit(NULL);
}

static void
thread_exit_is_an_error()
{
	signal(SIGABRT, SIG_DFL);
	cpucb_tail(wrap(leave_thread));
	amain();
}

static void
do_throw()
{
	throw 1;
}

static void
exception_is_an_error()
{
	cpucb_tail(wrap(do_throw));
	amain();
}

/* ---- signals ---- */

static void
sigpipe_is_ignored()
{
	struct sigaction now;
	int fds[2];

	FACT(sigaction(SIGPIPE, NULL, &now) == 0);
	FACT(now.sa_handler == SIG_IGN);
	FACT(pipe(fds) == 0);
	close(fds[0]);
	FACT(write(fds[1], "a", 1) < 0 && errno == EPIPE);
	FACTS_END();
}

static void
own_handler(int)
{
	_exit(3);
}

static void
interrupt_self()
{
	kill(getpid(), SIGINT);
}

/* The program's own handler is replaced. */
static void
sigint_ends()
{
	signal(SIGINT, own_handler);
	delaycb(0, 1000000, wrap(interrupt_self));
	amain();
}

static void
interrupt_and_hang()
{
	/* Two that another worker takes at once are one. */
	for (;;) {
		kill(getpid(), SIGINT);
		usleep(1000);
	}
}

/* A second signal does not wait for a callback that hangs. */
static void
sigint_twice()
{
	delaycb(0, 1000000, wrap(interrupt_and_hang));
	amain();
}

/* ---- miscellaneous ---- */

static void
named()
{
	dump_current_state(true);
	reset_runtime_stats();
	dump_current_state(false);
	delaycb(0, 2000000, wrap(exit, 6));
}

static void
statistics()
{
	register_EH_name((void *)named, "named by the program");
	register_EH_name((void *)forever, (char *)"another");
	register_atempty_handler(at_the_end);
	register_task_avg_duration((void *)named, 2000);
	reset_runtime_stats();
	dump_current_state(true);
	cpucb_tail(wrap(named));
	amain();
}

struct three {
	char bytes[3];
};
typedef PAD_TYPE(struct three, PADDING_SIZE) padded_t;
static padded_t padded[MAX_THREADS];
static PAD(padded_t) twice_padded;

static void
macros()
{
	uint64_t begin, end;
	cbv none = 0;

	DEBUG("%d\n", facts_fail(__FILE__, __LINE__, "DEBUG is not empty"));
	rdtscll(begin);
	rdtscll(end);
	FACT(end >= begin);
	FACT_EQ(sizeof(padded_t) % CACHE_LINE_SIZE, 0);
	FACT(sizeof twice_padded >= CACHE_LINE_SIZE + sizeof(padded_t));
	padded[MAX_THREADS - 1].val.bytes[0] = 1;
	twice_padded.val = padded[MAX_THREADS - 1];
	DEBUG_TMP("without arguments\n");
	DEBUG_TMP("%s %d\n", "debug", 7);
	PRINT_ALERT("no arguments\n");
	PRINT_ALERT("%s\n", "alert");
	PRINT_ALERT("it brings its own semicolon\n")
	if (none == NULL)
		PANIC("panic %d\n", 8)
	FACTS_END();
}

static void
reset_queues()
{
	reset_threads_queue();
	FACTS_END();
}

static const struct fact facts[] = {
	CASE(introspection),
	CASE_ON(1, never_too_many),
	CASE_ON(1, a_worker_for_each_processor),
	CASE(comes_back),
	CASE_ENDS(comes_back, FACTS_PASSED, "1.500000 PAGE_FAULTS"),
	CASE_ENDS(exits_without_handler, 0, "PAGE_FAULTS"),
	CASE_ENDS(ends_on_standard_output, FACTS_PASSED, "2.250000 PAGE_FAULTS"),
	CASE(never_ends_by_itself),
	CASE(all_must_stop),
	CASE(left_over_is_freed),
	CASE(runs_twice),
	CASE_ENDS(no_amain_inside, 1, "already running"),
	CASE(exits_from_callback),
	CASE_ENDS(flushed_at_exit, 5, "what was printed"),
	CASE_ENDS(thread_exit_is_an_error, 1000 + SIGABRT, "ended its thread"),
	CASE_ENDS(exception_is_an_error, 1000 + SIGABRT, "terminate called"),
	CASE(sigpipe_is_ignored),
	CASE_ENDS(sigint_ends, 1, "worker 0: "),
	CASE_ENDS(sigint_twice, 1, NULL),
	CASE_ENDS(statistics, 6, "worker 0: "),
	CASE_ENDS(macros, 1, "panic 8"),
	CASE_ENDS(macros, 1, "(macros,"),
	CASE_ENDS(reset_queues, 1, NULL),
	{"without_environment", without_environment, FACTS_PASSED, NULL, -1},
	{"count_workers", count_workers, MAX_THREADS, NULL, -1},
};

FACTS_MAIN(facts)
