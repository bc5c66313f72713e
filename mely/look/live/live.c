/* SPDX-License-Identifier: MIT */
/*
 * live.c: open and close what serve.c serves; the functions of mely/live.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/assert.h"
#include "base/descriptor.h"
#include "color/misuse.h"
#include "core/core.h"
#include "look/watchdog/monitor.h"
#include "core/runtimes.h"
#include "look/live/private.h"

#define DUMP_NS UINT64_C(3000000000) /* for an fd that accepts nothing */

static bool
forked(const struct mely_runtime *rt)
{
	/* acquire: pairs with the store in the child of a fork */
	return MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED;
}

/* ---- the life of rt->look.live ------------------------------------------------------------ */

/* Nothing is open. No other thread uses live. */
static void
reset(struct melyint_live *live, struct mely_runtime *rt, char *wanted)
{
	int i;

	memset(live, 0, sizeof *live);
	live->rt = rt;
	live->pid = getpid();
	live->wanted = wanted;
	live->step.look = melyint_live_look;
	live->step.events = POLLIN;
	live->step.fd = -1;
	pthread_mutex_init(&live->lock, NULL);
	live->epoll = -1;
	live->dump_fd = -1;
	live->socket.fd = -1;
	for (i = 0; i < MELYINT_CLIENTS; i++)
		live->clients[i].fd = -1;
}

int
melyint_live_new(struct mely_runtime *rt)
{
	char *wanted = rt->config.socket != NULL ? strdup(rt->config.socket) : NULL;

	rt->look.live = malloc(sizeof *rt->look.live);
	if (rt->look.live == NULL || (wanted == NULL && rt->config.socket != NULL)) {
		free(rt->look.live);
		free(wanted);
		rt->look.live = NULL;
		return -ENOMEM;
	}
	rt->config.socket = wanted;
	reset(rt->look.live, rt, wanted);
	return 0;
}

/* Under the lock, or while no other thread uses live. */
static void
shut(struct melyint_live *live)
{
	int i;

	/* E of NOTE(serve) */
	if (live->socket.fd >= 0 && live->pid == getpid())
		(void)melyint_live_watch(live, EPOLL_CTL_DEL, live->socket.fd, 0, 0);
	melyint_socket_close(&live->socket);
	live->deaf_until_ns = 0;
	for (i = 0; i < MELYINT_CLIENTS; i++) {
		if (live->clients[i].fd >= 0)
			melyint_client_drop(live, &live->clients[i]);
	}
}

/* No other thread uses live. */
static void
close_all(struct melyint_live *live)
{
	if (live->signo != 0)
		melyint_dumpsig_release(live->signo);
	shut(live);
	if (live->epoll >= 0)
		close(live->epoll);
}

void
melyint_live_free(struct mely_runtime *rt)
{
	if (rt->look.live == NULL)
		return;
	close_all(rt->look.live);
	/* The lock is not destroyed: in the child of a fork, a thread of the parent may hold it. */
	free(rt->look.live->wanted);
	free(rt->look.live);
	rt->look.live = NULL;
}

void
melyint_live_exit(struct mely_runtime *rt)
{
	/* In the child of a fork, socket and lock are the parent's. */
	if (rt->look.live == NULL || forked(rt))
		return;
	pthread_mutex_lock(&rt->look.live->lock);
	shut(rt->look.live);
	pthread_mutex_unlock(&rt->look.live->lock);
}

void
melyint_live_begin(struct mely_runtime *rt)
{
	int error = 0;

	/* It reports its errors; the program goes on without a socket. */
	if (rt->look.live->wanted != NULL)
		(void)mely_socket_open(rt, rt->look.live->wanted);
	if (rt->config.dump_signal != 0)
		error = mely_dump_on_signal(rt, rt->config.dump_signal);
	if (error != 0)
		melyint_say("no dump on signal %d: %s", rt->config.dump_signal,
		    error == -EBUSY ? "already in use" : strerror(-error));
}

void
melyint_live_renew(struct mely_runtime *rt)
{
	if (rt->look.live == NULL)
		return;
	close_all(rt->look.live);
	reset(rt->look.live, rt, rt->look.live->wanted);
	melyint_live_begin(rt);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Make the epoll set, if there is none. Under the lock. */
static int
prepare(struct melyint_live *live)
{
	if (live->epoll >= 0)
		return 0;
	live->epoll = melyint_fd_high(epoll_create1(EPOLL_CLOEXEC));
	return live->epoll >= 0 ? 0 : -errno;
}

/* Make the monitor check the epoll set, and do so now. Under no lock. */
static int
attend(struct melyint_live *live)
{
	bool added;
	int error;

	pthread_mutex_lock(&live->lock);
	added = live->added;
	if (!added)
		live->step.fd = live->epoll;
	live->added = true;
	pthread_mutex_unlock(&live->lock);
	if (added) {
		melyint_monitor_wake(live->rt);
		return 0;
	}
	error = melyint_monitor_add(live->rt, &live->step);
	if (error != 0) {
		pthread_mutex_lock(&live->lock);
		live->added = false;
		pthread_mutex_unlock(&live->lock);
	}
	return error;
}

static void
say_failed(const char *path, int error)
{
	melyint_say("socket %s: %s", path != NULL && path[0] != '\0' ? path : "of mely-top",
	    strerror(-error));
}

/* Under the lock. A line says why it fails. */
static int
listen_at(struct melyint_live *live, const char *path)
{
	int error = prepare(live);

	if (error == 0) {
		error = melyint_socket_listen(&live->socket, path);
		if (error != 0)
			return error; /* it has said why */
		error = melyint_live_watch(live, EPOLL_CTL_ADD, live->socket.fd, EPOLLIN,
		    MELYINT_SLOT_LISTENER);
	}
	if (error != 0) {
		say_failed(path, error);
		melyint_socket_close(&live->socket);
	}
	return error;
}

int
mely_socket_open(struct mely_runtime *rt, const char *path)
{
	struct melyint_live *live;
	int error;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	if (forked(rt))
		return -ECHILD;
	live = rt->look.live;
	pthread_mutex_lock(&live->lock);
	if (live->socket.fd >= 0) {
		melyint_say("socket %s: already open", live->socket.path);
		error = -EALREADY;
	} else {
		error = listen_at(live, path);
	}
	pthread_mutex_unlock(&live->lock);
	if (error == 0) {
		melyint_exit_prepare(); /* exit removes the socket */
		error = attend(live);
		if (error != 0) {
			say_failed(path, error);
			(void)mely_socket_close(rt);
		}
	}
	return error;
}

int
mely_socket_close(struct mely_runtime *rt)
{
	struct melyint_live *live;
	bool open;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	if (forked(rt))
		return -ECHILD;
	live = rt->look.live;
	pthread_mutex_lock(&live->lock);
	open = live->socket.fd >= 0;
	shut(live);
	pthread_mutex_unlock(&live->lock);
	return open ? 0 : -ENOENT;
}

int
mely_socket_path(struct mely_runtime *rt, char *buf, size_t size)
{
	struct melyint_live *live;
	int length;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL || (buf == NULL && size > 0))
		return -EINVAL;
	if (forked(rt))
		return snprintf(buf, size, "%s", "");
	live = rt->look.live;
	pthread_mutex_lock(&live->lock);
	length = snprintf(buf, size, "%s", live->socket.fd >= 0 ? live->socket.path : "");
	pthread_mutex_unlock(&live->lock);
	return length;
}

int
mely_dump(struct mely_runtime *rt, int fd)
{
	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	return forked(rt) ? -ECHILD : melyint_dump(rt, fd, DUMP_NS);
}

/* Change the dump signal to signo (0: none); on an error nothing changes. Under the lock. */
static int
change_signal(struct melyint_live *live, int signo)
{
	int error = 0, fd = -1;

	if (signo != 0) {
		error = prepare(live);
		if (error == 0)
			error = melyint_dumpsig_claim(signo, &fd);
		if (error != 0)
			return error;
		error = melyint_live_watch(live, EPOLL_CTL_ADD, fd, EPOLLIN,
		    MELYINT_SLOT_ASKED);
		if (error != 0) {
			melyint_dumpsig_release(signo);
			return error;
		}
	}
	if (live->signo != 0) {
		(void)melyint_live_watch(live, EPOLL_CTL_DEL, live->dump_fd, 0, 0);
		melyint_dumpsig_release(live->signo);
	}
	live->signo = signo;
	live->dump_fd = fd;
	return 0;
}

int
mely_dump_on_signal(struct mely_runtime *rt, int signo)
{
	struct melyint_live *live;
	int error = 0;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	if (forked(rt))
		return -ECHILD;
	live = rt->look.live;
	pthread_mutex_lock(&live->lock);
	if (signo != live->signo)
		error = change_signal(live, signo);
	pthread_mutex_unlock(&live->lock);
	return error == 0 && signo != 0 ? attend(live) : error;
}
