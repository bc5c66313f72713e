/* SPDX-License-Identifier: MIT */
/*
 * serve.h: the live socket of a runtime and its clients, driven by the monitor thread.
 *
 * NOTE(serve)
 *   A. All of it, listener, clients and the dump's eventfd, is in one epoll set, which the monitor
 *      waits for: one step of its list (NOTE(monitor)), added when something is opened first.
 *      The step never blocks: it takes what is there, from at most MELYINT_CLIENTS clients, and
 *      gives each at most one answer.
 *   B. live->lock is held by the step, and by those who open and close. Nobody who holds a core's
 *      lock, or life_lock, takes it; so the step may take a core's lock.
 *   C. A client is dropped when it has not finished its line, or not taken its answer, by its
 *      deadline; when it has been idle for long; or when it sent what is no request.
 *   D. In the child of a fork the lock may have been held by a thread that is no more: renew and
 *      free make it anew, the phase being FORKED, with one thread there.
 *   E. The child of a fork has the descriptors, too, and the epoll set: a close alone neither takes
 *      one out of the set nor tells the peer. So who has opened them does both before it closes,
 *      and the child only closes.
 */
#ifndef MELYINT_LOOK_LIVE_SERVE_H
#define MELYINT_LOOK_LIVE_SERVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <mely/mely.h>

#include "look/watchdog/monitor.h"
#include "look/live/request.h"
#include "look/live/socket.h"
#include "base/text.h"

enum {
	MELYINT_CLIENTS = 8,
	/* what epoll reports: a client's number, or one of */
	MELYINT_SLOT_LISTENER = MELYINT_CLIENTS,
	MELYINT_SLOT_ASKED
};

/* Under live->lock. */
struct melyint_client {
	int fd;                      /* -1: free */
	uint32_t got;                /* bytes of request */
	char request[MELYINT_REQUEST_MAX];
	struct melyint_text answer;  /* its head included; empty: a request is awaited */
	size_t sent;
	bool last;                   /* close when the answer has been sent */
	uint64_t until_ns;           /* C of NOTE(serve) */
};

/* Under its lock. */
struct melyint_live {
	struct melyint_step step;    /* the monitor's, once it has been added */
	struct mely_runtime *rt;     /* constant */
	pid_t pid;                   /* constant: the process that opened what is open here */
	pthread_mutex_t lock;
	int epoll;                   /* -1 until wanted, then constant until the runtime is freed */
	bool added;                  /* the step is the monitor's */
	uint64_t deaf_until_ns;      /* nobody is accepted; 0: they are */
	char *wanted;                /* constant: config.socket, a copy */
	int signo;                   /* that is dumped on; 0: none */
	int dump_fd;                 /* its eventfd: NOTE(dumpsig) */
	struct melyint_socket socket;
	struct melyint_client clients[MELYINT_CLIENTS];
};

/* rt->look.live, with nothing open. 0 or -ENOMEM. */
int melyint_live_new(struct mely_runtime *rt);
/* Close everything; remove the socket, when this is the process that made it. NULL is allowed. */
void melyint_live_free(struct mely_runtime *rt);
/* In the child of a fork: nothing is open any more; what the configuration asks for is opened. */
void melyint_live_renew(struct mely_runtime *rt);
/* What the configuration asks for. Errors have been said. */
void melyint_live_begin(struct mely_runtime *rt);
/* The process exits: remove the socket. */
void melyint_live_exit(struct mely_runtime *rt);

/* The monitor's step. */
uint64_t melyint_live_look(struct melyint_step *step, uint64_t now_ns);

/* For live.c, under the lock. */
void melyint_client_drop(struct melyint_live *live, struct melyint_client *client);
int melyint_live_watch(struct melyint_live *live, int op, int fd, uint32_t events, uint32_t slot);

#endif
