/* SPDX-License-Identifier: MIT */
/*
 * path.c: the path is decoded once, before its segments are examined, so that an escaped dot
 * or slash has the effect of a plain one.
 */
#include <string.h>

#include "base/assertion.h"
#include "http/path.h"

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode into out; the length, or -400. */
static long
decode(const char *raw, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)raw[i];

		if (c == '%') {
			int high, low;

			if (len - i < 3)
				return -400;
			high = hex(raw[i + 1]);
			low = hex(raw[i + 2]);
			if (high < 0 || low < 0)
				return -400;
			c = high << 4 | low;
			i += 2;
		}
		if (c < 0x20 || c == 0x7f)
			return -400;
		out[n++] = (char)c;
	}
	SWS_DEBUG_ASSERT(n <= len);
	return (long)n;
}

static bool
hidden(const char *segment, size_t len)
{
	SWS_DEBUG_ASSERT(len > 0);
	return segment[0] == '.' && !(len == 11 && memcmp(segment, ".well-known", 11) == 0);
}

static bool
is_dots(const char *segment, size_t len)
{
	return segment[0] == '.' && (len == 1 || (len == 2 && segment[1] == '.'));
}

bool
http_path_is_normal(const char *path, size_t len)
{
	size_t i = 1;

	if (len == 0 || path[0] != '/')
		return false;
	while (i < len) {
		size_t from = i;

		for (; i < len && path[i] != '/'; i++)
			if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
				return false;
		if (i == from || is_dots(path + from, i - from))
			return false;
		i++;
	}
	return true;
}

bool
http_path_is_hidden(const char *path, size_t len)
{
	for (size_t from = 1, to; from < len; from = to + 1) {
		for (to = from; to < len && path[to] != '/'; to++)
			;
		if (to > from && hidden(path + from, to - from))
			return true;
	}
	return false;
}

int
http_path_normal(const char *raw, size_t len, char *out, size_t *out_len)
{
	long decoded = decode(raw, len, out + 1);
	size_t end, from = 1, to = 1;
	bool slash = true;

	if (decoded < 0)
		return (int)decoded;
	/* The segments move down in place. The writes never overtake the reads, because the decoded
	 * text starts at out[1] and begins with a slash or is empty. */
	out[0] = '/';
	end = 1 + (size_t)decoded;
	while (from < end) {
		size_t seg = from, n;

		while (from < end && out[from] != '/')
			from++;
		n = from - seg;
		slash = from < end;
		from++;
		if (n == 0)
			continue;
		if (n == 1 && out[seg] == '.') {
			slash = true;
			continue;
		}
		if (n == 2 && out[seg] == '.' && out[seg + 1] == '.') {
			if (to == 1)
				return -400;
			to--;
			while (out[to - 1] != '/')
				to--;
			slash = true;
			continue;
		}
		SWS_DEBUG_ASSERT(to <= seg);
		memmove(out + to, out + seg, n);
		to += n;
		out[to++] = '/';
	}
	if (!slash && to > 1)
		to--;
	/* A path never grows, and out has room for len + 2 bytes. */
	SWS_ASSERT(to >= 1 && to <= len + 1);
	out[to] = '\0';
	*out_len = to;
	SWS_DEBUG_ASSERT(http_path_is_normal(out, to));
	return http_path_is_hidden(out, to) ? -404 : 0;
}

size_t
http_path_encode(const char *path, size_t len, char *out)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
		    || c == '/' || c == '-' || c == '.' || c == '_' || c == '~') {
			out[n++] = (char)c;
		} else {
			out[n++] = '%';
			out[n++] = digits[c >> 4];
			out[n++] = digits[c & 15];
		}
	}
	/* The caller has made room for this. */
	SWS_ASSERT(n >= len && n <= 3 * len);
	out[n] = '\0';
	return n;
}
