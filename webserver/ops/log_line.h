/* SPDX-License-Identifier: MIT */
/*
 * log_line.h: a line of the access log. Nothing that a client sends can end the line or a quoted
 * part of it, or is other than UTF-8 in it. Pure functions, any thread.
 */
#ifndef SWS_OPS_LOG_LINE_H
#define SWS_OPS_LOG_LINE_H

#include <stdint.h>

#include "http/find.h"

enum sws_log_format {
	SWS_LOG_COMMON,          /**< the Common Log Format */
	SWS_LOG_COMBINED,        /**< and Referer and User-Agent */
	SWS_LOG_EXTENDED,        /**< and name=value for all that follows */
	SWS_LOG_JSON             /**< an object */
};
#define SWS_LOG_FORMATS "common|combined|extended|json"

/** Longest line, with its end. Longer texts of a client are cut. */
#define SWS_LOG_LINE_MAX 16384

/** What a line says. Texts may be empty. */
struct sws_log_entry {
	struct http_text client; /**< the address */
	struct http_text line;   /**< the request line */
	const char *protocol;    /**< in place of that of the line, or NULL */
	struct http_text host, referer, agent;
	const char *tls;         /**< version, or NULL */
	uint64_t wall_us;        /**< when the answer ended, since 1970 */
	uint64_t duration_us;
	uint64_t body_bytes, bytes; /**< sent of the body, and in all */
	unsigned status;
	bool range;
	bool complete;
};

/** Write a line to `to`, which has SWS_LOG_LINE_MAX bytes. Returns its length. */
size_t sws_log_format(enum sws_log_format format, const struct sws_log_entry *entry, char *to);

#endif
