/* SPDX-License-Identifier: MIT */
/*
 * daemonize.cc: continue the process in the background, with its messages in the system's log or in
 * a file. Called in main, before amain.
 *
 * Log lines go through a pipe to a child that only writes the log. So everything that any process
 * writes to the descriptor is logged.
 */
#include <sstream>
#include <string>
#include <vector>

/* Make <syslog.h> define the table of names. */
#define SYSLOG_NAMES
#include <syslog.h>

#include "async.h"
#include "err_io.h"

#include "../src/loop.h"

str syslog_priority("daemon.notice");

namespace melycompat {

namespace {

/* See set_syslog_logger; NULL: the system's log. Never destroyed. */
vec<str> *logger;

enum {
	LINE_MAX_BYTES = 4096 /* longer lines are logged in parts */
};

int
code_of(const CODE *codes, const std::string &name, int otherwise)
{
	for (; codes->c_name != nullptr; codes++)
		if (name == codes->c_name)
			return codes->c_val;
	return otherwise;
}

/* "facility.level", either of which may be missing or unknown. */
int
priority_of(const str &text)
{
	std::string s = text ? text.cstr() : "";
	size_t dot = s.find('.');
	std::string level = dot == std::string::npos ? "" : s.substr(dot + 1);

	return code_of(facilitynames, s.substr(0, dot), LOG_DAEMON) |
	    code_of(prioritynames, level, LOG_NOTICE);
}

/* Log each line until the last writer closes the pipe; never returns. Closes all other descriptors
 * of the program: a process that waits until such a descriptor is closed would otherwise wait for
 * this child, too. */
[[noreturn]] void
log_lines(int fd, int priority, const char *tag)
{
	char line[LINE_MAX_BYTES];
	int null = open("/dev/null", O_RDWR);

	setstdfds(fd, null, null);
	closefrom(STDERR_FILENO + 1);
	openlog(tag, LOG_NDELAY, LOG_DAEMON);
	while (fgets(line, sizeof line, stdin) != nullptr) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			syslog(priority, "%s", line);
	}
	_exit(0);
}

/* Start the logging child. It is a grandchild, so the program never gets a SIGCHLD for it. */
bool
start_child(int fd, int priority, const char *tag)
{
	pid_t pid = afork();

	if (pid != 0) {
		if (pid > 0)
			while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR)
				;
		return pid > 0;
	}
	if (fork() != 0)
		_exit(0);
	(void)setsid(); /* survive the hangup of the program's terminal */
	log_lines(fd, priority, tag);
}

/* Start the program's own logger. Returns a descriptor for its standard input, or -1. */
int
start_own_logger()
{
	std::vector<const char *> argv;
	int fds[2];
	pid_t pid;

	for (const str &word : *logger)
		argv.push_back(word.cstr());
	argv.push_back(nullptr);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = spawn(argv[0], argv.data(), fds[0], STDOUT_FILENO, errfd);
	close(fds[0]);
	if (pid >= 0)
		return fds[1];
	warn("%s: %m\n", argv[0]);
	close(fds[1]);
	return -1;
}

/* Where daemonize and start_logger() send standard error. */
int
start_default_logger(const str &tag)
{
	int fd = logger != nullptr ? start_own_logger() : -1;

	return fd >= 0 ? fd : start_logger(syslog_priority, tag, NULL, NULL, 0, 0);
}

void
write_line(int fd, const str &line)
{
	if (line && write(fd, line.cstr(), line.len()) < static_cast<ssize_t>(line.len()))
		warn("start_logger: %m\n");
}

str
program_name(const str &name)
{
	if (name)
		return name;
	return progname ? progname : str(program_invocation_short_name);
}

/* Make this descriptor standard error. */
void
become_stderr(int fd, const char *what)
{
	if (fd < 0)
		fatal("%s: %m\n", what);
	if (fd != errfd && dup2(fd, errfd) < 0)
		fatal("%s: %m\n", what);
	if (fd > STDERR_FILENO)
		close(fd);
}

}

}

using namespace melycompat;

int
start_log_to_file(const str &line, const str &logfile, int flags, mode_t mode)
{
	int fd = open(logfile.cstr(), flags, mode);

	if (fd >= 0) {
		close_on_exec(fd);
		write_line(fd, line);
	}
	return fd;
}

int
start_logger(const str &priority, const str &tag, const str &line, const str &logfile, int flags,
    mode_t mode)
{
	str name = program_name(tag);
	int fds[2];
	bool started;

	if (logfile)
		return start_log_to_file(line, logfile, flags, mode);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	started = start_child(fds[0], priority_of(priority), name.cstr());
	close(fds[0]);
	if (!started) {
		close(fds[1]);
		return -1;
	}
	write_line(fds[1], line);
	return fds[1];
}

void
start_logger()
{
	become_stderr(start_default_logger(NULL), "start_logger");
}

void
set_syslog_logger(const vec<str> &argv)
{
	delete logger;
	logger = argv.empty() ? nullptr : new vec<str>(argv);
}

bool
set_syslog_logger(str command)
{
	std::istringstream words(command ? command.cstr() : "");
	std::string word;
	vec<str> argv;

	while (words >> word)
		argv.push_back(str(word.data(), word.size()));
	if (argv.empty()) {
		warn("set_syslog_logger: no command\n");
		return false;
	}
	if (access(argv[0].cstr(), X_OK) != 0) {
		warn("set_syslog_logger: %s: %m\n", argv[0].cstr());
		return false;
	}
	set_syslog_logger(argv);
	return true;
}

void
daemonize(const str &name)
{
	pid_t pid;
	int fd;

	if (runtime() != nullptr)
		fatal("daemonize: only before amain\n"); /* the threads would be left behind */
	fflush(stdout);
	pid = afork();
	if (pid < 0)
		fatal("daemonize: fork: %m\n");
	if (pid > 0)
		_exit(0);
	err_is_program();
	errfd = STDERR_FILENO;
	signal(SIGPIPE, SIG_IGN);
	if (setsid() < 0)
		fatal("daemonize: setsid: %m\n");
	if (chdir("/") < 0)
		fatal("daemonize: chdir: %m\n");
	become_stderr(start_default_logger(name), "daemonize");
	fd = open("/dev/null", O_RDWR);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		fatal("daemonize: /dev/null: %m\n");
	if (fd > STDERR_FILENO)
		close(fd);
}
