/* SPDX-License-Identifier: MIT */
/*
 * notify.h: telling the service manager what the server does (the protocol of sd_notify(3)).
 * Without NOTIFY_SOCKET nothing is sent. Any thread, after sws_notify_init.
 */
#ifndef SWS_OPS_NOTIFY_H
#define SWS_OPS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/** Most messages that wait for room, and their longest. */
#define SWS_NOTIFY_UNSENT 8
#define SWS_NOTIFY_MAX 256

/** Used in one color, once the runtime runs. */
struct sws_notify {
	int fd;                  /* -1: there is no service manager */
	uint64_t watchdog_ns;    /* it wants a sign of life this often; 0: none */
	bool waits;              /* a timer will try again */
	int unsent_count;
	char unsent[SWS_NOTIFY_UNSENT][SWS_NOTIFY_MAX]; /* the oldest first */
};

/** Find the service manager by the environment. A line on stderr if that does not work. */
void sws_notify_init(struct sws_notify *notify);
void sws_notify_fini(struct sws_notify *notify);

/**
 * Send lines of the form NAME=VALUE. Never blocks: what finds no room is sent when there is some,
 * in order. In a handler of the color that alone uses notify.
 */
void sws_notify(struct sws_notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Send a sign of life, unless messages wait for room: then another one follows soon enough. */
void sws_notify_alive(struct sws_notify *notify);

#endif
