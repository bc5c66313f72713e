/* SPDX-License-Identifier: MIT */
/*
 * asock.h: sockets, the modes of descriptors, and TCP connections. Comes with async.h.
 *
 * Calls that fail return -1 and set errno, unless said otherwise.
 */
#ifndef MELYCOMPAT_ASYNC_ASOCK_H
#define MELYCOMPAT_ASYNC_ASOCK_H

#include "async.h"

#pragma GCC system_header

/* ---- sockets: any color, any thread ---- */

/**
 * A socket of a type (SOCK_STREAM, SOCK_DGRAM) of IPv4, bound to a port and address, both in host
 * byte order; it does not listen yet. Port 0: any. With a port SO_REUSEADDR is set. For INADDR_ANY
 * the environment may give an address, BINDADDR=A.B.C.D. The descriptor is the caller's; it blocks
 * and stays open over exec. Does not block.
 */
int inetsocket(int type, u_int16_t port = 0, u_int32_t addr = INADDR_ANY);

/** The same of IPv6, on any address of the host; of IPv6 alone, so that both can have the port. */
int inetsocket6(int type, u_int16_t port = 0);
/** The same on one address, whose bytes are in network order as ever. */
int inetsocket6(int type, u_int16_t port, const in6_addr &addr);

/**
 * The same as inetsocket on some free port from 512 to 1023. Needs the privilege for it: else
 * EACCES. EAGAIN: none is free. Color 0: it remembers the last one.
 */
int inetsocket_resvport(int type, u_int32_t addr = INADDR_ANY);

/** A stream socket bound to a path, which must not exist. It does not listen yet. ENAMETOOLONG. */
int unixsocket(const char *path);

/** A stream socket connected to a path; blocks until it is. */
int unixsocket_connect(const char *path);

/** Is it a socket of the UNIX domain? */
bool isunixsocket(int fd);

/* ---- modes of descriptors: any color, any thread ---- */

/** Make fd non-blocking. */
int _make_async(int fd);

/** The same, and let the system look for dead peers (SO_KEEPALIVE). An error is fatal. */
void make_async(int fd);

/** Make fd blocking. An error is ignored. */
void make_sync(int fd);

/** Is fd to be closed by exec? An error is fatal. */
void close_on_exec(int fd, bool on = true);

/** Send small segments at once. An error is ignored. */
void tcp_nodelay(int fd);

/** Close fd so that its peer gets a reset rather than an end. */
void tcp_abort(int fd);

/* ---- waiting without the loop: color 0 ---- */

/**
 * Block until fd is ready for reading (r) or writing (w), at most for the time *tvp; NULL: as long
 * as it takes. 1 or more: it is; 0: the time is over; -1: errno, EINTR included.
 */
int fdwait(int fd, bool r, bool w, timeval *tvp);
int fdwait(int fd, selop op, timeval *tvp = NULL);
/** The same for reading of one and writing of another descriptor. */
int fdwait(int rfd, int wfd, bool r, bool w, timeval *tvp);

/* ---- connections: color 0 ---- */

struct srvlist;
/** A connection in the making. It is gone when the callback is called. */
struct tcpconnect_t;

/**
 * Connect to a port (host byte order) of an address. The callback is called in color 0, never
 * before tcpconnect has returned: with a connected, non-blocking, close-on-exec descriptor, which
 * is the program's then; or with -1, and errno says why as long as the callback does not change it.
 * The environment may give the address to connect from, BINDADDR=A.B.C.D. Before amain it begins
 * with amain.
 */
tcpconnect_t *tcpconnect(in_addr addr, u_int16_t port, cbi cb);

/**
 * The same to a host by name or as A.B.C.D; its addresses are tried one after another. dnssearch:
 * also look in the domains that the system's resolver searches. namep, unless NULL: gets the full
 * name before the callback; it must live until then. Errors of the look-up are those of dnstoerrno
 * (dns.h): ENOENT when there is no such host.
 */
tcpconnect_t *tcpconnect(str host, u_int16_t port, cbi cb, bool dnssearch = true,
    str *namep = NULL);

/**
 * Connect to a service of a domain by its SRV records (_service._tcp.domain), in their order of
 * preference; when there are none, to defport of the host of that name, which with defport 0 is
 * ENOENT. srvlp, unless NULL: when it holds a list already that is taken instead of asking; else it
 * gets the list. namep gets the name of the host.
 */
tcpconnect_t *tcpconnect_srv(str domain, str service, u_int16_t defport, cbi cb,
    bool dnssearch = true, ptr<srvlist> *srvlp = NULL, str *namep = NULL);

/** The same with a list that tcpconnect_srv has given, from its beginning. */
tcpconnect_t *tcpconnect_srv_retry(ref<srvlist> srvl, cbi cb, str *namep = NULL);

/** Give up; the callback will not be called, and is dropped at once. NULL does nothing. */
void tcpconnect_cancel(tcpconnect_t *tc);

#endif
