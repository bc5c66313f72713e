/* SPDX-License-Identifier: MIT */
/*
 * job.h: a callback of either dialect, as the engine sees it: an object to run and then free, with
 * a color and a priority.
 */
#ifndef MELYCOMPAT_JOB_H
#define MELYCOMPAT_JOB_H

#include <cxxabi.h>

namespace melycompat {

/** The operations of a dialect on its callbacks. */
struct job_ops {
	void (*posted)(void *callback);       /**< a handler's function: run it, free it if owned */
	void (*run)(void *callback);          /**< call it through run_guarded */
	bool (*owned)(const void *callback);  /**< must the runtime free it now? */
	void (*free)(void *callback);
};

struct job {
	const job_ops *ops;
	void *callback;
	void *faddr; /**< the function, for reports and measurements */
	int color;   /**< as the program passed it */
	int priority;

	void
	free_if_owned() const
	{
		if (ops->owned(callback))
			ops->free(callback);
	}
};

/** Counts the callbacks that this worker has run; see strict_is_over. */
extern __thread unsigned events_left __attribute__((tls_model("initial-exec")));

[[noreturn]] void thread_may_not_exit();
void strict_is_over();

/**
 * Call the program's function. An exception that leaves it ends the program at the throw (noexcept
 * keeps the stack); pthread_exit ends it with a message. The forced unwind of pthread_exit has no
 * exception object, which the sanitizer for undefined behavior reports as an error.
 */
template <class F> __attribute__((no_sanitize("undefined"))) inline void
run_guarded(F call) noexcept
{
	if (__builtin_expect(--events_left == 0, 0))
		strict_is_over();
	try {
		call();
	} catch (abi::__forced_unwind &) {
		thread_may_not_exit();
	}
}

}

#endif
