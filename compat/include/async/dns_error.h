/* SPDX-License-Identifier: MIT */
/*
 * dns_error.h: errors of lookups in addition to those of name servers in arpa/nameser.h. dns.h
 * includes it.
 */
#ifndef MELYCOMPAT_ASYNC_DNS_ERROR_H
#define MELYCOMPAT_ASYNC_DNS_ERROR_H

enum {
	ARERR_NXREC = 0x101,    /**< the name has no such record */
	ARERR_TIMEOUT = 0x102,  /**< no answer */
	ARERR_PTRSPOOF = 0x103, /**< the name of the address does not have that address */
	ARERR_BADRESP = 0x104,  /**< a malformed answer */
	ARERR_CANTSEND = 0x105, /**< no name server can be reached */
	ARERR_REQINVAL = 0x106, /**< a name that is invalid in a question */
	ARERR_CNAMELOOP = 0x107 /**< endless aliases */
};

#endif
