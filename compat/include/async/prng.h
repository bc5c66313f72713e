/* SPDX-License-Identifier: MIT */
/*
 * prng.h: random numbers for keys. They come from the kernel, getrandom(2), so that there is no
 * state that a fork copies, or that has to be seeded.
 */
#ifndef MELYCOMPAT_ASYNC_PRNG_H
#define MELYCOMPAT_ASYNC_PRNG_H

#include <stddef.h>
#include <sys/types.h>

#include "async.h"
#include "sha1.h"

#pragma GCC system_header

/** A source of random numbers; any thread may call it. */
class prng
{
public:
	/** `len` bytes at `buf`. Waits, early in the life of a machine, until there are any. */
	void getbytes(void *buf, size_t len);
	u_int32_t getword();
	u_int64_t gethyper();
};

/** Noise that the program adds: random_update hands a hash of it to the kernel. Color 0. */
class noise_pool : public datasink
{
public:
	noise_pool() : dirty(false) {}

	void update(const void *data, size_t len);
	/** Hand it over. */
	void flush();

private:
	sha1ctx hash;
	bool dirty;
};

extern prng rnd;
extern noise_pool rnd_input;

/** What programs call before they use rnd: what is in rnd_input goes to the kernel. Color 0. */
void random_update();
/** The same; there is nothing to start, no seed that a file would have to keep. */
void random_start();
void random_init();
void random_init_file(str path);

/** What the clocks say, into `dst`. */
void getclocknoise(datasink *dst);
/** Bytes of the kernel's generator, into `dst`; then `cb`, later, in its color. Color 0. */
void getsysnoise(datasink *dst, cbv cb);

#endif
