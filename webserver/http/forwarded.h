/* SPDX-License-Identifier: MIT */
/*
 * forwarded.h: X-Forwarded-For, to which each proxy adds the address that it has got a request
 * from. Pure functions, any thread.
 */
#ifndef SWS_HTTP_FORWARDED_H
#define SWS_HTTP_FORWARDED_H

#include "http/find.h"

/**
 * The last element of a list, whose end becomes what is before it: an address without brackets and
 * port, or what stands there instead. False: the list is empty.
 */
bool http_forwarded_last(struct http_text *list, struct http_text *address);

#endif
