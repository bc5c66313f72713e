/* SPDX-License-Identifier: MIT */
/*
 * tcpconnect.h: the ways to make a connection, and what they have in common. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_TCPCONNECT_H
#define MELYCOMPAT_ASYNC_TCPCONNECT_H

#include "async.h"

/** Deleting it gives up. */
struct tcpconnect_t {
	explicit tcpconnect_t(const cbi &c) : cb(c) {}
	virtual ~tcpconnect_t() {}

protected:
	/** The end: delete this, then call the program with a descriptor, or with -1 and errno. */
	void finish(int fd, int error);

private:
	cbi cb;

	tcpconnect_t(const tcpconnect_t &) = delete;
	tcpconnect_t &operator=(const tcpconnect_t &) = delete;
};

namespace melycompat {

/** Try addresses of a host, one after another. */
tcpconnect_t *connect_any(const vec<in_addr> &addrs, u_int16_t port, const cbi &cb);

}

#endif
