/* SPDX-License-Identifier: MIT */
/*
 * prng.h: random numbers for keys, from getrandom(2). Since the kernel generates them, there is no
 * state that a fork copies or that needs a seed.
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
	/** Store `len` random bytes at `buf`. Shortly after boot, waits until there are any. */
	void getbytes(void *buf, size_t len);
	u_int32_t getword();
	u_int64_t gethyper();
};

/** Noise that the program adds: random_update passes a hash of it to the kernel. Color 0. */
class noise_pool : public datasink
{
public:
	noise_pool() : dirty(false) {}

	void update(const void *data, size_t len);
	/** Pass the hash to the kernel. */
	void flush();

private:
	sha1ctx hash;
	bool dirty;
};

extern prng rnd;
extern noise_pool rnd_input;

/** Programs call this before they use rnd; it passes rnd_input to the kernel. Color 0. */
void random_update();
/** Like random_update; nothing needs to be started, and no seed file is kept. */
void random_start();
void random_init();
void random_init_file(str path);

/** Add the readings of the clocks to `dst`. */
void getclocknoise(datasink *dst);
/** Add bytes of the kernel's generator to `dst`; then post `cb` to its color. Color 0. */
void getsysnoise(datasink *dst, cbv cb);

#endif
