/* SPDX-License-Identifier: MIT */
/*
 * notify.h: telling the service manager what the server does (the protocol of sd_notify(3)).
 * Without NOTIFY_SOCKET nothing is sent. Any thread, after sws_notify_init.
 */
#ifndef SWS_OPS_NOTIFY_H
#define SWS_OPS_NOTIFY_H

#include <stdint.h>

struct sws_notify {
	int fd;                  /* -1: there is no service manager */
	uint64_t watchdog_ns;    /* it wants a sign of life this often; 0: none */
};

/** Find the service manager by the environment. A line on stderr if that does not work. */
void sws_notify_init(struct sws_notify *notify);
void sws_notify_fini(struct sws_notify *notify);

/** Send lines of the form NAME=VALUE. Never blocks: what finds no room is lost. */
void sws_notify(const struct sws_notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
