/* SPDX-License-Identifier: MIT */
/*
 * aproc.h: child processes, paths of programs, daemons, and the names of host and user. async.h
 * includes it.
 *
 * Color 0, unless said otherwise. In a child only the thread that forked lives on: it must not
 * touch the loop, and ends by exec or _exit.
 */
#ifndef MELYCOMPAT_ASYNC_APROC_H
#define MELYCOMPAT_ASYNC_APROC_H

#include "sysconf.h"

#include "callback.h"
#include "str.h"
#include "vec.h"

#pragma GCC system_header

/* ---- programs ---- */

/** Where fix_exec_path looks; null unless the program sets it. */
extern str execdir;

/** path when it has a slash; else that file of dir, or of execdir, or without either path. */
str fix_exec_path(str path, str dir = NULL);

/**
 * Where a program is: program itself when it has a slash, else the first directory of PATH that has
 * it. A null str when there is none that may be executed.
 */
str find_program(const char *program);

/** The same, but fix_exec_path comes first. */
str find_program_plus_libsfs(const char *program);

/* ---- children ---- */

/** Make three descriptors 0, 1 and 2; those above 2 are closed. For a child. */
void setstdfds(int in, int out, int err = 2);

/**
 * fork. In the child SIGPIPE ends the process again, the signals are unblocked as at the start of
 * the program, and warn prints at once, to its old descriptor even if descriptor 2 is replaced. -1
 * and errno.
 */
pid_t afork();

/**
 * Run a program in a child, with its arguments (argv[0] included, NULL at the end), three
 * descriptors, and an environment, or with NULL that of the process. postforkcb is called in the
 * child, with the descriptors in place. Blocks until the program has begun: the child's pid, or -1
 * and errno of what failed in the child, which is reaped then.
 *
 * Descriptors above 2 stay the caller's. To learn of the child's end, call chldcb before returning
 * to the loop.
 */
pid_t spawn(const char *path, char *const *argv, int in = 0, int out = 1, int err = 2,
    cbv::ptr postforkcb = NULL, char *const *env = NULL);

/** Like spawn, without waiting: if the program cannot run, the child reports it, status 1. */
pid_t aspawn(const char *path, char *const *argv, int in = 0, int out = 1, int err = 2,
    cbv::ptr postforkcb = NULL, char *const *env = NULL);

inline pid_t
spawn(const char *path, const char *const *argv, int in = 0, int out = 1, int err = 2,
    cbv::ptr postforkcb = NULL, char *const *env = NULL)
{
	return spawn(path, const_cast<char *const *>(argv), in, out, err, postforkcb, env);
}

inline pid_t
aspawn(const char *path, const char *const *argv, int in = 0, int out = 1, int err = 2,
    cbv::ptr postforkcb = NULL, char *const *env = NULL)
{
	return aspawn(path, const_cast<char *const *>(argv), in, out, err, postforkcb, env);
}

/**
 * Read fd to its end, close it, and call cb with what was there, in color 0 and never before this
 * has returned; with a null str after an error, errno set. fdp, unless NULL, must live until then:
 * while *fdp is negative it gets a descriptor that comes along (readfd). sb, unless NULL: what was
 * there is appended to it as well.
 */
void pipe2str(int fd, cbs cb, int *fdp = NULL, strbuf *sb = NULL);

/**
 * Call chld in a child with a descriptor to write to; cb gets what it wrote (pipe2str). The child
 * exits with 0 when chld returns. If the fork fails, cb gets a null str.
 */
void chldrun(cbi chld, cbs cb);

/* ---- daemons: main, before amain ---- */

/** Facility and priority of what start_logger logs, "daemon.notice" unless set. */
extern str syslog_priority;

/**
 * Go on as a daemon: in the background, in a session of its own, in the root directory, without
 * standard input and output; standard error goes to the system's log, each line under name, or
 * without one under the name of the program. An error is fatal.
 */
void daemonize(const str &name = NULL);

/** Standard error goes to the system's log from now on, by way of a child of this process. */
void start_logger();

/**
 * A descriptor to write lines to that are logged with a priority ("facility.level") under a tag,
 * and before all of them line, unless it is null. With a logfile they are written to that file
 * instead, which is opened with flags and mode. -1 and errno.
 */
int start_logger(const str &priority, const str &tag, const str &line, const str &logfile,
    int flags, mode_t mode);

/** Just the part with a file. */
int start_log_to_file(const str &line, const str &logfile, int flags, mode_t mode);

/* ---- locks between processes ---- */

/** Is it the same file, not touched in between? Any color. */
bool stat_unchanged(const struct stat *before, const struct stat *after);

/**
 * A file that one process has locked: the others wait, or do without. The file is made when there
 * is none. Dropping it removes the lock; the file stays. One color at a time.
 */
class lockfile {
protected:
	bool islocked;
	int fd;

	bool openit();
	void closeit();
	bool fdok();

public:
	const str path;

	explicit lockfile(const str &p) : islocked(false), fd(-1), path(p) {}
	~lockfile() { closeit(); }

	bool locked() const { return islocked; }
	int getfd() const { return fd; }
	/** Lock it; with wait block until that is possible. False: another has it, or errno. */
	bool acquire(bool wait = false);
	/** Unlock it; it can be acquired again. */
	void release();
	/** Is it locked, and still the file of that name? */
	bool ok() { return islocked && fdok(); }
	/** One that is locked, or null. */
	static ptr<lockfile> alloc(const str &path, bool wait = false);

private:
	lockfile(const lockfile &);
	lockfile &operator=(const lockfile &);
};

/* ---- host and user: any color, any thread ---- */

/**
 * The full name of this host: SFS_HOSTNAME of the environment, or the system's name, with mydomain
 * when it has no dot.
 */
str myname();

/** The domain of this host, from its name or the resolver's configuration; else a null str. */
str mydomain();

/** The name of the user; a null str when there is none. */
str myusername();

/** The IPv4 addresses of this host's interfaces that are up. False and errno. */
bool myipaddrs(vec<in_addr> *addrs);

#endif
