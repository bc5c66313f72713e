/* SPDX-License-Identifier: MIT */
/*
 * aproc.h: child processes, paths of programs, daemons, and the names of host and user. async.h
 * includes it.
 *
 * Color 0, unless a comment says otherwise. In a child only the thread that forked exists: it must
 * not touch the loop, and ends by exec or _exit.
 */
#ifndef MELYCOMPAT_ASYNC_APROC_H
#define MELYCOMPAT_ASYNC_APROC_H

#include "sysconf.h"

#include "callback.h"
#include "str.h"
#include "vec.h"

#pragma GCC system_header

/* ---- programs ---- */

/** The directory that fix_exec_path searches; null unless the program sets it. */
extern str execdir;

/** path itself if it has a slash; else that file in dir, or in execdir, or just path. */
str fix_exec_path(str path, str dir = NULL);

/**
 * The path of a program: program itself if it has a slash, else from the first directory of PATH
 * that has it. A null str if no such file is executable.
 */
str find_program(const char *program);

/** Like find_program, but tries fix_exec_path first. */
str find_program_plus_libsfs(const char *program);

/* ---- children ---- */

/** Make three descriptors 0, 1 and 2, and close those of them above 2. For a child. */
void setstdfds(int in, int out, int err = 2);

/**
 * fork. In the child SIGPIPE ends the process again, the signal mask is that of the start of the
 * program, and warn prints at once, to its old descriptor even if descriptor 2 is replaced. Returns
 * -1 and errno on failure.
 */
pid_t afork();

/**
 * Run a program in a child, with its arguments (argv[0] included, NULL at the end), three
 * descriptors, and an environment (NULL: that of the process). Calls postforkcb in the child, with
 * the descriptors in place. Blocks until the program has started. Returns the child's pid, or -1
 * and the errno of what failed in the child, which is then reaped.
 *
 * The caller keeps its descriptors above 2. To be notified when the child ends, call chldcb before
 * returning to the loop.
 */
pid_t spawn(const char *path, char *const *argv, int in = 0, int out = 1, int err = 2,
    cbv::ptr postforkcb = NULL, char *const *env = NULL);

/** Like spawn, but does not wait: a child that cannot run the program prints the error and exits
 * with 1. */
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
 * Read fd to its end, close it, and call cb with the data, in color 0 and never before pipe2str has
 * returned. After an error cb gets a null str, with errno set. fdp, unless NULL, must live until
 * then: while *fdp is negative it receives a descriptor passed along (readfd). sb, unless NULL: the
 * data is appended to it as well.
 */
void pipe2str(int fd, cbs cb, int *fdp = NULL, strbuf *sb = NULL);

/**
 * Call chld in a child with a descriptor to write to; cb gets the data that it wrote (pipe2str).
 * The child exits with 0 when chld returns. If the fork fails, cb gets a null str.
 */
void chldrun(cbi chld, cbs cb);

/* ---- daemons: main, before amain ---- */

/** Facility and priority that start_logger uses; "daemon.notice" unless set. */
extern str syslog_priority;

/**
 * The program, with its arguments (argv[0] is its path), that start_logger() and daemonize start
 * and that reads standard error, instead of the system's log.
 */
void set_syslog_logger(const vec<str> &argv);
/** Like the above for a command, which blanks split. False, with a warning, if it cannot be
 * executed; then nothing changes. */
bool set_syslog_logger(str command);

/**
 * Continue as a daemon: in the background, in a new session, in the root directory, without
 * standard input and output. Standard error goes to the system's log, each line tagged with name,
 * or with the program's name if name is null. An error is fatal.
 */
void daemonize(const str &name = NULL);

/** Send standard error to the system's log from now on, through a child of this process. */
void start_logger();

/**
 * Returns a descriptor; lines written to it are logged with a priority ("facility.level") under a
 * tag. `line`, unless null, is logged first. With a logfile the lines go to that file instead,
 * which is opened with flags and mode. -1 and errno on failure.
 */
int start_logger(const str &priority, const str &tag, const str &line, const str &logfile,
    int flags, mode_t mode);

/** The part of start_logger that logs to a file. */
int start_log_to_file(const str &line, const str &logfile, int flags, mode_t mode);

/* ---- locks between processes ---- */

/** Whether both describe the same file, unmodified in between. Any color. */
bool stat_unchanged(const struct stat *before, const struct stat *after);

/**
 * A file that one process at a time holds locked; the others wait, or fail. Creates the file if it
 * does not exist. Deleting the object unlocks the file, which stays. One color at a time.
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
	/** Lock the file; with wait, block until that is possible. False: another process holds it,
	 * or errno. */
	bool acquire(bool wait = false);
	/** Unlock the file; it can be acquired again. */
	void release();
	/** Is it locked, and does the name still refer to it? */
	bool ok() { return islocked && fdok(); }
	/** A locked lockfile, or null. */
	static ptr<lockfile> alloc(const str &path, bool wait = false);

private:
	lockfile(const lockfile &);
	lockfile &operator=(const lockfile &);
};

/* ---- host and user: any color, any thread ---- */

/**
 * The full name of this host: SFS_HOSTNAME of the environment, or the system's name, completed with
 * mydomain if it has no dot.
 */
str myname();

/** The domain of this host, from its name or the resolver's configuration; else a null str. */
str mydomain();

/** The name of the user; a null str if unknown. */
str myusername();

/** The IPv4 addresses of this host's active interfaces. False and errno on failure. */
bool myipaddrs(vec<in_addr> *addrs);

#endif
