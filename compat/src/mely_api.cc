/* SPDX-License-Identifier: MIT */
/*
 * mely_api.cc: the functions of dialect "mely", in terms of the parts.
 */
#include "../include/mely/mely.h"

#include <atomic>
#include <mely/color.h>
#include <mely/event.h>
#include <mely/runtime.h>
#include <sys/resource.h>

#include "descriptors.h"
#include "handlers.h"
#include "interrupt.h"
#include "job.h"
#include "loop.h"
#include "post.h"
#include "say.h"
#include "timers.h"

static_assert(MAX_THREADS == melycompat::WORKERS_MAX, "the headers differ in the workers");
static_assert(MAX_COLORS == melycompat::COLORS_MAX, "the headers differ in the colors");
static_assert(MAX_THREADS <= MELY_CORES_MAX, "more workers than libmely has cores");

/* A program of the family declares it itself. */
MELYCOMPAT_API extern int nthreads;
int nthreads;

namespace {

enum { NO_COLOR = -42 };

std::atomic<void (*)(void)> exit_handler;
std::atomic<unsigned long> bench_usec;
std::atomic<bool> bench_saved;

/* ---- callbacks ---- */

void
run(void *arg)
{
	cbv cb = static_cast<cbv>(arg);

	melycompat::run_guarded([cb] { (*cb)(); });
}

/* The flag is read after the call: the callback may have set it. */
void
posted(void *arg)
{
	cbv cb = static_cast<cbv>(arg);

	melycompat::run_guarded([cb] { (*cb)(); });
	if (cb->_auto_free)
		delete cb;
}

bool
owned(const void *arg)
{
	return static_cast<const callback<void> *>(arg)->getFlagAutoFree();
}

void
free_callback(void *arg)
{
	delete static_cast<cbv>(arg);
}

const melycompat::job_ops ops = {posted, run, owned, free_callback};

void
starting(mely_runtime *rt)
{
	melycompat::descriptors_start();
	melycompat::interrupt_watch(rt);
}

const melycompat::dialect dialect = {&ops, starting, true};

inline melycompat::job
job_of(cbv cb)
{
	return {&ops, cb, cb->_faddr, cb->_color, cb->_prio};
}

}

void
melycompat_init(int workers)
{
	melycompat::loop_init(workers, &dialect);
	nthreads = melycompat::loop_workers();
}

/* ---- events, descriptors, timers ---- */

void
cpucb(cbv cb)
{
	if (cb != nullptr)
		melycompat::post(job_of(cb), true, cb->_timeleft);
}

static melycompat::recent_handlers recent; /* for posted */

static __attribute__((noinline)) void
post_tail(cbv cb)
{
	if (cb->_prio == 0)
		melycompat::handler_remember(recent, posted, cb->_faddr);
	melycompat::post(job_of(cb), false, cb->_timeleft);
}

/* The fast path: most posts of most programs. */
void
cpucb_tail(cbv cb)
{
	mely_runtime *rt = melycompat::runtime();
	mely_handler *handler;
	unsigned color;

	if (cb == nullptr)
		return;
	color = static_cast<unsigned>(cb->_color);
	handler = melycompat::handler_recent(recent, cb->_faddr);
	if (rt == nullptr || handler == nullptr || color >= MAX_COLORS ||
	    (cb->_prio | cb->_timeleft) != 0 || mely_post_id(rt, color, handler, cb) != 0)
		post_tail(cb);
}

void
fdcb(int fd, selop op, cbv cb)
{
	if (op != selread && op != selwrite)
		melycompat::die("fdcb: %d is neither selread nor selwrite", static_cast<int>(op));
	if (cb != nullptr)
		melycompat::descriptor_append(fd, op == selwrite, job_of(cb));
	else
		melycompat::descriptor_drop(fd, op == selwrite);
}

void
fdcb_finished(bool finished)
{
	melycompat::descriptor_finished(finished);
}

static timecb_t *
arm(uint64_t due_ns, cbv cb)
{
	if (cb == nullptr)
		melycompat::die("a timer without a callback");
	return reinterpret_cast<timecb_t *>(melycompat::timer_add(due_ns, job_of(cb)));
}

timecb_t *
timecb(const timespec &when, cbv cb)
{
	return arm(melycompat::timer_ns(when.tv_sec, when.tv_nsec), cb);
}

timecb_t *
delaycb(time_t sec, u_int32_t nsec, cbv cb)
{
	timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (__builtin_add_overflow(sec, now.tv_sec, &sec))
		sec = sec < 0 ? 0 : INT64_MAX;
	return arm(melycompat::timer_ns(sec, now.tv_nsec + static_cast<long long>(nsec)), cb);
}

void
timecb_remove(timecb_t *timer)
{
	if (timer != nullptr && melycompat::timer_remove(reinterpret_cast<uint64_t>(timer)) ==
	    melycompat::TIMER_INVALID)
		melycompat::die("timecb_remove: invalid timecb_t");
}

/* ---- where am I ---- */

int
get_current_color()
{
	const mely_color *color = mely_current_color();

	return color != nullptr ? static_cast<int>(mely_color_id(color)) : NO_COLOR;
}

unsigned
get_current_proc()
{
	int core = mely_current_core();

	return core >= 0 ? static_cast<unsigned>(core) : MAX_THREADS;
}

int
task_get_nthreads()
{
	return melycompat::loop_workers();
}

/* ---- the life of the program ---- */

void
amain()
{
	struct rusage usage;
	void (*at_exit)(void);

	melycompat::loop_run();
	/* acquire, all: other threads may have set them before the stop */
	if (bench_saved.load(std::memory_order_acquire))
		printf("%.6f ", static_cast<double>(bench_usec.load(std::memory_order_acquire)) /
		    1e6);
	getrusage(RUSAGE_SELF, &usage);
	printf("PAGE_FAULTS %ld\n", usage.ru_minflt + usage.ru_majflt);
	at_exit = exit_handler.load(std::memory_order_acquire);
	if (at_exit == nullptr)
		exit(0);
	at_exit();
}

void
stop_hw_counters()
{
	melycompat::loop_stop_one();
}

void
register_atexit_handler(void (*fn)(void))
{
	exit_handler.store(fn, std::memory_order_release); /* pairs with amain's acquire */
}

void
save_bench_time(unsigned long usec)
{
	bench_usec.store(usec, std::memory_order_release); /* pairs with amain's acquire */
	bench_saved.store(true, std::memory_order_release);
}

void
register_EH_name(void *function, const char *name)
{
	melycompat::handler_name(function, name);
}

static void
print_worker(void *worker)
{
	melycompat::worker_print(static_cast<int>(reinterpret_cast<intptr_t>(worker)));
}

void
dump_current_state(bool on_workers)
{
	static mely_handler handler = MELY_HANDLER(print_worker);
	mely_runtime *rt = melycompat::runtime();
	int i;

	for (i = 0; i < task_get_nthreads(); i++) {
		void *worker = reinterpret_cast<void *>(static_cast<intptr_t>(i));

		if (!on_workers || rt == nullptr ||
		    mely_post(melycompat::color_object(rt, -(i + 1)), &handler, worker) != 0)
			print_worker(worker);
	}
}

void
reset_runtime_stats()
{
	melycompat::workers_reset();
}

void
register_atempty_handler(void (*)(void))
{
}

void
register_task_avg_duration(void *, unsigned long)
{
}
