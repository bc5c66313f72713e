/* SPDX-License-Identifier: MIT */
/*
 * asock.h: sockets, the modes of descriptors, and TCP connections. Comes with amisc.h.
 *
 * Calls that fail return -1 and set errno, unless a comment says otherwise.
 */
#ifndef MELYCOMPAT_ASYNC_ASOCK_H
#define MELYCOMPAT_ASYNC_ASOCK_H

#include "sysconf.h"

#include "callback.h"
#include "str.h"

#pragma GCC system_header

/** What to wait for. */
enum selop { selread = 0, selwrite = 1 };

/* ---- sockets: any color, any thread ---- */

/**
 * An IPv4 socket of a type (SOCK_STREAM, SOCK_DGRAM), bound to a port and address, both in host
 * byte order; it does not listen yet. Port 0 selects any; another port sets SO_REUSEADDR. The
 * environment variable BINDADDR=A.B.C.D replaces INADDR_ANY. The caller owns the descriptor, which
 * is blocking and survives exec. Does not block.
 */
int inetsocket(int type, u_int16_t port = 0, u_int32_t addr = INADDR_ANY);

/** Like inetsocket for IPv6 only, on every address, so an IPv4 socket can have the same port. */
int inetsocket6(int type, u_int16_t port = 0);
/** Like inetsocket for IPv6 on one address, in network byte order. */
int inetsocket6(int type, u_int16_t port, const in6_addr &addr);

/**
 * Like inetsocket on a free port from 512 to 1023. EACCES without the privilege; EAGAIN if none is
 * free. Color 0: it remembers the last port.
 */
int inetsocket_resvport(int type, u_int32_t addr = INADDR_ANY);

/** A stream socket bound to a path, which must not exist. It does not listen yet. ENAMETOOLONG. */
int unixsocket(const char *path);

/** A stream socket connected to a path; blocks until the connection exists. */
int unixsocket_connect(const char *path);

/** Is it a socket of the UNIX domain? */
bool isunixsocket(int fd);

/* ---- modes of descriptors: any color, any thread ---- */

/** Make fd non-blocking. */
int _make_async(int fd);

/** Also make the system check for dead peers (SO_KEEPALIVE). An error is fatal. */
void make_async(int fd);

/** Make fd blocking. An error is ignored. */
void make_sync(int fd);

/** Set whether exec closes fd. An error is fatal. */
void close_on_exec(int fd, bool on = true);

/** Send small segments at once. An error is ignored. */
void tcp_nodelay(int fd);

/** Close fd so that its peer gets a reset, not an end of file. */
void tcp_abort(int fd);

/* ---- waiting without the loop: color 0 ---- */

/**
 * Block until fd is ready for reading (r) or writing (w), at most for the time *tvp; NULL: without
 * limit. Returns 1 or more: fd is ready; 0: the time has passed; -1: errno, EINTR included.
 */
int fdwait(int fd, bool r, bool w, timeval *tvp);
int fdwait(int fd, selop op, timeval *tvp = NULL);
/** Like fdwait, for reading one descriptor and writing another. */
int fdwait(int rfd, int wfd, bool r, bool w, timeval *tvp);

/* ---- connections: color 0 ---- */

struct srvlist;
/** A connection attempt. It ends before the callback is called. */
struct tcpconnect_t;

/**
 * Connect to a port (host byte order) of an address. The callback runs in color 0, never before
 * tcpconnect returns: with a connected, non-blocking, close-on-exec descriptor, which the program
 * then owns; or with -1 and errno. The environment variable BINDADDR=A.B.C.D sets the local
 * address. A call before amain starts the attempt in amain.
 */
tcpconnect_t *tcpconnect(in_addr addr, u_int16_t port, cbi cb);

/**
 * Connect to a host, given by name or as A.B.C.D; tries its addresses one after another. dnssearch:
 * also search the domains of the system's resolver. namep, unless NULL, receives the full name
 * before the callback, and must live until then. Errors of the lookup are those of dnstoerrno
 * (dns.h): ENOENT if the host does not exist.
 */
tcpconnect_t *tcpconnect(str host, u_int16_t port, cbi cb, bool dnssearch = true,
    str *namep = NULL);

/**
 * Connect to a service of a domain by its SRV records (_service._tcp.domain), in their order of
 * preference; without SRV records, to defport of the host of that name, or ENOENT if defport is 0.
 * srvlp, unless NULL: a list in it replaces the lookup; otherwise it receives the list. namep
 * receives the name of the host.
 */
tcpconnect_t *tcpconnect_srv(str domain, str service, u_int16_t defport, cbi cb,
    bool dnssearch = true, ptr<srvlist> *srvlp = NULL, str *namep = NULL);

/** Like tcpconnect_srv, with a list that it returned, from its beginning. */
tcpconnect_t *tcpconnect_srv_retry(ref<srvlist> srvl, cbi cb, str *namep = NULL);

/** Cancel; the callback is dropped at once and not called. NULL does nothing. */
void tcpconnect_cancel(tcpconnect_t *tc);

#endif
