/* SPDX-License-Identifier: MIT */
/*
 * sha1.h: SHA-1 (FIPS 180). It no longer resists collisions; programs use it to make names. An
 * object is for one color at a time; the functions are for any thread.
 */
#ifndef MELYCOMPAT_ASYNC_SHA1_H
#define MELYCOMPAT_ASYNC_SHA1_H

#include "crypthash.h"
#include "str.h"

#pragma GCC system_header

class sha1 : public mdblock
{
public:
	enum { hashsize = 20 };
};

/** A hash in progress. */
class sha1ctx : public sha1
{
public:
	sha1ctx() { reset(); }
	~sha1ctx();

	/** Start again. */
	void reset();
	/** Store the hash of all input in the `hashsize` bytes at `digest`; then reset. */
	void final(void *digest);

protected:
	void consume(const u_char *block);

private:
	u_int32_t state[5];
};

/** Like sha1ctx, with a key: HMAC (RFC 2104). */
class sha1hmac
{
public:
	enum { hashsize = sha1::hashsize };

	sha1hmac() {}
	sha1hmac(const void *key, size_t len) { setkey(key, len); }

	/** A key of any length; `hashsize` bytes is best. Starts again. */
	void setkey(const void *key, size_t len);
	void reset();
	void update(const void *data, size_t len) { inner.update(data, len); }
	void updatev(const iovec *iov, u_int count) { inner.updatev(iov, count); }
	void final(void *digest);

private:
	sha1ctx keyed_in;
	sha1ctx keyed_out;
	sha1ctx inner;
};

/** Store the hash of `len` bytes in the 20 bytes at `digest`. */
inline void
sha1_hash(void *digest, const void *buf, size_t len)
{
	sha1ctx c;

	c.update(buf, len);
	c.final(digest);
}

inline void
sha1_hashv(void *digest, const iovec *iov, u_int count)
{
	sha1ctx c;

	c.updatev(iov, count);
	c.final(digest);
}

inline void
sha1_hmac(void *digest, const void *key, size_t keylen, const void *data, size_t len)
{
	sha1hmac h(key, keylen);

	h.update(data, len);
	h.final(digest);
}

#endif
