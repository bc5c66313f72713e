/* SPDX-License-Identifier: MIT */
/*
 * job.h: a callback of either dialect as the parts below see it: something that is run and then
 * freed, with its color and priority.
 */
#ifndef MELYCOMPAT_JOB_H
#define MELYCOMPAT_JOB_H

#include <cxxabi.h>

namespace melycompat {

/** What a dialect does with its callbacks. */
struct job_ops {
	void (*posted)(void *callback);       /**< a handler's function: run it, free it if owned */
	void (*run)(void *callback);          /**< call it, by way of run_guarded */
	bool (*owned)(const void *callback);  /**< is it the runtime's to free, as of now? */
	void (*free)(void *callback);
};

struct job {
	const job_ops *ops;
	void *callback;
	void *faddr; /**< the function that is called, for people and measurements */
	int color;   /**< as the program gave it */
	int priority;

	void
	free_if_owned() const
	{
		if (ops->owned(callback))
			ops->free(callback);
	}
};

/** Counts what this worker has run; see strict_is_over. */
extern __thread unsigned events_left __attribute__((tls_model("initial-exec")));

[[noreturn]] void thread_may_not_exit();
void strict_is_over();

/**
 * Call the program's function. An exception that leaves it ends the program where it was thrown
 * (noexcept, so that no stack is lost); so does pthread_exit, with a message. What is caught then
 * has no object, which the sanitizer for undefined behavior takes for an error.
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
