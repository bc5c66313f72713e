/* SPDX-License-Identifier: MIT */
/*
 * socket.h: where the socket of a runtime is, and who may speak to it. Plain system calls, no
 * threads: whoever calls serializes.
 */
#ifndef MELYINT_LOOK_LIVE_SOCKET_H
#define MELYINT_LOOK_LIVE_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

enum { MELYINT_SOCKET_PATH = sizeof ((struct sockaddr_un *)0)->sun_path };

struct melyint_socket {
	int fd;                         /* listening, does not block; -1: closed */
	pid_t pid;                      /* the process that made it, and alone removes it */
	char path[MELYINT_SOCKET_PATH];
};

/* Listen at path; NULL or "": at the default place. 0, or a negative error after one line on
 * stderr that names the place. */
int melyint_socket_listen(struct melyint_socket *socket, const char *path);
/* Close it, and, in the process that made it, remove the file unless somebody listens there. */
void melyint_socket_close(struct melyint_socket *socket);

/* May a process of user peer see what a process of user own does? */
bool melyint_socket_admits(uid_t peer, uid_t own);
/* The next peer that may, without blocking: its descriptor. -EAGAIN when there is none, -EACCES
 * when one was there that may not, and is gone; else what keeps the process from having one
 * more. */
int melyint_socket_accept(const struct melyint_socket *socket);

/* Make the directory, or check the one that is there: 0, or -EPERM and so on, without a word. */
int melyint_socket_directory(const char *path);

#endif
