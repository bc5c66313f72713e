/* SPDX-License-Identifier: MIT */
/*
 * log_line.c: the formats of the access log, and what becomes of bytes that have no place in it.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assertion.h"
#include "ops/log_line.h"

/* Most bytes of a text of the client, after it is escaped. */
#define LINE_TEXT 9000
#define FIELD_TEXT 2000

_Static_assert(LINE_TEXT + 3 * FIELD_TEXT + 1024 <= SWS_LOG_LINE_MAX, "the texts fit");

static const char hex[] = "0123456789abcdef";

/* ---- texts --------------------------------------------------------------------------------- */

/* The bytes of a character beyond ASCII in UTF-8; 0: these bytes are none, or a control. */
static size_t
character(const unsigned char *p, size_t left)
{
	static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
	size_t n = p[0] >= 0xf0 && p[0] < 0xf8 ? 4 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
	    : p[0] >= 0xc0 && p[0] < 0xe0 ? 2 : 0;
	uint32_t c;

	if (n == 0 || n > left)
		return 0;
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* A byte that cannot stand as it is. */
static char *
add_escaped(char *to, unsigned char c, bool json)
{
	if (c == '"' || c == '\\') {
		*to++ = '\\';
		*to++ = (char)c;
	} else if (json && c >= 0x80) {
		memcpy(to, "\\ufffd", 6);
		to += 6;
	} else {
		memcpy(to, json ? "\\u00" : "\\x", json ? 4 : 2);
		to += json ? 4 : 2;
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	return to;
}

/* A text of the client, up to most bytes of what becomes of it. */
static char *
add_text(char *to, struct http_text text, size_t most, bool json)
{
	const unsigned char *p = (const unsigned char *)text.at, *end;
	const char *limit = to + most - 6;

	/* One that is not there is nowhere. */
	if (text.len == 0)
		return to;
	end = p + text.len;
	while (p < end && to < limit) {
		size_t n = *p >= 0x80 ? character(p, (size_t)(end - p)) : 1;

		if (n == 0 || *p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\') {
			to = add_escaped(to, *p++, json);
			continue;
		}
		memcpy(to, p, n);
		to += n;
		p += n;
	}
	SWS_ASSERT(to <= limit + 6);
	return to;
}

static char *
add_literal(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

static char *
add_number(char *to, uint64_t number)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	while (n > 0)
		*to++ = digits[--n];
	return to;
}

static char *
add_two(char *to, int number)
{
	*to++ = (char)('0' + number / 10 % 10);
	*to++ = (char)('0' + number % 10);
	return to;
}

/* ---- the lines of text --------------------------------------------------------------------- */

/* As in 06/Nov/1994:08:49:37 +0000 */
static char *
add_log_time(char *to, uint64_t wall_us)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm t;

	gmtime_r(&seconds, &t);
	to = add_two(to, t.tm_mday);
	*to++ = '/';
	memcpy(to, months + 3 * (t.tm_mon % 12), 3);
	to += 3;
	*to++ = '/';
	to = add_number(to, (uint64_t)t.tm_year + 1900);
	*to++ = ':';
	to = add_two(to, t.tm_hour);
	*to++ = ':';
	to = add_two(to, t.tm_min);
	*to++ = ':';
	to = add_two(to, t.tm_sec);
	return add_literal(to, " +0000");
}

static char *
add_quoted(char *to, struct http_text text)
{
	*to++ = '"';
	if (text.len == 0)
		*to++ = '-';
	to = add_text(to, text, FIELD_TEXT, false);
	*to++ = '"';
	return to;
}

/* The request line, with another protocol if it is known better. */
static char *
add_request(char *to, const struct sws_log_entry *e)
{
	struct http_line_parts parts = http_split_request_line(e->line);

	*to++ = '"';
	if (e->line.len == 0)
		*to++ = '-';
	if (e->protocol == NULL || parts.protocol.len == 0) {
		to = add_text(to, e->line, LINE_TEXT, false);
	} else {
		struct http_text asked = {e->line.at, e->line.len - parts.protocol.len};

		to = add_text(to, asked, LINE_TEXT, false);
		to = add_literal(to, e->protocol);
	}
	*to++ = '"';
	return to;
}

static char *
add_common(char *to, const struct sws_log_entry *e)
{
	to = e->client.len > 0 ? add_text(to, e->client, FIELD_TEXT / 4, false)
	    : add_literal(to, "-");
	to = add_literal(to, " - - [");
	to = add_log_time(to, e->wall_us);
	to = add_literal(to, "] ");
	to = add_request(to, e);
	*to++ = ' ';
	to = add_number(to, e->status);
	*to++ = ' ';
	return add_number(to, e->body_bytes);
}

static char *
add_extended(char *to, const struct sws_log_entry *e)
{
	to = add_literal(to, " host=");
	to = add_quoted(to, e->host);
	to = add_literal(to, " us=");
	to = add_number(to, e->duration_us);
	to = add_literal(to, " bytes=");
	to = add_number(to, e->bytes);
	to = add_literal(to, " tls=");
	to = add_literal(to, e->tls != NULL ? e->tls : "-");
	to = add_literal(to, e->range ? " range=yes" : " range=no");
	return add_literal(to, e->complete ? " end=complete" : " end=aborted");
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static char *
add_member(char *to, const char *name, struct http_text text, size_t most)
{
	to = add_literal(to, ",\"");
	to = add_literal(to, name);
	to = add_literal(to, "\":\"");
	to = add_text(to, text, most, true);
	*to++ = '"';
	return to;
}

static char *
add_count(char *to, const char *name, uint64_t number)
{
	to = add_literal(to, ",\"");
	to = add_literal(to, name);
	to = add_literal(to, "\":");
	return add_number(to, number);
}

/* RFC 3339, with microseconds. */
static char *
add_json_time(char *to, uint64_t wall_us)
{
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm t;
	int n;

	gmtime_r(&seconds, &t);
	n = snprintf(to, 64, "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06uZ\"", t.tm_year + 1900,
	    t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
	    (unsigned)(wall_us % 1000000));
	SWS_ASSERT(n > 0 && n < 64);
	return to + n;
}

static char *
add_json(char *to, const struct sws_log_entry *e)
{
	struct http_line_parts parts = http_split_request_line(e->line);

	if (e->protocol != NULL)
		parts.protocol = (struct http_text){e->protocol, strlen(e->protocol)};
	to = add_json_time(to, e->wall_us);
	to = add_member(to, "client", e->client, FIELD_TEXT / 4);
	to = add_member(to, "host", e->host, FIELD_TEXT);
	to = add_member(to, "method", parts.method, FIELD_TEXT / 4);
	to = add_member(to, "target", parts.target, LINE_TEXT - FIELD_TEXT);
	to = add_member(to, "protocol", parts.protocol, FIELD_TEXT / 4);
	to = add_count(to, "status", e->status);
	to = add_count(to, "body_bytes", e->body_bytes);
	to = add_count(to, "bytes", e->bytes);
	to = add_count(to, "duration_us", e->duration_us);
	to = add_member(to, "referer", e->referer, FIELD_TEXT);
	to = add_member(to, "user_agent", e->agent, FIELD_TEXT);
	if (e->tls != NULL)
		to = add_member(to, "tls", (struct http_text){e->tls, strlen(e->tls)}, 64);
	else
		to = add_literal(to, ",\"tls\":null");
	to = add_literal(to, e->range ? ",\"range\":true" : ",\"range\":false");
	return add_literal(to, e->complete ? ",\"complete\":true}" : ",\"complete\":false}");
}

size_t
sws_log_format(enum sws_log_format format, const struct sws_log_entry *e, char *to)
{
	char *end;

	if (format == SWS_LOG_JSON) {
		end = add_json(to, e);
	} else {
		end = add_common(to, e);
		if (format >= SWS_LOG_COMBINED) {
			*end++ = ' ';
			end = add_quoted(end, e->referer);
			*end++ = ' ';
			end = add_quoted(end, e->agent);
		}
		if (format == SWS_LOG_EXTENDED)
			end = add_extended(end, e);
	}
	*end++ = '\n';
	SWS_ASSERT(end - to <= SWS_LOG_LINE_MAX);
	return (size_t)(end - to);
}
