/* SPDX-License-Identifier: MIT */
/*
 * endpoint.c: the text of an endpoint, read and written. Pure functions.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "net/endpoint.h"

static const char no_endpoint[] =
    "not HOST:PORT, unix:PATH or fd:NAME, perhaps with tls, proxy, metrics or mode=OCTAL"
    " behind it";

/* ---- addresses ----------------------------------------------------------------------------- */

int
sws_address_port(const union sws_address *a)
{
	return a->any.sa_family == AF_INET ? ntohs(a->in4.sin_port)
	    : a->any.sa_family == AF_INET6 ? ntohs(a->in6.sin6_port) : 0;
}

void
sws_address_set_port(union sws_address *a, int port)
{
	SWS_ASSERT(port >= 0 && port <= UINT16_MAX);
	SWS_ASSERT(a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6);
	if (a->any.sa_family == AF_INET)
		a->in4.sin_port = htons((uint16_t)port);
	else
		a->in6.sin6_port = htons((uint16_t)port);
}

static bool
add_address(struct sws_endpoint *e, int family, const char *host)
{
	union sws_address *a = &e->address[e->addresses_count];

	SWS_ASSERT(e->addresses_count < SWS_ENDPOINT_ADDRESSES);
	a->any.sa_family = (sa_family_t)family;
	if (inet_pton(family, host, family == AF_INET ? (void *)&a->in4.sin_addr
	    : (void *)&a->in6.sin6_addr) != 1)
		return false;
	e->address_len[e->addresses_count++] = family == AF_INET ? sizeof a->in4 : sizeof a->in6;
	sws_address_set_port(a, e->port);
	return true;
}

/* A host of len bytes, in brackets or not if it is an IPv6 address. */
static bool
read_host(struct sws_endpoint *e, const char *host, size_t len, bool bare6)
{
	char plain[INET6_ADDRSTRLEN + 1];
	bool brackets = len > 2 && host[0] == '[' && host[len - 1] == ']';

	if (brackets) {
		host++;
		len -= 2;
	}
	if (len == 0 || len >= sizeof plain)
		return false;
	memcpy(plain, host, len);
	plain[len] = '\0';
	if (brackets || (bare6 && strchr(plain, ':') != NULL)) {
		snprintf(e->name, sizeof e->name, "[%s]", plain);
		return add_address(e, AF_INET6, plain);
	}
	if (strcmp(plain, "localhost") == 0) {
		strcpy(e->name, plain);
		return add_address(e, AF_INET, "127.0.0.1") && add_address(e, AF_INET6, "::1");
	}
	e->everywhere = strcmp(plain, "*") == 0;
	if (e->everywhere) {
		strcpy(e->name, plain);
		return add_address(e, AF_INET6, "::");
	}
	strcpy(e->name, plain);
	return add_address(e, AF_INET, plain);
}

const char *
sws_host_check(const char *host)
{
	struct sws_endpoint e = {.kind = SWS_ENDPOINT_INET};

	return read_host(&e, host, strlen(host), true) ? NULL
	    : "not an IP address, '*' or localhost";
}

/* ---- kinds --------------------------------------------------------------------------------- */

static const char *
read_inet(struct sws_endpoint *e, const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len);
	size_t digits;

	e->kind = SWS_ENDPOINT_INET;
	if (colon == NULL)
		return no_endpoint;
	digits = len - (size_t)(colon + 1 - text);
	if (digits == 0 || digits > 5 || strspn(colon + 1, "0123456789") != digits)
		return "its port is not a number between 0 and 65535";
	e->port = atoi(colon + 1);
	if (e->port > UINT16_MAX)
		return "its port is not a number between 0 and 65535";
	return read_host(e, text, (size_t)(colon - text), false) ? NULL
	    : "its host is not an IPv4 address, an IPv6 address in brackets, '*' or localhost";
}

static const char *
read_unix(struct sws_endpoint *e, const char *path, size_t len)
{
	struct sockaddr_un *un = &e->address[0].un;

	e->kind = SWS_ENDPOINT_UNIX;
	if (len == 0 || len >= sizeof un->sun_path)
		return len == 0 ? no_endpoint : "its path is longer than a Unix socket may have";
	memcpy(e->name, path, len);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, len);
	e->address_len[0] = sizeof *un;
	e->addresses_count = 1;
	if (path[0] == '@') {
		un->sun_path[0] = '\0';
		e->address_len[0] = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	}
	return NULL;
}

static const char *
read_fd(struct sws_endpoint *e, const char *name, size_t len)
{
	e->kind = SWS_ENDPOINT_FD;
	if (len == 0 || len >= sizeof e->name)
		return no_endpoint;
	memcpy(e->name, name, len);
	return NULL;
}

/* A word behind the endpoint. */
static bool
read_flag(struct sws_endpoint *e, const char *word, size_t len)
{
	char *end;
	long mode;

	if (len == 3 && memcmp(word, "tls", 3) == 0 && !e->tls)
		e->tls = true;
	else if (len == 7 && memcmp(word, "metrics", 7) == 0 && !e->inside)
		e->inside = true;
	else if (len == 5 && memcmp(word, "proxy", 5) == 0 && !e->proxy)
		e->proxy = true;
	else if (len > 5 && memcmp(word, "mode=", 5) == 0 && e->mode < 0
	    && e->kind == SWS_ENDPOINT_UNIX && e->name[0] != '@') {
		mode = strtol(word + 5, &end, 8);
		if (end != word + len || word[5] < '0' || word[5] > '7' || mode > 0777)
			return false;
		e->mode = (int)mode;
	} else {
		return false;
	}
	return true;
}

const char *
sws_endpoint_parse(struct sws_endpoint *e, const char *text)
{
	size_t len = strcspn(text, " ");
	const char *wrong;

	memset(e, 0, sizeof *e);
	e->mode = -1;
	if (len < sizeof e->key)
		memcpy(e->key, text, len);
	if (len >= 5 && memcmp(text, "unix:", 5) == 0)
		wrong = read_unix(e, text + 5, len - 5);
	else if (len >= 3 && memcmp(text, "fd:", 3) == 0)
		wrong = read_fd(e, text + 3, len - 3);
	else
		wrong = read_inet(e, text, len);
	for (const char *p = text + len; wrong == NULL && *p != '\0'; p += len) {
		p += strspn(p, " ");
		len = strcspn(p, " ");
		if (len > 0 && !read_flag(e, p, len))
			wrong = no_endpoint;
	}
	return wrong;
}

const char *
sws_endpoint_check(const char *text)
{
	struct sws_endpoint e;

	return sws_endpoint_parse(&e, text);
}

const char *
sws_endpoint_inside_check(const char *text)
{
	struct sws_endpoint e;
	const char *wrong = sws_endpoint_parse(&e, text);

	return wrong == NULL && (e.proxy || e.inside) ? no_endpoint : wrong;
}

/* ---- for people ---------------------------------------------------------------------------- */

const char *
sws_endpoint_text(const struct sws_endpoint *e, char to[SWS_ENDPOINT_TEXT])
{
	if (e->kind == SWS_ENDPOINT_INET)
		snprintf(to, SWS_ENDPOINT_TEXT, "%s:%d", e->name, e->port);
	else
		snprintf(to, SWS_ENDPOINT_TEXT, "%s:%s", e->kind == SWS_ENDPOINT_UNIX ? "unix"
		    : "fd", e->name);
	return to;
}

/* A socket with a name is written as what it is bound to. */
static const char *
url_of_address(const struct sws_endpoint *e, char to[SWS_ENDPOINT_TEXT])
{
	const union sws_address *a = &e->address[0];
	char host[INET6_ADDRSTRLEN] = "";
	bool v6 = a->any.sa_family == AF_INET6;

	if (e->addresses_count == 0 || (a->any.sa_family != AF_INET && !v6))
		return sws_endpoint_text(e, to);
	inet_ntop(a->any.sa_family, v6 ? (const void *)&a->in6.sin6_addr
	    : (const void *)&a->in4.sin_addr, host, sizeof host);
	if (strcmp(host, "::") == 0 || strcmp(host, "0.0.0.0") == 0) {
		strcpy(host, "localhost");
		v6 = false;
	}
	snprintf(to, SWS_ENDPOINT_TEXT, "%s://%s%s%s:%d/", e->tls ? "https" : "http",
	    v6 ? "[" : "", host, v6 ? "]" : "", sws_address_port(a));
	return to;
}

const char *
sws_endpoint_url(const struct sws_endpoint *e, char to[SWS_ENDPOINT_TEXT])
{
	bool all = strcmp(e->name, "*") == 0 || strcmp(e->name, "0.0.0.0") == 0
	    || strcmp(e->name, "[::]") == 0;

	if (e->kind == SWS_ENDPOINT_FD)
		return url_of_address(e, to);
	if (e->kind == SWS_ENDPOINT_UNIX)
		return sws_endpoint_text(e, to);
	snprintf(to, SWS_ENDPOINT_TEXT, "%s://%s:%d/", e->tls ? "https" : "http",
	    all ? "localhost" : e->name, e->port);
	return to;
}
