/* SPDX-License-Identifier: MIT */
/*
 * http_date.h: dates of HTTP, without the C library's time zone and locale machinery.
 * Pure functions, any thread.
 */
#ifndef SWS_HTTP_DATE_H
#define SWS_HTTP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Length of an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT". */
#define HTTP_DATE_LEN 29

/** Write the date of second since 1970 (years 1970 to 9999, others are clipped); no terminator. */
void http_date_format(int64_t second, char out[HTTP_DATE_LEN]);

/**
 * Read one of the three forms of RFC 9110 (5.6.7). now decides the century of a two-digit year.
 * True and *second, or false when it is no date.
 */
bool http_date_parse(const char *text, size_t len, int64_t now, int64_t *second);

#endif
