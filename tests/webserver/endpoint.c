/* SPDX-License-Identifier: MIT */
/*
 * endpoint.c: texts of endpoints, sound and not, and what is written of them.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "../../webserver/net/endpoint.h"

static void
refused(void **state)
{
	static const char *const table[] = {
		"", " ", "80", ":80", "localhost", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
		"127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:65536", "127.0.0.1:000080", "::1:80",
		"[::1]", "[]:80", "[::1:80", "[127.0.0.1:80", "[*]x:80", "[*]:80",
		"[localhost]:80", "[127.0.0.1]:80", "[::1]x:80", "::1", "host.example:80",
		"256.0.0.1:80", "*", "**:80", "unix:", "unix", "fd:", "fd", "127.0.0.1:80 tls tls",
		"127.0.0.1:80 http", "127.0.0.1:80 mode=600", "unix:/a mode=", "unix:/a mode=8",
		"unix:/a mode=1777", "unix:/a mode=-7", "unix:/a mode= 7",
		"unix:/a mode=600 mode=600", "unix:@a mode=600", "127.0.0.1:80\ttls",
	};
	struct sws_endpoint e;
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("'%s'\n", table[i]);
		assert_non_null(sws_endpoint_parse(&e, table[i]));
		assert_non_null(sws_endpoint_check(table[i]));
	}
	/* As long as a path may be, and one more. */
	snprintf(text, sizeof text, "unix:/%0*d", (int)sizeof e.address[0].un.sun_path - 2, 0);
	assert_null(sws_endpoint_parse(&e, text));
	assert_int_equal(strlen(e.name), sizeof e.address[0].un.sun_path - 1);
	strcat(text, "0");
	assert_non_null(sws_endpoint_parse(&e, text));
	snprintf(text, sizeof text, "%0200d:80", 0);
	assert_non_null(sws_endpoint_parse(&e, text));
}

static void
accepted(void **state)
{
	static const struct {
		const char *text, *written, *url;
		enum sws_endpoint_kind kind;
		int addresses;
		bool tls, proxy;
	} table[] = {
		{"127.0.0.1:80", "127.0.0.1:80", "http://127.0.0.1:80/", SWS_ENDPOINT_INET, 1,
			false, false},
		{"*:0", "*:0", "http://localhost:0/", SWS_ENDPOINT_INET, 1, false, false},
		{"[::]:65535 tls", "[::]:65535", "https://localhost:65535/", SWS_ENDPOINT_INET, 1,
			true, false},
		{"[::1]:443  proxy  tls ", "[::1]:443", "https://[::1]:443/", SWS_ENDPOINT_INET, 1,
			true, true},
		{"localhost:8080", "localhost:8080", "http://localhost:8080/", SWS_ENDPOINT_INET, 2,
			false, false},
		{"unix:/run/sws.sock proxy", "unix:/run/sws.sock", "unix:/run/sws.sock",
			SWS_ENDPOINT_UNIX, 1, false, true},
		{"unix:@sws", "unix:@sws", "unix:@sws", SWS_ENDPOINT_UNIX, 1, false, false},
		{"fd:web tls", "fd:web", "fd:web", SWS_ENDPOINT_FD, 0, true, false},
	};
	struct sws_endpoint e;
	char text[SWS_ENDPOINT_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("'%s'\n", table[i].text);
		assert_null(sws_endpoint_parse(&e, table[i].text));
		assert_int_equal(e.kind, table[i].kind);
		assert_int_equal(e.addresses_count, table[i].addresses);
		assert_int_equal(e.tls, table[i].tls);
		assert_int_equal(e.proxy, table[i].proxy);
		assert_string_equal(sws_endpoint_text(&e, text), table[i].written);
		assert_string_equal(sws_endpoint_url(&e, text), table[i].url);
	}
}

static void
addresses(void **state)
{
	struct sws_endpoint e;

	(void)state;
	assert_null(sws_endpoint_parse(&e, "localhost:8080"));
	assert_int_equal(e.address[0].in4.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_memory_equal(&e.address[1].in6.sin6_addr, &in6addr_loopback, 16);
	assert_int_equal(sws_address_port(&e.address[0]), 8080);
	assert_int_equal(sws_address_port(&e.address[1]), 8080);
	sws_address_set_port(&e.address[1], 65535);
	assert_int_equal(e.address[1].in6.sin6_port, htons(65535));

	assert_null(sws_endpoint_parse(&e, "unix:/a mode=0660"));
	assert_int_equal(e.mode, 0660);
	assert_string_equal(e.address[0].un.sun_path, "/a");
	assert_int_equal(sws_address_port(&e.address[0]), 0);
	assert_null(sws_endpoint_parse(&e, "unix:@a"));
	assert_int_equal(e.mode, -1);
	assert_memory_equal(e.address[0].un.sun_path, "\0a", 3);
	assert_int_equal(e.address_len[0], offsetof(struct sockaddr_un, sun_path) + 2);
}

static void
hosts(void **state)
{
	(void)state;
	assert_null(sws_host_check("127.0.0.1"));
	assert_null(sws_host_check("::1"));
	assert_null(sws_host_check("[::1]"));
	assert_null(sws_host_check("*"));
	assert_null(sws_host_check("localhost"));
	assert_non_null(sws_host_check(""));
	assert_non_null(sws_host_check("localhost:80"));
	assert_non_null(sws_host_check("example.org"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(accepted),
		cmocka_unit_test(addresses),
		cmocka_unit_test(hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
