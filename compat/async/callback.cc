/* SPDX-License-Identifier: MIT */
/*
 * callback.cc: the parts of callbacks and handles that are not templates.
 */
#include "../include/async/callback.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../include/async/str.h"
#include "held.h"

namespace melycompat {

/* The original dereferences NULL here, which kills the program. Do the like, after a message. */
void
null_ref()
{
	static const char message[] = "mely-compat: a ref<> was made of a null ptr<>\n";
	ssize_t written = write(STDERR_FILENO, message, strlen(message));

	static_cast<void>(written);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	abort();
}

/* Usually the counter of a callback is its base class, and the event can hold the callback itself.
 * In the rare case that the counter belongs to another object (the callback is a member of it),
 * hold a new callback that wraps a handle. */
void *
hold(const callback<void>::ref &cb)
{
	if (cb._count == cb.get()) {
		cb.Xleak();
		return cb.get();
	}
	return hold(cpwrap_timeleft(cb, &callback<void>::trigger, cb->getcolor(), cb->getprio(),
	    cb->get_timeleft()));
}

}

static void
nothing()
{
}

template <class T> static void
nothing_of(T)
{
}

/* Before the constructors of the program, also when it links the library statically. */
#define FIRST __attribute__((init_priority(101)))

cbv cbv_null FIRST (wrap(nothing));
cbi cbi_null FIRST (wrap(nothing_of<int>));
cbs cbs_null FIRST (wrap(nothing_of<str>));
cbb cbb_null FIRST (wrap(nothing_of<bool>));
