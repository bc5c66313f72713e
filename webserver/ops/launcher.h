/* SPDX-License-Identifier: MIT */
/*
 * launcher.h: a process beside the server that starts the program again when it is asked to. It
 * comes to be before the server gives up the right to do so (ops/sandbox.h), and ends with it.
 *
 * All it can do is to start the program of this name, with these arguments and this environment,
 * and with descriptors that it is sent, of which the one variable SWS_HANDOVER says what they are
 * (net/inherit.h).
 */
#ifndef SWS_OPS_LAUNCHER_H
#define SWS_OPS_LAUNCHER_H

#include <sys/types.h>

/** The descriptors of the new process: a pipe that it writes a byte to when it is ready, and those
 *  that it was sent, in their order. */
#define SWS_LAUNCHED_READY 3
#define SWS_LAUNCHED_FIRST 4

struct sws_launcher {
	int fd;                  /* -1: there is no such process */
	pid_t pid;
};

/** What has become of a process that was asked for. */
struct sws_launcher_report {
	enum {
		SWS_LAUNCHER_FAILED,     /**< it could not be started: value is an errno code */
		SWS_LAUNCHER_STARTED,
		SWS_LAUNCHER_READY,
		SWS_LAUNCHER_ENDED       /**< before it was ready: value is as waitpid(2) has it */
	} what;
	pid_t pid;
	int value;
};

/** Make the process, while there is one thread. The program is that of argv[0]. 0 or -errno. */
int sws_launcher_start(struct sws_launcher *launcher, char **argv);

/**
 * Ask for a process with count descriptors and the variable SWS_HANDOVER=VALUE. Not
 * again before a report that it has failed or ended. Does not block. 0 or a negative errno.
 */
int sws_launcher_ask(const struct sws_launcher *launcher, const char *variable, const int *fds,
    int count);

/** Read a report from launcher->fd: 0, -EAGAIN, or -ECHILD: the launcher has ended. */
int sws_launcher_read(const struct sws_launcher *launcher, struct sws_launcher_report *report);

/** Send SIGTERM to the process that is starting. */
void sws_launcher_cancel(const struct sws_launcher *launcher);

/** End it. */
void sws_launcher_end(struct sws_launcher *launcher);

#endif
