/* SPDX-License-Identifier: MIT */
/*
 * dns_error.h: errors of lookups beyond those of name servers, which arpa/nameser.h has. Comes
 * with dns.h.
 */
#ifndef MELYCOMPAT_ASYNC_DNS_ERROR_H
#define MELYCOMPAT_ASYNC_DNS_ERROR_H

enum {
	ARERR_NXREC = 0x101,    /**< the name has no such record */
	ARERR_TIMEOUT = 0x102,  /**< no answer */
	ARERR_PTRSPOOF = 0x103, /**< the name of the address does not have that address */
	ARERR_BADRESP = 0x104,  /**< an answer that makes no sense */
	ARERR_CANTSEND = 0x105, /**< no name server can be asked */
	ARERR_REQINVAL = 0x106, /**< no name that can be asked for */
	ARERR_CNAMELOOP = 0x107 /**< aliases without an end */
};

#endif
