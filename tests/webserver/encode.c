/* SPDX-License-Identifier: MIT */
/*
 * encode.c: what is encoded is decoded again by the library of the other side; and which types are
 * worth it. A coding whose library this build lacks is left out.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef SWS_ZLIB
#include <zlib.h>
#endif
#ifdef SWS_ZSTD
#include <zstd.h>
#endif

#include "unit.h"
#include "../../webserver/site/encode.h"

static char text[200000], out[200000], back[200001];

/* Decode; the length, or 0 where this test has no decoder. */
static size_t
decode(enum http_coding coding, const char *bytes, size_t len)
{
#ifdef SWS_ZLIB
	if (coding == HTTP_GZIP) {
		z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)len,
			.next_out = (Bytef *)back, .avail_out = sizeof back};

		assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(z.avail_in, 0);
		inflateEnd(&z);
		return z.total_out;
	}
#endif
#ifdef SWS_ZSTD
	if (coding == HTTP_ZSTD)
		return ZSTD_decompress(back, sizeof back, bytes, len);
#endif
	(void)coding;
	(void)bytes;
	(void)len;
	return 0;
}

static void
round_trip(void **state)
{
	static const size_t lengths[] = {1, 100, 1024, 65536, sizeof text};

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = "abcdefgh \n"[(i * i / 7 + i / 100) % 10];
	for (int c = HTTP_ZSTD; c < HTTP_CODINGS; c++) {
		if (!sws_can_encode((enum http_coding)c)) {
			print_message("%s is not in this build\n",
			    http_coding_name((enum http_coding)c));
			continue;
		}
		for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
			size_t len = sizeof out, n;

			assert_int_equal(sws_encode((enum http_coding)c, text, lengths[i], out,
			    &len), 0);
			assert_true(len > 0 && (lengths[i] < 1024 || len < lengths[i] / 2));
			n = decode((enum http_coding)c, out, len);
			if (c == HTTP_BR)
				continue;
			assert_int_equal(n, lengths[i]);
			assert_memory_equal(back, text, n);
		}
	}
}

/* What does not fit is refused, and nothing is written behind the room. */
static void
no_room(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
	for (int c = HTTP_ZSTD; c < HTTP_CODINGS; c++) {
		for (size_t room = 1; room < 20000 && sws_can_encode((enum http_coding)c);
		    room = room * 3 + 1) {
			size_t len = room;

			memset(out, 'x', sizeof out);
			assert_int_equal(sws_encode((enum http_coding)c, text, 20000, out, &len),
			    -E2BIG);
			assert_int_equal(out[room], 'x');
		}
	}
}

static void
types(void **state)
{
	static const char *const yes[] = {"text/html; charset=utf-8", "text/css", "text/x-anything",
		"application/json; charset=utf-8", "image/svg+xml", "application/wasm",
		"application/ld+json", "application/manifest+json", "font/ttf"};
	static const char *const no[] = {"image/png", "application/gzip", "video/mp4",
		"application/octet-stream", "font/woff2", "application/zip", "image/jpeg", "",
		"application/jsonx", "application/pdf", "+json", "texts/x"};

	(void)state;
	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
		assert_true(sws_is_compressible(yes[i]));
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		assert_false(sws_is_compressible(no[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(no_room), cmocka_unit_test(types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
