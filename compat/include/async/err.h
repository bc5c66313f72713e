/* SPDX-License-Identifier: MIT */
/*
 * err.h, dialect "async": messages on standard error, also those that end the program.
 *
 *     warn ("%s: %m\n", path);          prog: path: No such file or directory
 *     warn << path << " has ended\n";   prog: path has ended
 *
 * warn, warnx, warnt, fatal and panic are macros without arguments; each makes a temporary object,
 * whose destructor prints the appended text at the end of the full expression. Any thread; messages
 * do not mix. errno does not change.
 *
 * After amain starts, messages go to a buffer, and whole lines of it are written when the
 * descriptor accepts them: text without a newline waits for one. exit writes the rest. Before
 * amain, and if the program panics, a message is written at once.
 */
#ifndef MELYCOMPAT_ASYNC_ERR_H
#define MELYCOMPAT_ASYNC_ERR_H

#include "sysconf.h"

#include "str.h"

#pragma GCC system_header

/** The program's name, with which messages begin; null until setprogname. */
extern bssstr progname;
/** The directory of argv[0], with its slash; null without one. */
extern bssstr progdir;
/** The process number, printed with the name if it is not 0. */
extern int progpid;
/** The descriptor of messages: 2. Set it in main, before amain. */
extern int errfd;
/** fatal calls it once, on its thread, after printing its message; without a lock. */
extern void (*fatalhook)();
/** Whether fatal ends the program by _exit, without destructors. */
extern bool fatal_no_destruct;

/** Take the program's name from argv[0]: its last part without "lt-". In main, before amain. */
void setprogname(const char *argv0);
/** Give messages a process number; 0: none. In main, before amain. */
void setprogpid(int pid);

#define STRINGIFY(x) #x
#define XSTRINGIFY(x) STRINGIFY(x)
/** The current file and line, as a literal. */
#define __FL__ __FILE__ ":" XSTRINGIFY(__LINE__)
#define __BACKTRACE__ __FL__

/** The object of warn, warnx and warnt. It lives until the end of the expression. */
class warnobj : public strbuf {
public:
	enum {
		xflag = 1,     /**< without the prefix */
		fatalflag = 2,
		panicflag = 4,
		timeflag = 8   /**< with the time as prefix */
	};

	explicit warnobj(int flags);
	/** Prints the message. */
	~warnobj();

	const warnobj &operator()(const char *fmt, ...) const;

	template <class T> const warnobj &
	operator<<(const T &x) const
	{
		static_cast<const strbuf &>(*this) << x;
		return *this;
	}
	/* A null str prints as (null) here. */
	const warnobj &operator<<(const str &s) const;
	const warnobj &operator<<(const char *p) const;
	const warnobj &operator<<(char *p) const { return *this << const_cast<const char *>(p); }
	const warnobj &
	operator<<(int x) const
	{
		static_cast<const strbuf &>(*this) << x;
		return *this;
	}

protected:
	const int _flags;
	/** Print the text appended so far. */
	void print() const;

private:
	warnobj(const warnobj &);

	const int _errno;
};

/** The object of fatal and panic: its destructor ends the program. */
class fatalobj : public warnobj {
public:
	explicit fatalobj(int flags) : warnobj(flags | fatalflag) {}
	fatalobj(int flags, const char *file, int line);
	~fatalobj() __attribute__((noreturn));
};

/** Like warn and warnx, in the style of C. */
void sfs_warn(const char *fmt, ...);
void sfs_warnx(const char *fmt, ...);
void sfs_vwarn(const char *fmt, va_list ap);
void sfs_vwarnx(const char *fmt, va_list ap);

/** Does nothing: messages need no preparation. */
inline void
err_init()
{
}

/**
 * Write all buffered text, also an incomplete line, before returning: for a caller of _exit. Any
 * thread; blocks until the descriptor accepts the text.
 */
void err_flush();

/**
 * A message for a level of detail: #define trace (traceobj(level, "TRACE: ")), then trace (2) << x
 * << "\n" or trace (2, "%d\n", x). It is printed if level is 2 or more.
 */
struct traceobj : public strbuf {
	int current_level;
	const char *prefix;
	const bool dotime;
	const int fd;     /**< the descriptor; -1: errfd */
	bool doprint;

	/** The prefix is not copied; dotime puts the time before it. */
	traceobj(int level, const char *before = "", bool time = false, int to = -1)
	    : current_level(level), prefix(before), dotime(time), fd(to), doprint(false)
	{
	}
	/** Prints the message. */
	~traceobj();

	const traceobj &operator()(int threshold = 0);
	const traceobj &operator()(int threshold, const char *fmt, ...);

	template <class T> const traceobj &
	operator<<(const T &x) const
	{
		if (doprint)
			static_cast<const strbuf &>(*this) << x;
		return *this;
	}
	const traceobj &
	operator<<(int x) const
	{
		if (doprint)
			static_cast<const strbuf &>(*this) << x;
		return *this;
	}
};

/* The int() keeps a statement that starts with one of these macros from being a declaration. */

/** "prog: message", once setprogname has been called, and "prog[pid]: message" after setprogpid. */
#define warn ::warnobj(0)
/** Only the message. */
#define warnx ::warnobj(int(::warnobj::xflag))
/** Takes the arguments as a va_list: vwarn (fmt, ap). */
#define vwarn warn.vfmt
#define vwarnx warnx.vfmt
/** Like warn, with the time in seconds and microseconds before it. */
#define warnt ::warnobj(int(::warnobj::timeflag))
/** "prog: fatal: message", then exit(1), or _exit(1) in a child of fork. */
#define fatal ::fatalobj(0)
/** "prog: PANIC: file:line", the message on the next line, then abort(). */
#define panic ::fatalobj(::warnobj::panicflag, __FILE__, __LINE__)

void melycompat_assert(const char *what, const char *file, int line)
    __attribute__((noreturn, cold));

/** Panics if e is false, also with NDEBUG. */
#undef assert
#define assert(e) ((e) ? static_cast<void>(0) : ::melycompat_assert(#e, __FILE__, __LINE__))

#endif
