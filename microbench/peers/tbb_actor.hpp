// SPDX-License-Identifier: MIT
//
// tbb_actor.hpp: the usual actor on oneTBB: a concurrent_queue as mailbox, a flag that shows
// whether the actor has a task, and a task that runs at most a batch and is spawned again while
// the mailbox is not empty. The workers are those of an arena, without the main thread.
#include <atomic>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace peer {

constexpr const char *name = "tbb-actor";

// They live as long as the process.
inline tbb::task_arena *arena;
inline tbb::task_group *group;

inline void
start(int threads)
{
	// One more than the arena's, for the main thread, which takes no part.
	new tbb::global_control(tbb::global_control::max_allowed_parallelism,
	    static_cast<size_t>(threads) + 1);
	arena = new tbb::task_arena(threads, 0);
	arena->initialize();
	group = new tbb::task_group;
}

class entity {
public:
	entity() = default;

	// From a worker: spawned on its own deque.
	template <auto Method, class T>
	void post(T *object)
	{
		put<Method>(object);
		if (claim())
			group->run([this] { drain(); });
	}
	// From any other thread: into the arena's queue.
	template <auto Method, class T>
	void post_outside(T *object)
	{
		put<Method>(object);
		if (claim())
			arena->enqueue([this] { drain(); });
	}

private:
	static constexpr int batch = 16;

	struct message {
		void (*call)(void *);
		void *object;
	};

	template <auto Method, class T>
	void put(T *object)
	{
		mailbox_.push({[](void *o) { (static_cast<T *>(o)->*Method)(); }, object});
	}

	// True for the one that has to see to it that a task comes. Most posts find the flag set
	// and need no exchange. None is lost: push has incremented the queue's tail with a locked
	// instruction before the look at the flag, and drain looks at the tail, in empty(), after
	// its own exchange of the flag. (Elsewhere than on x86 a fence would have to stand here.)
	bool claim()
	{
		return !scheduled_.load(std::memory_order_relaxed) && !scheduled_.exchange(true);
	}

	void drain()
	{
		message m;

		for (int i = 0; i < batch; i++) {
			if (mailbox_.try_pop(m)) {
				m.call(m.object);
				continue;
			}
			scheduled_.exchange(false);
			if (mailbox_.empty() || scheduled_.exchange(true))
				return;
		}
		group->run([this] { drain(); });
	}

	tbb::concurrent_queue<message> mailbox_;
	std::atomic<bool> scheduled_{false};
};

} // namespace peer
