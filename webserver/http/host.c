/* SPDX-License-Identifier: MIT */
/*
 * host.c: checks hosts. A value that two servers could split differently is refused.
 */
#include <arpa/inet.h>
#include <string.h>

#include "http/host.h"

/* Unreserved characters and sub-delimiters of RFC 3986, and what escapes, ports and addresses of
 * IPv6 have. */
static const bool host_char[256] = {
	['-'] = 1, ['.'] = 1, ['_'] = 1, ['~'] = 1, [':'] = 1, ['['] = 1, [']'] = 1, ['%'] = 1,
	['!'] = 1, ['$'] = 1, ['&'] = 1, ['\''] = 1, ['('] = 1, [')'] = 1, ['*'] = 1, ['+'] = 1,
	[';'] = 1, ['='] = 1,
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1
};

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

size_t
http_host_span(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && host_char[(unsigned char)p[i]])
		i++;
	return i;
}

/* The end of an address in brackets; 0: it is none. */
static size_t
literal(const char *p, size_t n)
{
	const char *end = memchr(p, ']', n);
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;
	size_t len;

	if (end == NULL || (len = (size_t)(end - p) - 1) >= sizeof text)
		return 0;
	memcpy(text, p + 1, len);
	text[len] = '\0';
	return inet_pton(AF_INET6, text, &address) == 1 ? len + 2 : 0;
}

/* The end of a name, which may be an address of IPv4; n + 1: an escape is wrong. */
static size_t
name(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] != ':' && p[i] != '[' && p[i] != ']') {
		if (p[i] == '%' && !(n - i >= 3 && is_hex(p[i + 1]) && is_hex(p[i + 2])))
			return n + 1;
		i++;
	}
	return i;
}

bool
http_host_valid(const char *p, size_t n)
{
	size_t i;

	if (http_host_span(p, n) < n)
		return false;
	if (n > 0 && p[0] == '[') {
		i = literal(p, n);
		if (i == 0)
			return false;
	} else {
		i = name(p, n);
	}
	if (i >= n)
		return i == n;
	if (p[i] != ':')
		return false;
	for (i++; i < n; i++)
		if ((unsigned char)(p[i] - '0') > 9)
			return false;
	return true;
}
