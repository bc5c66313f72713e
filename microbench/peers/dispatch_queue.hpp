// SPDX-License-Identifier: MIT
//
// dispatch_queue.hpp: libdispatch: an entity is a serial queue, what is posted to it a function
// with its argument (dispatch_async_f), for which libdispatch needs neither blocks nor clang.
//
// Debian 12 does not package libdispatch. This file has been compiled and run only with a
// replacement that defines the functions below as <dispatch/queue.h> declares them, and never been
// measured. build.sh makes the program where <dispatch/dispatch.h> is installed.
#include <dispatch/dispatch.h>

#include <sched.h>

namespace peer {

constexpr const char *name = "dispatch-queue";

// Its threads are as many as the processors of the process, and it makes them when it needs them.
inline void
start(int threads)
{
	cpu_set_t usable, wanted;

	CPU_ZERO(&wanted);
	if (sched_getaffinity(0, sizeof(usable), &usable) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&wanted) < threads; i++)
		if (CPU_ISSET(i, &usable))
			CPU_SET(i, &wanted);
	sched_setaffinity(0, sizeof(wanted), &wanted);
}

class entity {
public:
	entity() : queue_(dispatch_queue_create("entity", DISPATCH_QUEUE_SERIAL))
	{
		// Without a target, a serial queue may get a thread of its own.
		dispatch_set_target_queue(queue_,
		    dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0));
	}
	// Never copied: vectors of entities are made in place and never grow.
	entity(const entity &) = delete;
	entity &operator=(const entity &) = delete;

	template <auto Method, class T>
	void post(T *object)
	{
		dispatch_async_f(queue_, object,
		    [](void *o) { (static_cast<T *>(o)->*Method)(); });
	}
	template <auto Method, class T>
	void post_outside(T *object)
	{
		post<Method>(object);
	}

private:
	dispatch_queue_t queue_;
};

} // namespace peer
