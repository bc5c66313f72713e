/* SPDX-License-Identifier: MIT */
/*
 * date.h: HTTP dates, without the time zones and locales of the C library.
 * Pure functions, any thread.
 */
#ifndef SWS_HTTP_DATE_H
#define SWS_HTTP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Length of an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT". */
#define HTTP_DATE_LEN 29

/** Write the date of a second since 1970, clipped to the years 1970 to 9999; not terminated. */
void http_date_format(int64_t second, char out[HTTP_DATE_LEN]);

/**
 * Parse one of the three formats of RFC 9110 (5.6.7). now determines the century of a two-digit
 * year. True and *second, or false if text is not a date.
 */
bool http_date_parse(const char *text, size_t len, int64_t now, int64_t *second);

#endif
