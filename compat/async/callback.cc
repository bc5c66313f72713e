/* SPDX-License-Identifier: MIT */
/*
 * callback.cc: what callbacks and handles need that is not a template.
 */
#include "../include/async/callback.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../include/async/str.h"
#include "held.h"

namespace melycompat {

/* The original dereferences NULL here, and programs die of that. */
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

/* What counts a callback is a base of it, but for the rare one that is a member of something: of
 * that one the callback of a handle is held. */
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

/* Before the constructors of a program that has the library in it. */
#define FIRST __attribute__((init_priority(101)))

cbv cbv_null FIRST (wrap(nothing));
cbi cbi_null FIRST (wrap(nothing_of<int>));
cbs cbs_null FIRST (wrap(nothing_of<str>));
cbb cbb_null FIRST (wrap(nothing_of<bool>));
