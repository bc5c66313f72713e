/* SPDX-License-Identifier: MIT */
/*
 * net_proxy.c: headers of the PROXY protocol, whole and in pieces, and networks.
 */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "net/proxy.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define V2(text) SIGNATURE text, sizeof(SIGNATURE text) - 1
#define V1(text) text, sizeof(text) - 1

/* The length of a header, -1 for what is none, and the client that it names. */
static const struct {
	const char *bytes;
	size_t len;
	int result;
	const char *client;
} rows[] = {
	{V1("PROXY TCP4 192.0.2.1 198.51.100.2 1 65535\r\nGET"), 43, "192.0.2.1"},
	{V1("PROXY TCP6 2001:db8::1 ::1 0 80\r\n"), 33, "2001:db8::1"},
	{V1("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
	    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"), 104,
	    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	{V1("PROXY UNKNOWN\r\n"), 15, ""},
	{V1("PROXY UNKNOWN a b c\r\n"), 21, ""},
	{V1("PROXY TCP4 192.0.2.1 198.51.100.2 1 65536\r\n"), -1, NULL},
	{V1("PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n"), -1, NULL},
	{V1("PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n"), -1, NULL},
	{V1("PROXY TCP4 192.0.2.1 198.51.100.2 1 2 \r\n"), -1, NULL},
	{V1("PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n"), -1, NULL},
	{V1("PROXY TCP4  192.0.2.1 198.51.100.2 1 2\r\n"), -1, NULL},
	{V1("PROXY TCP4 192.0.2.1 198.51.100.2 1 2\n"), -1, NULL},
	{V1("PROXY TCP4 192.0.2.256 198.51.100.2 1 2\r\n"), -1, NULL},
	{V1("PROXY TCP4 ::1 ::1 1 2\r\n"), -1, NULL},
	{V1("PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n"), -1, NULL},
	{V1("PROXY \r\n"), -1, NULL},
	{V1("PROXY\r\n"), -1, NULL},
	{V1("GET / HTTP/1.1\r\n"), -1, NULL},
	{V1("\x16\x03\x01"), -1, NULL},
	{V2("\x20\x00\0\0"), 16, ""},
	{V2("\x20\x00\0\2xx"), 18, ""},
	{V2("\x21\x11\0\x0c\xc0\0\2\1\xc6\x33\x64\2\0\1\0\2GET"), 28, "192.0.2.1"},
	{V2("\x21\x11\0\x10\xc0\0\2\1\xc6\x33\x64\2\0\1\0\2\4\0\1x"), 32, "192.0.2.1"},
	{V2("\x21\x11\0\x0f\xc0\0\2\1\xc6\x33\x64\2\0\1\0\2\4\0\1"), -1, NULL},
	{V2("\x21\x11\0\x0d\xc0\0\2\1\xc6\x33\x64\2\0\1\0\2\4"), -1, NULL},
	{V2("\x21\x11\0\x0b\xc0\0\2\1\xc6\x33\x64\2\0\1\0"), -1, NULL},
	{V2("\x21\x21\0\x24" "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
	    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\1\0\2"), 52, "2001:db8::1"},
	{V2("\x21\x00\0\0"), 16, ""},
	{V2("\x21\x12\0\x0c\xc0\0\2\1\xc6\x33\x64\2\0\1\0\2"), -1, NULL},
	{V2("\x22\x11\0\x0c\xc0\0\2\1\xc6\x33\x64\2\0\1\0\2"), -1, NULL},
	{V2("\x11\x11\0\x0c\xc0\0\2\1\xc6\x33\x64\2\0\1\0\2"), -1, NULL},
	{V2("\x20\x00\4\1"), -1, NULL},
	{V2("\x20\x00\4\0"), 0, NULL},
};

/* Each beginning of a header needs more, or is refused as the whole is. */
static void
headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sws_proxied p;
		const unsigned char *bytes = (const unsigned char *)rows[i].bytes;
		size_t whole = rows[i].result > 0 ? (size_t)rows[i].result : rows[i].len;

		assert_int_equal(sws_proxy_parse(bytes, rows[i].len, &p), rows[i].result);
		if (rows[i].client != NULL)
			assert_string_equal(p.client, rows[i].client);
		for (size_t len = 0; len < whole; len++) {
			int n = sws_proxy_parse(bytes, len, &p);

			assert_true(n == 0 || (n == -1 && rows[i].result == -1));
		}
	}
}

/* Both versions have a longest header. */
static void
caps(void **state)
{
	unsigned char buf[SWS_PROXY_V2_MAX + 1] = "PROXY UNKNOWN ";
	struct sws_proxied p;

	(void)state;
	memset(buf + 14, 'x', sizeof buf - 14);
	assert_int_equal(sws_proxy_parse(buf, SWS_PROXY_V1_MAX - 1, &p), 0);
	assert_int_equal(sws_proxy_parse(buf, SWS_PROXY_V1_MAX, &p), -1);
	memcpy(buf + SWS_PROXY_V1_MAX - 2, "\r\n", 2);
	assert_int_equal(sws_proxy_parse(buf, sizeof buf, &p), SWS_PROXY_V1_MAX);
	memcpy(buf, SIGNATURE "\x20\x00\4\0", 16);
	assert_int_equal(sws_proxy_parse(buf, SWS_PROXY_V2_MAX - 1, &p), 0);
	assert_int_equal(sws_proxy_parse(buf, sizeof buf, &p), SWS_PROXY_V2_MAX);
	/* A Unix socket, and values behind it. */
	memcpy(buf, SIGNATURE "\x21\x31\0\xdb", 16);
	memcpy(buf + 16 + 216, "\3\0\0", 3);
	assert_int_equal(sws_proxy_parse(buf, sizeof buf, &p), 16 + 219);
	assert_string_equal(p.client, "unix:");
}

static bool
has_one(const char *network, const char *address)
{
	const char *list[1] = {network};
	const struct sws_texts texts = {.text = list, .count = 1};
	union sws_address a = {.any = {.sa_family = AF_INET}};

	assert_null(sws_network_check(network));
	if (strchr(address, ':') != NULL) {
		a.any.sa_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, address, &a.in6.sin6_addr), 1);
	} else {
		assert_int_equal(inet_pton(AF_INET, address, &a.in4.sin_addr), 1);
	}
	return sws_networks_have(&texts, &a);
}

static void
networks(void **state)
{
	static const char *const wrong[] = {"", "/", "10", "10.0.0.0/", "10.0.0.0/33",
		"10.0.0.0/-1",
		"10.0.0.0/8/8", "::/129", "::/0x1", "a", "10.0.0.0/1 ", "unix", "unix:a"};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_non_null(sws_network_check(wrong[i]));
	assert_null(sws_network_check("unix:"));
	assert_true(has_one("10.0.0.0/8", "10.255.0.1"));
	assert_false(has_one("10.0.0.0/8", "11.0.0.1"));
	assert_true(has_one("10.0.0.0/9", "10.127.0.1"));
	assert_false(has_one("10.0.0.0/9", "10.128.0.1"));
	assert_true(has_one("192.0.2.1", "192.0.2.1"));
	assert_false(has_one("192.0.2.1", "192.0.2.2"));
	assert_true(has_one("0.0.0.0/0", "192.0.2.2"));
	assert_false(has_one("0.0.0.0/0", "::1"));
	assert_true(has_one("127.0.0.0/8", "::ffff:127.0.0.1"));
	assert_true(has_one("2001:db8::/33", "2001:db8:7fff::"));
	assert_false(has_one("2001:db8::/33", "2001:db8:8000::"));
	assert_true(has_one("::1", "::1"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers),
		cmocka_unit_test(caps),
		cmocka_unit_test(networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
