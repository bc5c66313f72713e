/* SPDX-License-Identifier: MIT */
/*
 * socket.h: the place of a runtime's socket, and access to it. Plain system calls; the caller
 * serializes.
 */
#ifndef MELYINT_LOOK_LIVE_SOCKET_H
#define MELYINT_LOOK_LIVE_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

enum { MELYINT_SOCKET_PATH = sizeof ((struct sockaddr_un *)0)->sun_path };

struct melyint_socket {
	int fd;                         /* listens, does not block; -1: closed */
	pid_t pid;                      /* the process that made it; only that one removes it */
	char path[MELYINT_SOCKET_PATH];
};

/* Listen at path; NULL or "": at the default place. 0, or a negative error after a line on stderr
 * that names the place. */
int melyint_socket_listen(struct melyint_socket *socket, const char *path);
/* Close it; the process that made it also removes the file, unless another one listens there. */
void melyint_socket_close(struct melyint_socket *socket);

/* Whether a process of user peer may observe a process of user own. */
bool melyint_socket_admits(uid_t peer, uid_t own);
/* Accept the next peer, without blocking. Returns its descriptor; -EAGAIN if there is none; -EACCES
 * if a peer was turned away; or the error of accept. */
int melyint_socket_accept(const struct melyint_socket *socket);

/* Make the directory, or check the one that exists. 0, or -EPERM and so on, without a message. */
int melyint_socket_directory(const char *path);

#endif
