/* SPDX-License-Identifier: MIT */
/*
 * arc4.h: the ARC4 stream of bytes. ARC4 is broken as a cipher; programs use it as a repeatable
 * generator. An object is for one color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_ARC4_H
#define MELYCOMPAT_ASYNC_ARC4_H

#include <stddef.h>
#include <sys/types.h>

#pragma GCC system_header

class arc4
{
public:
	arc4() { reset(); }

	/** Return to the initial state: no key. */
	void reset()
	{
		for (int n = 0; n < 256; n++)
			s[n] = (u_char)n;
		i = j = 0;
	}

	/**
	 * Mix in a key of 1 to 256 bytes. The first call after reset sets the key; further calls
	 * add to it.
	 */
	void setkey(const void *key, size_t len)
	{
		const u_char *k = static_cast<const u_char *>(key);
		u_char at = 0;

		for (int n = 0; n < 256; n++) {
			at = (u_char)(at + s[n] + (len > 0 ? k[n % len] : 0));
			exchange((u_char)n, at);
		}
		i = j = 0;
	}

	/** The next byte of the stream. */
	u_char getbyte()
	{
		i = (u_char)(i + 1);
		j = (u_char)(j + s[i]);
		exchange(i, j);
		return s[(u_char)(s[i] + s[j])];
	}
	void getbytes(void *to, size_t len)
	{
		for (u_char *p = static_cast<u_char *>(to); len > 0; len--)
			*p++ = getbyte();
	}

private:
	void exchange(u_char a, u_char b)
	{
		u_char was = s[a];

		s[a] = s[b];
		s[b] = was;
	}

	u_char i, j;
	u_char s[256];
};

#endif
