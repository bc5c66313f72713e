/* SPDX-License-Identifier: MIT */
/*
 * encode.c: zlib, zstd and brotli, with levels that are worth their time for a page that is made
 * once and sent often.
 */
#include <errno.h>
#include <string.h>

#ifdef SWS_ZLIB
#include <zlib.h>
#endif
#ifdef SWS_ZSTD
#include <zstd.h>
#endif
#ifdef SWS_BROTLI
#include <brotli/encode.h>
#endif

#include "base/assertion.h"
#include "site/encode.h"

#define GZIP_LEVEL 6
#define ZSTD_LEVEL 9
#define BROTLI_QUALITY 6

#ifdef SWS_ZLIB
/* deflateInit2's way to ask for the largest window and the gzip format. */
#define GZIP_WINDOW (15 + 16)

static int
gzip(const char *bytes, size_t len, char *out, size_t *out_len)
{
	z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)len, .next_out = (Bytef *)out,
		.avail_out = (uInt)*out_len};
	int status = deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);

	if (status != Z_OK)
		return -ENOMEM;
	status = deflate(&z, Z_FINISH);
	*out_len = z.total_out;
	deflateEnd(&z);
	return status == Z_STREAM_END ? 0 : -E2BIG;
}
#else
#define gzip NULL
#endif

#ifdef SWS_ZSTD
static int
zstd(const char *bytes, size_t len, char *out, size_t *out_len)
{
	size_t n = ZSTD_compress(out, *out_len, bytes, len, ZSTD_LEVEL);

	if (ZSTD_isError(n))
		return -E2BIG;
	*out_len = n;
	return 0;
}
#else
#define zstd NULL
#endif

#ifdef SWS_BROTLI
static int
br(const char *bytes, size_t len, char *out, size_t *out_len)
{
	return BrotliEncoderCompress(BROTLI_QUALITY, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, len,
	    (const uint8_t *)bytes, out_len, (uint8_t *)out) ? 0 : -E2BIG;
}
#else
#define br NULL
#endif

typedef int (*encode_fn)(const char *bytes, size_t len, char *out, size_t *out_len);

static const encode_fn encoders[HTTP_CODINGS] = {
	[HTTP_ZSTD] = zstd, [HTTP_BR] = br, [HTTP_GZIP] = gzip
};

bool
sws_can_encode(enum http_coding coding)
{
	SWS_ASSERT(coding < HTTP_CODINGS);
	return encoders[coding] != NULL;
}

const char *
sws_encode_check(const char *list)
{
	static const struct {
		enum http_coding coding;
		const char *name, *missing;
	} codings[] = {
		{HTTP_ZSTD, "zst", "this sws is built without zstd"},
		{HTTP_BR, "br", "this sws is built without brotli"},
		{HTTP_GZIP, "gz", "this sws is built without zlib"}
	};

	for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++)
		if (strstr(list, codings[i].name) != NULL && !sws_can_encode(codings[i].coding))
			return codings[i].missing;
	return NULL;
}

bool
sws_is_compressible(const char *type)
{
	static const char *const types[] = {
		"application/javascript", "application/json", "application/wasm", "application/xml",
		"application/rtf", "application/vnd.ms-fontobject", "application/x-javascript",
		"font/otf", "font/ttf", "image/bmp", "image/vnd.microsoft.icon", "image/x-icon"
	};
	size_t len = strcspn(type, ";");

	if (strncmp(type, "text/", 5) == 0)
		return true;
	if ((len > 5 && memcmp(type + len - 5, "+json", 5) == 0)
	    || (len > 4 && memcmp(type + len - 4, "+xml", 4) == 0))
		return true;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strlen(types[i]) == len && memcmp(types[i], type, len) == 0)
			return true;
	return false;
}

int
sws_encode(enum http_coding coding, const char *bytes, size_t len, char *out, size_t *out_len)
{
	size_t room = *out_len;
	int status;

	SWS_ASSERT(sws_can_encode(coding) && len > 0 && room > 0);
	status = encoders[coding](bytes, len, out, out_len);
	SWS_ASSERT(status != 0 || *out_len <= room);
	return status;
}
