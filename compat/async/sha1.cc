/* SPDX-License-Identifier: MIT */
/*
 * sha1.cc: SHA-1 as in FIPS 180-4, and HMAC. The input may be a key, so contexts are wiped.
 */
#include "sha1.h"

#include <cstring>

#include "serial.h"

mdblock::~mdblock()
{
	explicit_bzero(buffer, sizeof buffer);
}

void
mdblock::update(const void *data, size_t len)
{
	const u_char *p = static_cast<const u_char *>(data);
	size_t have = count % blocksize;

	if (len == 0)
		return;
	count += len;
	if (have > 0) {
		size_t n = len < blocksize - have ? len : blocksize - have;

		std::memcpy(buffer + have, p, n);
		if (have + n < blocksize)
			return;
		consume(buffer);
		p += n;
		len -= n;
	}
	for (; len >= blocksize; p += blocksize, len -= blocksize)
		consume(p);
	std::memcpy(buffer, p, len);
}

void
mdblock::finish_be()
{
	size_t have = count % blocksize;

	buffer[have++] = 0x80;
	if (have > blocksize - 8) {
		std::memset(buffer + have, 0, blocksize - have);
		consume(buffer);
		have = 0;
	}
	std::memset(buffer + have, 0, blocksize - 8 - have);
	puthyper(buffer + blocksize - 8, count * 8);
	consume(buffer);
}

sha1ctx::~sha1ctx()
{
	explicit_bzero(state, sizeof state);
}

void
sha1ctx::reset()
{
	static const u_int32_t start[5] = {
	    0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

	std::memcpy(state, start, sizeof state);
	count = 0;
}

static inline u_int32_t
rotate(u_int32_t x, int n)
{
	return x << n | x >> (32 - n);
}

/* The function and the constant of step t. */
static inline u_int32_t
mixed(int t, u_int32_t b, u_int32_t c, u_int32_t d)
{
	if (t < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (t < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (t < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

void
sha1ctx::consume(const u_char *block)
{
	u_int32_t w[80];
	u_int32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (int t = 0; t < 16; t++)
		w[t] = getint(block + 4 * t);
	for (int t = 16; t < 80; t++)
		w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
	for (int t = 0; t < 80; t++) {
		u_int32_t next = rotate(a, 5) + mixed(t, b, c, d) + e + w[t];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	explicit_bzero(w, sizeof w);
}

void
sha1ctx::final(void *digest)
{
	finish_be();
	for (int i = 0; i < 5; i++)
		putint(static_cast<u_char *>(digest) + 4 * i, state[i]);
	reset();
}

void
sha1hmac::setkey(const void *key, size_t len)
{
	u_char block[sha1::blocksize] = {};

	if (len > sizeof block)
		sha1_hash(block, key, len);
	else if (len > 0)
		std::memcpy(block, key, len);
	for (u_char &b : block)
		b ^= 0x36;
	keyed_in.reset();
	keyed_in.update(block, sizeof block);
	for (u_char &b : block)
		b ^= 0x36 ^ 0x5c;
	keyed_out.reset();
	keyed_out.update(block, sizeof block);
	explicit_bzero(block, sizeof block);
	reset();
}

void
sha1hmac::reset()
{
	inner = keyed_in;
}

void
sha1hmac::final(void *digest)
{
	u_char hash[hashsize];
	sha1ctx outer = keyed_out;

	inner.final(hash);
	outer.update(hash, sizeof hash);
	outer.final(digest);
	reset();
}
