/* SPDX-License-Identifier: MIT */
/*
 * cond.c: entity tags from file attributes, and lists of tags.
 */
#include <string.h>

#include "base/assertion.h"
#include "http/cond.h"

static uint64_t
mix(uint64_t hash, uint64_t value)
{
	__uint128_t product;

	product = (__uint128_t)(hash ^ value ^ UINT64_C(0x9e3779b97f4a7c15))
	    * UINT64_C(0xd6e8feb86659fd93);
	return (uint64_t)product ^ (uint64_t)(product >> 64) ^ value << 1;
}

static void
write_etag(uint64_t hash, char out[HTTP_ETAG_LEN])
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '"';
	for (int i = 0; i < 16; i++)
		out[1 + i] = digits[hash >> (60 - 4 * i) & 15];
	out[HTTP_ETAG_LEN - 1] = '"';
}

void
http_etag_of_bytes(const char *bytes, size_t len, char out[HTTP_ETAG_LEN])
{
	uint64_t hash = mix(UINT64_C(0x8ebc6af09c88c6e3), len), word;

	for (; len > 0; bytes += len < 8 ? len : 8, len -= len < 8 ? len : 8) {
		word = 0;
		memcpy(&word, bytes, len < 8 ? len : 8);
		hash = mix(hash, word);
	}
	write_etag(hash, out);
}

void
http_etag(const struct stat *st, enum http_coding coding, char out[HTTP_ETAG_LEN])
{
	uint64_t hash = UINT64_C(0xa0761d6478bd642f);

	hash = mix(hash, (uint64_t)coding);
	hash = mix(hash, (uint64_t)st->st_dev);
	hash = mix(hash, (uint64_t)st->st_ino);
	hash = mix(hash, (uint64_t)st->st_size);
	hash = mix(hash, (uint64_t)st->st_mtim.tv_sec);
	hash = mix(hash, (uint64_t)st->st_mtim.tv_nsec);
	hash = mix(hash, (uint64_t)st->st_ctim.tv_sec);
	hash = mix(hash, (uint64_t)st->st_ctim.tv_nsec);
	write_etag(hash, out);
}

static bool
listed(const char *list, size_t len, const char *etag, size_t etag_len, bool strong)
{
	size_t i = 0;

	/* A tag without its quotes would match nothing. */
	SWS_DEBUG_ASSERT(etag_len == 0 || (etag_len >= 2 && etag[0] == '"'
	    && etag[etag_len - 1] == '"'));
	for (;;) {
		bool weak = false;
		size_t from;

		while (i < len && (list[i] == ' ' || list[i] == '\t' || list[i] == ','))
			i++;
		if (i == len)
			return false;
		if (list[i] == '*' && len == 1)
			return true;
		if (len - i >= 2 && list[i] == 'W' && list[i + 1] == '/') {
			weak = true;
			i += 2;
		}
		if (i == len || list[i] != '"')
			return false;
		from = i++;
		while (i < len && list[i] != '"')
			i++;
		if (i == len)
			return false;
		i++;
		if (!(weak && strong) && i - from == etag_len
		    && memcmp(list + from, etag, etag_len) == 0)
			return true;
	}
}

bool
http_etag_listed(const char *list, size_t len, const char *etag, size_t etag_len)
{
	return listed(list, len, etag, etag_len, false);
}

bool
http_etag_listed_strong(const char *list, size_t len, const char *etag, size_t etag_len)
{
	return listed(list, len, etag, etag_len, true);
}
