/* SPDX-License-Identifier: MIT */
/*
 * prng.cc: random numbers from the kernel.
 */
#include "prng.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "serial.h"

prng rnd;
noise_pool rnd_input;

void
prng::getbytes(void *buf, size_t len)
{
	char *p = static_cast<char *>(buf);

	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno != EINTR)
			panic("getrandom: %m\n");
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

u_int32_t
prng::getword()
{
	u_int32_t word;

	getbytes(&word, sizeof word);
	return word;
}

u_int64_t
prng::gethyper()
{
	u_int64_t hyper;

	getbytes(&hyper, sizeof hyper);
	return hyper;
}

void
noise_pool::update(const void *data, size_t len)
{
	hash.update(data, len);
	dirty = true;
}

void
noise_pool::flush()
{
	u_char digest[sha1::hashsize];

	if (!dirty)
		return;
	hash.final(digest);
	dirty = false;
	/* Writing only adds to the kernel's entropy pool, so a missing device does no harm. */
	int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, digest, sizeof digest) < 0)
			errno = 0;
		close(fd);
	}
	explicit_bzero(digest, sizeof digest);
}

void
random_update()
{
	rnd_input.flush();
}

void
random_start()
{
	random_update();
}

void
random_init()
{
	random_update();
}

void
random_init_file(str path)
{
	(void)path;
	random_update();
}

void
getclocknoise(datasink *dst)
{
	static const clockid_t clocks[] = {
	    CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID};

	for (clockid_t c : clocks) {
		timespec ts;

		clock_gettime(c, &ts);
		dst->update(&ts, sizeof ts);
	}
}

void
getsysnoise(datasink *dst, cbv cb)
{
	u_char noise[64];

	getclocknoise(dst);
	rnd.getbytes(noise, sizeof noise);
	dst->update(noise, sizeof noise);
	explicit_bzero(noise, sizeof noise);
	delaycb(0, 0, cb);
}
