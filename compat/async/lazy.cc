/* SPDX-License-Identifier: MIT */
/*
 * lazy.cc: lazycb and yieldcb. Neither makes the loop wake up.
 */
#include "lazy.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <vector>

#include "../src/say.h"
#include "async.h"
#include "counted.h"
#include "posts.h"

struct lazycb_t {
	time_t interval, next;
	cbv cb;
};

struct yieldcb_t {
	cbv cb;
};

namespace melycompat {

namespace {

/* Neither is ever destroyed: callbacks may refer to objects that no longer exist at exit. */
std::vector<lazycb_t *> &
lazies()
{
	static std::vector<lazycb_t *> *const all = new std::vector<lazycb_t *>;

	return *all;
}

std::deque<yieldcb_t *> &
yields()
{
	static std::deque<yieldcb_t *> *const all = new std::deque<yieldcb_t *>;

	return *all;
}

template <class L, class T> void
take_out(L &list, T *one, const char *function)
{
	auto found = std::find(list.begin(), list.end(), one);

	if (found == list.end()) {
		say("%s: there is none such", function);
		std::abort();
	}
	list.erase(found);
	delete one;
}

}

void
lazies_run()
{
	if (lazies().empty())
		return;
	/* Iterate over a copy, since callbacks may change the list. A new lazycb at the address of
	 * a deleted one is harmless: it is not due yet, or it may just as well run now. */
	const std::vector<lazycb_t *> all = lazies();
	time_t now = time(nullptr);
	for (lazycb_t *lazy : all) {
		if (std::find(lazies().begin(), lazies().end(), lazy) == lazies().end() ||
		    lazy->next > now)
			continue;
		lazy->next = now + lazy->interval;
		call_or_post(job_of(lazy->cb));
	}
}

void
yields_run()
{
	size_t left = yields().size(); /* yieldcbs added from now on wait for the next pass */

	for (; left > 0 && !yields().empty(); left--) {
		yieldcb_t *yield = yields().front();
		cbv::ptr cb = yield->cb;

		yields().pop_front();
		delete yield;
		call_or_post(job_take(cb));
	}
}

}

lazycb_t *
lazycb(time_t min_s, cbv cb)
{
	lazycb_t *lazy = new lazycb_t{min_s, time(nullptr) + min_s, cb};

	melycompat::lazies().push_back(lazy);
	return lazy;
}

void
lazycb_remove(lazycb_t *lazy)
{
	if (lazy != nullptr)
		melycompat::take_out(melycompat::lazies(), lazy, "lazycb_remove");
}

yieldcb_t *
yieldcb(cbv cb)
{
	yieldcb_t *yield = new yieldcb_t{cb};

	melycompat::yields().push_back(yield);
	return yield;
}

void
yieldcb_remove(yieldcb_t *yield)
{
	if (yield != nullptr)
		melycompat::take_out(melycompat::yields(), yield, "yieldcb_remove");
}
