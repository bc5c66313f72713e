/* SPDX-License-Identifier: MIT */
/*
 * loop_api.cc: the functions of async.h, implemented by the other files of the loop.
 */
#include "async.h"
#include "corebench.h"

#include <algorithm>
#include <mely/color.h>
#include <mely/event.h>
#include <mely/runtime.h>

#include "../src/handlers.h"
#include "../src/loop.h"
#include "../src/post.h"
#include "../src/say.h"
#include "counted.h"
#include "delays.h"
#include "err_io.h"
#include "loop.h"
#include "pass.h"
#include "posts.h"
#include "signals.h"
#include "watch.h"

static_assert(MAX_THREADS == melycompat::WORKERS_MAX, "the headers say another number of workers");
static_assert(MAX_COLORS == melycompat::COLORS_MAX, "the headers say another number of colors");

using namespace melycompat;

/* ---- the loop ---- */

static const dialect async_dialect = {&counted_ops, passes_start, false};

void
amain()
{
	static bool entered; /* also set when a callback wrongly calls amain */

	if (entered) {
		say("amain was called before");
		abort();
	}
	entered = true;
	err_start();
	loop_run();
	say("amain has returned");
	abort();
}

void
acheck()
{
	pass_by_hand();
}

/* ---- events of colors ---- */

static void
post_job(const job &j, bool head, int timeleft)
{
	if (is_main(j.color))
		posts_add(j, head);
	else
		post(j, head, timeleft);
}

static recent_handlers recent; /* for counted_ops.posted */

static __attribute__((noinline)) void
post_tail(cbv::ptr &cb)
{
	int timeleft = cb->get_timeleft();

	if (cb->getprio() == 0)
		handler_remember(recent, counted_ops.posted, cb->getfaddr());
	post_job(job_take(cb), false, timeleft);
}

/* Fast path of the common case, in few instructions. The event takes over the reference of cb. */
void
cpucb_tail(cbv::ptr cb)
{
	callback<void> *object = cb.get();
	mely_runtime *rt = runtime();
	mely_handler *handler;
	unsigned color;

	if (object == nullptr)
		return;
	color = static_cast<unsigned>(object->getcolor());
	if (color == 0) {
		posts_add(job_take(cb), false);
		return;
	}
	handler = handler_recent(recent, object->getfaddr());
	if (rt == nullptr || handler == nullptr || color >= MAX_COLORS ||
	    (object->getprio() | object->get_timeleft()) != 0 || cb._count != object ||
	    mely_post_id(rt, color, handler, object) != 0) {
		post_tail(cb);
		return;
	}
	cb._object = nullptr;
	cb._count = nullptr;
}

void
cpucb(cbv::ptr cb)
{
	if (!cb)
		return;
	int timeleft = cb->get_timeleft();
	post_job(job_take(cb), true, timeleft);
}

int
get_current_color()
{
	const mely_color *color = mely_current_color();

	return color != nullptr ? static_cast<int>(mely_color_id(color)) : color_in_acheck;
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
	return loop_workers();
}

/* ---- descriptors and timers ---- */

void
melycompat::fdcb_fails(int fd, const fdcb_call &by, int error)
{
	die("%s:%d: fdcb: descriptor %d: %s", by.file, by.line, fd, strerror(-error));
}

/* An invalid direction gets a message, not a sanitizer report. */
__attribute__((no_sanitize("undefined"))) void
_fdcb(int fd, selop op, cbv::ptr cb, const char *file, int line)
{
	fdcb_call by = {file, line};
	int error;

	if (op != selread && op != selwrite)
		die("%s:%d: fdcb: %d is neither selread nor selwrite", file, line,
		    static_cast<int>(op));
	if (cb) {
		job j = job_take(cb);
		error = watch_set(fd, op == selwrite, &j, by);
	} else {
		error = watch_set(fd, op == selwrite, nullptr, by);
	}
	if (error != 0)
		fdcb_fails(fd, by, error);
}

static timecb_t *
arm(uint64_t due_ns, const cbv &cb)
{
	return reinterpret_cast<timecb_t *>(delay_add(due_ns, job_of(cb)));
}

timecb_t *
timecb(const timespec &when, cbv cb)
{
	return arm(timer_ns(when.tv_sec, when.tv_nsec), cb);
}

timecb_t *
timecb(time_t when, cbv cb)
{
	return arm(timer_ns(when, 0), cb);
}

timecb_t *
delaycb(time_t s, u_int32_t ns, cbv cb)
{
	timespec now;

	if (s == 0 && ns == 0)
		return arm(0, cb);
	clock_gettime(CLOCK_REALTIME, &now);
	if (__builtin_add_overflow(s, now.tv_sec, &s))
		s = s < 0 ? 0 : INT64_MAX;
	return arm(timer_ns(s, now.tv_nsec + static_cast<long long>(ns)), cb);
}

timecb_t *
delaycb(time_t s, cbv cb)
{
	return delaycb(s, 0, cb);
}

void
timecb_remove(timecb_t *timer)
{
	if (timer == nullptr ||
	    delay_remove(reinterpret_cast<uint64_t>(timer)) != TIMER_INVALID)
		return;
	say("timecb_remove: invalid timecb_t");
	abort();
}

/* ---- signals and children ---- */

cbv::ptr
sigcb(int sig, cbv::ptr cb, int sa_flags)
{
	return signal_set(sig, cb, sa_flags);
}

void
chldcb(pid_t pid, cbi::ptr cb)
{
	child_set(pid, cb);
}

/* ---- clocks ---- */

timespec
sfs_get_tsnow(bool force)
{
	timespec now;

	if (main_is_here()) {
		if (force)
			clock_refresh();
		return melycompat_async_tsnow;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

time_t
sfs_get_timenow(bool force)
{
	return sfs_get_tsnow(force).tv_sec;
}

/* ---- before main ---- */

int async_init::count;

/* Export a limit to the programs that this one runs; a value set by the parent process stays. */
static void
tell_limit(const char *name, rlim_t limit)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(limit));
	setenv(name, text, 0);
}

static void
raise_descriptors()
{
	/* More than a program uses. Not unlimited: some programs loop over all possible
	 * descriptors. */
	const rlim_t enough = 1 << 17;
	rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	tell_limit("FDLIM_SOFT", std::min(limit.rlim_cur, enough));
	tell_limit("FDLIM_HARD", std::min(limit.rlim_max, enough));
	if (limit.rlim_cur < enough && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = std::min(limit.rlim_max, enough);
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void
async_init::start()
{
	const char *options = getenv("SFS_OPTIONS");

	loop_init(0, &async_dialect);
	clock_refresh();
	raise_descriptors();
	if (options != nullptr && strchr(options, 'b') != nullptr)
		passes_busy(true);
}

void
async_init::stop()
{
	err_stop();
}

/* ---- the originals' choice between select, epoll and kqueue ---- */

int
sfs_core::set_select_policy(select_policy_t policy)
{
	return policy == SELECT_STD || policy == SELECT_EPOLL ? 0 : -1;
}

void
sfs_core::set_busywait(bool on)
{
	passes_busy(on);
}

void
sfs_core::set_compact_interval(u_int)
{
}

void
sfs_core::set_zombie_collect(bool on)
{
	children_keep(on);
}

/* ---- globals of the originals that nothing here uses ---- */

bool do_corebench;
unsigned long long tia_tmp, time_in_acheck;

time_t sfs_const::axprt_suio_clear_interval;

sfs::nil_t sfs::g_nil;
