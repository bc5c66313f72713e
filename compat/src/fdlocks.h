/* SPDX-License-Identifier: MIT */
/*
 * fdlocks.h: the locks of descriptors: a few for all of them, since a fork takes all. Nobody takes
 * two. Any thread.
 */
#ifndef MELYCOMPAT_FDLOCKS_H
#define MELYCOMPAT_FDLOCKS_H

#include <mutex>

#include "quiet.h"

namespace melycompat {

class fd_locks
{
public:
	std::mutex &of(int fd) { return _locks[fd % LOCKS].mutex; }

	/* Around a fork. */
	void
	take_all()
	{
		quiet unseen;

		for (one &l : _locks)
			l.mutex.lock();
	}
	void
	drop_all()
	{
		quiet unseen;

		for (one &l : _locks)
			l.mutex.unlock();
	}

private:
	/* Fewer than the 64 that ThreadSanitizer can see a thread hold. */
	enum { LOCKS = 32 };
	struct alignas(64) one {
		std::mutex mutex;
	};

	one _locks[LOCKS];
};

}

#endif
