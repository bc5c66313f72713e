/* SPDX-License-Identifier: MIT */
/*
 * private.h: the live socket of a runtime and its clients, and dumps. The monitor thread drives
 * them: NOTE(serve) in serve.c.
 */
#ifndef MELYINT_LOOK_LIVE_PRIVATE_H
#define MELYINT_LOOK_LIVE_PRIVATE_H

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
	MELYINT_DUMP_COLORS = 1000, /* most colors that a dump lists */
	/* what epoll reports: a client's number, or one of */
	MELYINT_SLOT_LISTENER = MELYINT_CLIENTS,
	MELYINT_SLOT_ASKED
};

/* Under live->lock. */
struct melyint_client {
	int fd;                      /* -1: free */
	uint32_t got;                /* bytes of request */
	char request[MELYINT_REQUEST_MAX];
	struct melyint_text answer;  /* its head included; empty: waits for a request */
	size_t sent;
	bool last;                   /* close after this answer */
	uint64_t until_ns;           /* C of NOTE(serve) */
};

/* Under its lock. */
struct melyint_live {
	struct melyint_step step;    /* the monitor's, once added */
	struct mely_runtime *rt;     /* constant */
	pid_t pid;                   /* constant: the process that opened the descriptors */
	pthread_mutex_t lock;
	int epoll;                   /* -1 until needed, then constant until the runtime is freed */
	bool added;                  /* the monitor has the step */
	uint64_t deaf_until_ns;      /* accepts no client until then; 0: accepts */
	char *wanted;                /* constant: a copy of config.socket */
	int signo;                   /* the signal that makes a dump; 0: none */
	int dump_fd;                 /* its eventfd: NOTE(dumpsig) */
	struct melyint_socket socket;
	struct melyint_client clients[MELYINT_CLIENTS];
};

/* ---- the life of rt->live: live.c ------------------------------------------------------------ */

/* Make rt->live, with nothing open. 0 or -ENOMEM. */
int melyint_live_new(struct mely_runtime *rt);
/* Close everything; remove the socket, if this process made it. rt->live may be NULL. */
void melyint_live_free(struct mely_runtime *rt);
/* In the child of a fork: drop what is open, and open what the configuration names. */
void melyint_live_renew(struct mely_runtime *rt);
/* Open what the configuration names. Reports errors. */
void melyint_live_begin(struct mely_runtime *rt);
/* The process exits: remove the socket. */
void melyint_live_exit(struct mely_runtime *rt);

/* ---- clients: serve.c ------------------------------------------------------------------------ */

/* The monitor's step. */
uint64_t melyint_live_look(struct melyint_step *step, uint64_t now_ns);

/* For live.c, under the lock. */
void melyint_client_drop(struct melyint_live *live, struct melyint_client *client);
int melyint_live_watch(struct melyint_live *live, int op, int fd, uint32_t events, uint32_t slot);

/* ---- dumps: dump.c --------------------------------------------------------------------------- */

/* Append a text for people about each core and each color with events. Any thread that holds no
 * core's lock. 0 or a negative error. */
int melyint_dump_text(struct mely_runtime *rt, struct melyint_text *text);
/* Write such a text to fd; -ETIMEDOUT if that takes longer. Otherwise like mely_dump. */
int melyint_dump(struct mely_runtime *rt, int fd, uint64_t patience_ns);

/* ---- the signal that makes a dump: dumpsig.c ------------------------------------------------- */

/* Install the handler. 0 and the eventfd; -EBUSY if a runtime or the program has the signal. */
int melyint_dumpsig_claim(int signo, int *eventfd);
/* Restore the action from before, unless the program has installed another one since. */
void melyint_dumpsig_release(int signo);
/* Around a fork. The holder takes no other lock. */
void melyint_dumpsig_lock(void);
void melyint_dumpsig_unlock(void);
/* Unblock the signal: D of NOTE(dumpsig). The monitor thread, under live->lock. */
void melyint_dumpsig_here(struct melyint_live *live);

#endif
