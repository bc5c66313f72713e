/* SPDX-License-Identifier: MIT */
/*
 * proxy.c: reading headers of the PROXY protocol, and networks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "net/proxy.h"

static const unsigned char signature[12] = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55,
	0x49, 0x54, 0x0a};

/* ---- version 1 ----------------------------------------------------------------------------- */

/* The next word of a line, which a space or the end follows. False: there is none, or no room. */
static bool
next_word(const char **at, const char *end, char *word, size_t room)
{
	const char *space = memchr(*at, ' ', (size_t)(end - *at));
	size_t len = (size_t)((space != NULL ? space : end) - *at);

	if (len == 0 || len >= room)
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at = space != NULL ? space + 1 : end;
	return true;
}

static bool
is_port(const char *word)
{
	size_t len = strlen(word);

	return len <= 5 && strspn(word, "0123456789") == len && (len == 1 || word[0] != '0')
	    && atoi(word) <= UINT16_MAX;
}

/* The line without its end. */
static bool
read_line(const char *line, size_t len, struct sws_proxied *p)
{
	const char *at = line + 6, *end = line + len;
	char words[4][INET6_ADDRSTRLEN], kind[8];
	unsigned char bytes[16];
	int family;

	if (!next_word(&at, end, kind, sizeof kind))
		return false;
	/* What follows UNKNOWN does not count. */
	if (strcmp(kind, "UNKNOWN") == 0)
		return true;
	if (strcmp(kind, "TCP4") != 0 && strcmp(kind, "TCP6") != 0)
		return false;
	family = kind[3] == '4' ? AF_INET : AF_INET6;
	for (int i = 0; i < 4; i++)
		if (!next_word(&at, end, words[i], sizeof words[i]))
			return false;
	if (at != end || end[-1] == ' ' || inet_pton(family, words[0], bytes) != 1
	    || !is_port(words[2]) || !is_port(words[3]))
		return false;
	inet_ntop(family, bytes, p->client, sizeof p->client);
	return inet_pton(family, words[1], bytes) == 1;
}

static int
parse_v1(const char *buf, size_t len, struct sws_proxied *p)
{
	size_t most = len < SWS_PROXY_V1_MAX ? len : SWS_PROXY_V1_MAX;
	const char *end = memchr(buf, '\n', most);

	if (end == NULL)
		return len < SWS_PROXY_V1_MAX ? 0 : -1;
	if (end[-1] != '\r' || !read_line(buf, (size_t)(end - 1 - buf), p))
		return -1;
	return (int)(end + 1 - buf);
}

/* ---- version 2 ----------------------------------------------------------------------------- */

/* Do the further values that follow the addresses add up? */
static bool
are_values(const unsigned char *at, size_t len)
{
	while (len > 0) {
		size_t size;

		if (len < 3)
			return false;
		size = 3 + ((size_t)at[1] << 8 | at[2]);
		if (size > len)
			return false;
		at += size;
		len -= size;
	}
	return true;
}

/* The addresses of a connection that the proxy passes on. */
static bool
read_addresses(unsigned kind, const unsigned char *at, size_t len, struct sws_proxied *p)
{
	size_t need = kind == 0x11 ? 12 : kind == 0x21 ? 36 : kind == 0x31 ? 216 : 0;

	/* Datagrams do not come in a stream. */
	if ((kind != 0 && need == 0) || len < need)
		return false;
	if (kind == 0x31)
		strcpy(p->client, "unix:");
	else if (kind != 0)
		inet_ntop(kind == 0x11 ? AF_INET : AF_INET6, at, p->client, sizeof p->client);
	/* Those of an unknown kind have an unknown length. */
	return kind == 0 || are_values(at + need, len - need);
}

static int
parse_v2(const unsigned char *buf, size_t len, struct sws_proxied *p)
{
	size_t body;

	if (len < 16)
		return 0;
	body = (size_t)buf[14] << 8 | buf[15];
	if ((buf[12] != 0x20 && buf[12] != 0x21) || 16 + body > SWS_PROXY_V2_MAX)
		return -1;
	if (len < 16 + body)
		return 0;
	/* 0x20: the proxy itself asks, for its own health checks. */
	if (buf[12] == 0x21 && !read_addresses(buf[13], buf + 16, body, p))
		return -1;
	return (int)(16 + body);
}

int
sws_proxy_parse(const unsigned char *buf, size_t len, struct sws_proxied *p)
{
	size_t v1 = len < 6 ? len : 6, v2 = len < sizeof signature ? len : sizeof signature;
	int n = -1;

	p->client[0] = '\0';
	if (len == 0)
		return 0;
	if (memcmp(buf, "PROXY ", v1) == 0)
		n = len < 6 ? 0 : parse_v1((const char *)buf, len, p);
	else if (memcmp(buf, signature, v2) == 0)
		n = len < sizeof signature ? 0 : parse_v2(buf, len, p);
	SWS_ASSERT(n <= (int)len);
	return n;
}

/* ---- networks ------------------------------------------------------------------------------ */

struct network {
	int family;
	unsigned bits;
	unsigned char bytes[16];
};

static bool
read_network(const char *text, struct network *n)
{
	size_t len = strcspn(text, "/");
	char address[INET6_ADDRSTRLEN];
	unsigned most;

	if (len >= sizeof address)
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	n->family = strchr(address, ':') != NULL ? AF_INET6 : AF_INET;
	most = n->bits = n->family == AF_INET ? 32 : 128;
	if (inet_pton(n->family, address, n->bytes) != 1)
		return false;
	if (text[len] == '\0')
		return true;
	text += len + 1;
	len = strlen(text);
	if (len == 0 || len > 3 || strspn(text, "0123456789") != len)
		return false;
	n->bits = (unsigned)atoi(text);
	return n->bits <= most;
}

const char *
sws_network_check(const char *text)
{
	struct network n;

	return strcmp(text, SWS_PROXY_UNIX) == 0 || read_network(text, &n) ? NULL
	    : "not ADDRESS, ADDRESS/BITS or unix:";
}

static bool
has(const struct network *n, const unsigned char *bytes)
{
	unsigned whole = n->bits / 8, rest = n->bits % 8;

	return memcmp(n->bytes, bytes, whole) == 0
	    && (rest == 0 || (n->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0);
}

bool
sws_networks_have(const struct sws_texts *networks, const union sws_address *address)
{
	const unsigned char *bytes = (const void *)&address->in4.sin_addr;
	int family = address->any.sa_family;

	if (family == AF_INET6) {
		bytes = address->in6.sin6_addr.s6_addr;
		if (IN6_IS_ADDR_V4MAPPED(&address->in6.sin6_addr)) {
			bytes += 12;
			family = AF_INET;
		}
	}
	for (int i = 0; i < networks->count; i++) {
		struct network n;

		if (read_network(networks->text[i], &n) && n.family == family && has(&n, bytes))
			return true;
	}
	return false;
}
