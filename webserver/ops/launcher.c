/* SPDX-License-Identifier: MIT */
/*
 * launcher.c: both sides of the socket between the server and its launcher. A request is a message
 * with the number of descriptors and the variable, and as many messages as the descriptors need.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/inherit.h"
#include "ops/launcher.h"

/* The kernel takes at most 253. */
#define FDS_A_MESSAGE 250
#define VARIABLE_MAX 65536

/* In place of a number of descriptors. */
#define CANCEL (-1)

/* ---- messages ------------------------------------------------------------------------------ */

union fds_room {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(FDS_A_MESSAGE * sizeof(int))];
};

/* Send a number, a text and up to FDS_A_MESSAGE descriptors. */
static int
send_part(int to, int number, const char *text, const int *fds, int count)
{
	struct iovec pieces[] = {{&number, sizeof number}, {(char *)text, strlen(text) + 1}};
	union fds_room room = {.bytes = ""};
	struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = 2};

	if (count > 0) {
		msg.msg_control = &room;
		msg.msg_controllen = CMSG_SPACE((size_t)count * sizeof *fds);
		room.head.cmsg_level = SOL_SOCKET;
		room.head.cmsg_type = SCM_RIGHTS;
		room.head.cmsg_len = CMSG_LEN((size_t)count * sizeof *fds);
		memcpy(CMSG_DATA(&room.head), fds, (size_t)count * sizeof *fds);
	}
	return sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Receive one into text, of VARIABLE_MAX bytes, and fds. The number of descriptors; -1: the end. */
static int
receive_part(int from, int *number, char *text, int *fds)
{
	struct iovec pieces[] = {{number, sizeof *number}, {text, VARIABLE_MAX}};
	union fds_room room;
	struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = 2, .msg_control = &room,
		.msg_controllen = sizeof room};
	struct cmsghdr *head;
	ssize_t n;

	do
		n = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= (ssize_t)sizeof *number)
		return -1;
	text[n - (ssize_t)sizeof *number - 1] = '\0';
	head = CMSG_FIRSTHDR(&msg);
	if (head == NULL || head->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	return (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof *fds);
}

/* ---- the launcher -------------------------------------------------------------------------- */

struct launcher {
	int server;              /* its socket */
	const char *program;
	char **argv;
	char *variable;
	int *fds;
	int count;
};

/* Wait for a request. False: the server has ended, or there is no memory to serve it. */
static bool
wait_for_request(struct launcher *l)
{
	int wanted, part[FDS_A_MESSAGE], n = receive_part(l->server, &wanted, l->variable, part);
	char ignored[VARIABLE_MAX];

	l->count = 0;
	/* A cancellation that came too late. */
	while (n >= 0 && wanted == CANCEL)
		n = receive_part(l->server, &wanted, l->variable, part);
	/* This process may have rights that the server has given up, which is to win nothing by
	 * what it asks for: another variable could change what the program is. */
	if (n < 0 || wanted < 0 || strncmp(l->variable, SWS_HANDOVER "=",
	    sizeof SWS_HANDOVER) != 0)
		return false;
	l->fds = calloc((size_t)wanted + 1, sizeof *l->fds);
	while (l->fds != NULL && n >= 0 && n <= wanted - l->count) {
		/* Above the numbers that the new process has. */
		for (int i = 0; i < n; i++) {
			int fd = fcntl(part[i], F_DUPFD_CLOEXEC, SWS_LAUNCHED_FIRST + wanted);

			close(part[i]);
			l->fds[l->count++] = fd;
		}
		if (l->count == wanted)
			return true;
		n = receive_part(l->server, &(int){0}, ignored, part);
	}
	return false;
}

static char **
make_environment(char *variable)
{
	size_t n = 0, kept = 0;
	char **all;

	while (environ[n] != NULL)
		n++;
	all = calloc(n + 2, sizeof *all);
	for (size_t i = 0; all != NULL && i < n; i++)
		/* The new process has another number. */
		if (strncmp(environ[i], "WATCHDOG_PID=", 13) != 0)
			all[kept++] = environ[i];
	if (all != NULL)
		all[kept] = variable;
	return all;
}

/* Start the program; ready is the end of the pipe for it. Its number or a negative errno. */
static pid_t
spawn(const struct launcher *l, int ready)
{
	char **environment = make_environment(l->variable);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;
	int error = environment == NULL ? ENOMEM : posix_spawn_file_actions_init(&actions);

	if (error != 0) {
		free(environment);
		return -error;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	for (int i = 0; error == 0 && i < l->count; i++)
		error = l->fds[i] < 0 ? EMFILE : posix_spawn_file_actions_adddup2(&actions,
		    l->fds[i], SWS_LAUNCHED_FIRST + i);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&actions, ready, SWS_LAUNCHED_READY);
	if (error == 0)
		error = posix_spawn(&pid, l->program, &actions, &attr, l->argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(environment);
	return error != 0 ? -error : pid;
}

static void
report(const struct launcher *l, int what, pid_t pid, int value)
{
	const struct sws_launcher_report r = {what, pid, value};

	(void)!send(l->server, &r, sizeof r, MSG_NOSIGNAL);
}

/* Report what becomes of a process, whose end of the pipe is open while it starts. */
static void
watch(const struct launcher *l, pid_t pid, int ready)
{
	struct pollfd fds[] = {{ready, POLLIN, 0}, {l->server, POLLIN, 0}};
	int number, status = 0, none[FDS_A_MESSAGE];
	char byte;

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents != 0) {
			if (receive_part(l->server, &number, l->variable, none) < 0)
				_exit(0);
			kill(pid, SIGTERM);
		}
		if (fds[0].revents != 0)
			break;
	}
	if (read(ready, &byte, 1) == 1) {
		report(l, SWS_LAUNCHER_READY, pid, 0);
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	report(l, SWS_LAUNCHER_ENDED, pid, status);
}

static void
serve(struct launcher *l)
{
	while (wait_for_request(l)) {
		int ends[2], status = pipe2(ends, O_CLOEXEC) != 0 ? -errno : 0, ready = -1;
		pid_t pid = status;

		if (status == 0) {
			/* As the other descriptors, above the numbers of the new process. */
			ready = fcntl(ends[1], F_DUPFD_CLOEXEC, SWS_LAUNCHED_FIRST + l->count);
			pid = ready < 0 ? -errno : spawn(l, ready);
			close(ends[1]);
		}
		if (ready >= 0)
			close(ready);
		for (int i = 0; i < l->count; i++)
			if (l->fds[i] >= 0)
				close(l->fds[i]);
		free(l->fds);
		l->fds = NULL;
		if (pid < 0) {
			report(l, SWS_LAUNCHER_FAILED, 0, -pid);
		} else {
			report(l, SWS_LAUNCHER_STARTED, pid, 0);
			watch(l, pid, ends[0]);
		}
		if (status == 0)
			close(ends[0]);
	}
}

/* The process: signals to the whole group are the server's, which ends this one with it. */
static _Noreturn void
launch(int server, const char *program, char **argv)
{
	static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
	struct launcher l = {.server = server, .program = program, .argv = argv,
		.variable = malloc(VARIABLE_MAX)};

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "sws-launcher");
	/* Sockets that the server was started with are not to live longer than it. */
	if (server > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)server - 1, 0);
	close_range((unsigned)server + 1, UINT_MAX, 0);
	if (l.variable != NULL)
		serve(&l);
	_exit(0);
}

/* ---- for the server ------------------------------------------------------------------------ */

/* What to execute: the name that was called, which may be a link to the newest version. */
static char *
find_program(const char *name)
{
	const char *path = getenv("PATH");
	char text[PATH_MAX];
	ssize_t n;

	if (strchr(name, '/') != NULL)
		return strdup(name);
	for (size_t len; path != NULL && *path != '\0'; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		if (len > 0 && snprintf(text, sizeof text, "%.*s/%s", (int)len, path, name)
		    < (int)sizeof text && access(text, X_OK) == 0)
			return strdup(text);
	}
	n = readlink("/proc/self/exe", text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return strdup(text);
}

int
sws_launcher_start(struct sws_launcher *l, char **argv)
{
	char *program = find_program(argv[0]);
	int ends[2], error;

	*l = (struct sws_launcher){.fd = -1};
	if (program == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		error = errno;
		free(program);
		return -error;
	}
	l->pid = fork();
	if (l->pid == 0)
		launch(ends[1], program, argv);
	error = errno;
	close(ends[1]);
	free(program);
	if (l->pid > 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) {
		l->fd = ends[0];
		return 0;
	}
	close(ends[0]);
	return -error;
}

int
sws_launcher_ask(const struct sws_launcher *l, const char *variable, const int *fds, int count)
{
	int status = l->fd < 0 ? -ECHILD : strlen(variable) >= VARIABLE_MAX ? -E2BIG : 0, sent = 0;

	while (status == 0 && (sent == 0 || sent < count)) {
		int part = count - sent < FDS_A_MESSAGE ? count - sent : FDS_A_MESSAGE;

		status = send_part(l->fd, count, sent == 0 ? variable : "", fds + sent, part);
		sent += part;
		if (count == 0)
			break;
	}
	return status == -EPIPE ? -ECHILD : status;
}

int
sws_launcher_read(const struct sws_launcher *l, struct sws_launcher_report *report)
{
	ssize_t n = recv(l->fd, report, sizeof *report, MSG_DONTWAIT);

	return n == (ssize_t)sizeof *report ? 0 : n < 0 && errno == EAGAIN ? -EAGAIN : -ECHILD;
}

void
sws_launcher_cancel(const struct sws_launcher *l)
{
	if (l->fd >= 0)
		(void)send_part(l->fd, CANCEL, "", NULL, 0);
}

void
sws_launcher_end(struct sws_launcher *l)
{
	if (l->fd < 0)
		return;
	close(l->fd);
	l->fd = -1;
	/* It ends now, unless it waits for a process that has said good-bye and takes its time. */
	(void)waitpid(l->pid, NULL, WNOHANG);
}
