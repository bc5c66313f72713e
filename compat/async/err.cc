/* SPDX-License-Identifier: MIT */
/*
 * err.cc: messages and their prefixes; the end of the program after fatal and panic.
 */
#include "../include/async/err.h"

#include <atomic>
#include <mely/runtime.h>

#include "err_io.h"

bssstr progname;
bssstr progdir;
int progpid;
int errfd = 2;
void (*fatalhook)();
bool fatal_no_destruct;

void
setprogname(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	const char *name = slash != nullptr ? slash + 1 : argv0;

	if (slash != nullptr)
		progdir = str(argv0, slash + 1 - argv0);
	else
		progdir = str();
	if (strncmp(name, "lt-", 3) == 0)
		name += 3;
	progname = str(name);
}

void
setprogpid(int pid)
{
	progpid = pid;
}

static void
put_time(const strbuf &sb)
{
	timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	sb.fmt("%ld.%06ld ", static_cast<long>(now.tv_sec), now.tv_nsec / 1000);
}

/* ---- warn ---- */

warnobj::warnobj(int flags) : _flags(flags), _errno(errno)
{
	if (flags & timeflag)
		put_time(*this);
	if (!(flags & xflag) && progname) {
		cat(progname);
		if (progpid != 0)
			fmt("[%d]", progpid);
		cat(": ");
	}
	if (flags & fatalflag)
		cat("fatal: ");
	errno = _errno;
}

warnobj::~warnobj()
{
	print();
	errno = _errno;
}

void
warnobj::print() const
{
	melycompat::err_print(tosuio(), (_flags & panicflag) != 0);
}

void
sfs_vwarn(const char *fmt, va_list ap)
{
	vwarn(fmt, ap);
}

void
sfs_vwarnx(const char *fmt, va_list ap)
{
	vwarnx(fmt, ap);
}

void
sfs_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sfs_vwarn(fmt, ap);
	va_end(ap);
}

void
sfs_warnx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sfs_vwarnx(fmt, ap);
	va_end(ap);
}

const warnobj &
warnobj::operator()(const char *fmt, ...) const
{
	va_list ap;

	va_start(ap, fmt);
	vfmt(fmt, ap);
	va_end(ap);
	return *this;
}

const warnobj &
warnobj::operator<<(const str &s) const
{
	if (s)
		cat(s);
	else
		cat("(null)");
	return *this;
}

const warnobj &
warnobj::operator<<(const char *p) const
{
	cat(p != nullptr ? p : "(null)");
	return *this;
}

/* ---- fatal ---- */

fatalobj::fatalobj(int flags, const char *file, int line) : warnobj(flags)
{
	int saved = errno;

	fmt("PANIC: %s:%d\n", file, line);
	errno = saved;
}

/*
 * A second exit would run the exit functions that are left and end the process, while the first
 * one is still in the hook or in an exit function, such as that which prints the messages. Only one
 * thread goes on.
 */
static void
be_alone()
{
	static std::atomic<bool> begun;
	static thread_local bool here;

	/* relaxed: only the order of this word counts */
	if (!here && begun.exchange(true, std::memory_order_relaxed)) {
		mely_wait_begin(); /* the exit does not wait for this handler */
		for (;;)
			(void)pause();
	}
	here = true;
}

/* Call the hook once only, since it may call fatal itself. */
static void
end_program()
{
	if (melycompat::err_in_program())
		be_alone();
	void (*hook)() = __atomic_exchange_n(&fatalhook, nullptr, __ATOMIC_RELAXED);

	if (hook != nullptr)
		hook();
	if (fatal_no_destruct || !melycompat::err_in_program()) {
		melycompat::err_stop();
		_exit(1);
	}
	exit(1);
}

fatalobj::~fatalobj()
{
	print();
	if (_flags & panicflag)
		abort();
	end_program();
	abort();
}

void
melycompat_assert(const char *what, const char *file, int line)
{
	fatalobj(warnobj::panicflag, file, line)("assertion failed: %s\n", what);
	abort();
}

/* ---- trace ---- */

traceobj::~traceobj()
{
	int saved = errno;

	if (!doprint)
		return;
	if (fd < 0)
		melycompat::err_print(tosuio(), false);
	else
		while (len() > 0 && tosuio()->output(fd) > 0)
			continue;
	errno = saved;
}

const traceobj &
traceobj::operator()(int threshold)
{
	doprint = current_level >= threshold;
	if (doprint) {
		if (dotime)
			put_time(*this);
		cat(prefix);
	}
	return *this;
}

const traceobj &
traceobj::operator()(int threshold, const char *fmt, ...)
{
	va_list ap;

	(*this)(threshold);
	if (doprint) {
		va_start(ap, fmt);
		vfmt(fmt, ap);
		va_end(ap);
	}
	return *this;
}
