/* SPDX-License-Identifier: MIT */
/*
 * child.c: run the program. The sanitizer writes each process's reports to DIRECTORY/report.PID.
 * This tool passes signals that end it on to the program, so that it can sum up a server that
 * SIGTERM ends; the program gets those of the terminal by itself.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "text.h"

static pid_t running;

static void
pass_on(int signum)
{
	kill(running, signum);
}

/* ---- the environment ------------------------------------------------------------------------ */

/*
 * TSAN_OPTIONS of the user come behind our defaults, and override them; the place of the reports
 * and their effect on the status come last.
 *
 * io_sync=0: by default a write to any socket orders what follows a read from any other, which
 * would hide what two connections share. This tool does not report deadlocks, leaks and signals.
 * With more than one thread, and fibers are threads, the sanitizer would sleep a second at exit,
 * and end a child that goes on after a fork.
 */
static void
set_options(const struct child *child)
{
	const char *own = getenv("TSAN_OPTIONS");

	setenv("TSAN_OPTIONS",
	    text_format("history_size=7:io_sync=%d:suppress_equal_stacks=%d:"
	                "suppress_equal_addresses=0:detect_deadlocks=0:report_thread_leaks=0:"
	                "report_signal_unsafe=0:report_mutex_bugs=0:report_destroy_locked=0:"
	                "atexit_sleep_ms=0:die_after_fork=0:%s:halt_on_error=0:exitcode=0:"
	                "color=never:log_exe_name=0:log_path='%s/report'",
	        child->io ? 1 : 0, child->every ? 0 : 1, own != NULL ? own : "", child->directory),
	    1);
}

static void
set_preload(const struct child *child)
{
	const char *own = getenv("LD_PRELOAD");

	if (child->preload != NULL)
		setenv("LD_PRELOAD", own != NULL && *own != '\0'
		        ? text_format("%s:%s", child->preload, own) : child->preload, 1);
}

/* ---- running -------------------------------------------------------------------------------- */

static void
set_signals(void (*terminal)(int), void (*others)(int))
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = terminal;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	action.sa_handler = others;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

/* In the child of fork. Writes an error to the pipe; a successful exec closes the pipe. */
static void
become(const struct child *child, const char *path, char **argv, int errors,
    const sigset_t *mask)
{
	int error;
	ssize_t n;

	set_signals(SIG_DFL, SIG_DFL);
	set_options(child);
	set_preload(child);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(path, argv);
	error = errno;
	n = write(errors, &error, sizeof error);
	(void)n;
	_exit(127);
}

int
child_place(struct child *child, const char **where)
{
	const char *tmp = getenv("TMPDIR");
	char *directory;

	*where = tmp != NULL ? tmp : "/tmp"; /* like mktemp(1) */
	directory = text_format("%s/mely-check.XXXXXX", *where);
	if (mkdtemp(directory) == NULL)
		return -errno;
	child->directory = directory;
	return 0;
}

int
child_run(struct child *child, const char *path, char **argv)
{
	int errors[2], error = 0;
	sigset_t all, before;

	if (pipe2(errors, O_CLOEXEC) != 0)
		return -errno;
	fflush(NULL);
	/* No signal gets lost between the fork and the handing on. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	running = fork();
	if (running == 0)
		become(child, path, argv, errors[1], &before);
	close(errors[1]);
	if (running < 0) {
		error = errno;
		close(errors[0]);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return -error;
	}
	set_signals(SIG_IGN, pass_on);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(running, &child->status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (read(errors[0], &error, sizeof error) != sizeof error)
		error = 0;
	close(errors[0]);
	return -error;
}

/* ---- what it left behind -------------------------------------------------------------------- */

static void
copy(FILE *from, FILE *to)
{
	char buffer[4096];
	size_t n;

	while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
		fwrite(buffer, 1, n, to);
	rewind(from);
}

unsigned
child_reports(const struct child *child, struct reports *reports, FILE *raw)
{
	DIR *directory = opendir(child->directory);
	struct dirent *entry;
	unsigned files = 0;
	FILE *file;

	if (directory == NULL)
		return 0;
	while ((entry = readdir(directory)) != NULL) {
		if (!text_begins(entry->d_name, "report."))
			continue;
		file = fopen(text_format("%s/%s", child->directory, entry->d_name), "r");
		if (file == NULL)
			continue;
		if (raw != NULL)
			copy(file, raw);
		reports_read(reports, file);
		fclose(file);
		files++;
	}
	closedir(directory);
	return files;
}

void
child_clean(const struct child *child)
{
	DIR *directory;
	struct dirent *entry;

	if (child->directory == NULL || (directory = opendir(child->directory)) == NULL)
		return;
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			unlink(text_format("%s/%s", child->directory, entry->d_name));
	closedir(directory);
	rmdir(child->directory);
}

const char *
child_words(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return text_format("was ended by signal %d (%s)", WTERMSIG(child->status),
		    strsignal(WTERMSIG(child->status)));
	return text_format("ended with status %d", WEXITSTATUS(child->status));
}

int
child_status(const struct child *child)
{
	return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status)
	                                  : WEXITSTATUS(child->status);
}
