/* SPDX-License-Identifier: MIT */
/*
 * fdlocks.h: the locks of descriptors: few of them, because a fork takes them all. No thread takes
 * two, except for a fork. Any thread.
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

	/* Before and after a fork. */
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
	/* ThreadSanitizer tracks at most 64 locks that one thread holds. */
	enum { LOCKS = 32 };
	struct alignas(64) one {
		std::mutex mutex;
	};

	one _locks[LOCKS];
};

}

#endif
