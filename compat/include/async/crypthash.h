/* SPDX-License-Identifier: MIT */
/*
 * crypthash.h: consumers of bytes: hashes and pools of noise.
 */
#ifndef MELYCOMPAT_ASYNC_CRYPTHASH_H
#define MELYCOMPAT_ASYNC_CRYPTHASH_H

#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#pragma GCC system_header

class datasink
{
public:
	virtual ~datasink() {}

	/** Add `len` bytes. */
	virtual void update(const void *data, size_t len) = 0;
	void updatev(const iovec *iov, u_int count)
	{
		for (u_int i = 0; i < count; i++)
			update(iov[i].iov_base, iov[i].iov_len);
	}
};

/** Processes bytes in blocks of 64 and appends their number, in bits, at the end. */
class mdblock : public datasink
{
public:
	enum { blocksize = 64 };

	mdblock() : count(0) { memset(buffer, 0, sizeof buffer); }
	virtual ~mdblock();

	void update(const void *data, size_t len);

protected:
	/** Process a block. */
	virtual void consume(const u_char *block) = 0;
	/** Append the padding: a one bit, zeros, and the number of bits, most significant byte
	 * first. */
	void finish_be();

	u_int64_t count;          /* bytes so far */
	u_char buffer[blocksize]; /* those that do not fill a block yet */
};

#endif
