/* SPDX-License-Identifier: MIT */
/*
 * children.cc: callbacks for children that end. The loop reaps all children, including those
 * without a callback; with a z in SFS_OPTIONS, or after set_zombie_collect, only those with a
 * callback.
 */
#include "signals.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/wait.h>

#include "counted.h"
#include "posts.h"

namespace melycompat {

namespace {

/* Never destroyed: callbacks may refer to objects that no longer exist then. */
std::map<pid_t, cbi::ptr> &
waiting()
{
	static std::map<pid_t, cbi::ptr> *const all = new std::map<pid_t, cbi::ptr>;

	return *all;
}

bool &
keeps_zombies()
{
	static const char *const options = std::getenv("SFS_OPTIONS");
	static bool keeps = options != nullptr && std::strchr(options, 'z') != nullptr;

	return keeps;
}

void
tell(pid_t pid, int status)
{
	auto found = waiting().find(pid);

	if (found == waiting().end())
		return;
	cbi::ptr cb = found->second;
	waiting().erase(found);
	signal_child_ended(); /* so that an acheck in the callback finds the others */
	call_or_post(job_of_status(cb, status));
}

/* Reap only children with a callback. A callback may change the table. */
void
reap_waited_for()
{
	auto next = waiting().begin();
	int status;

	while (next != waiting().end()) {
		pid_t pid = next->first;

		if (waitpid(pid, &status, WNOHANG) == pid)
			tell(pid, status);
		next = waiting().upper_bound(pid);
	}
}

}

void
children_keep(bool on)
{
	keeps_zombies() = on;
}

void
child_set(pid_t pid, cbi::ptr cb)
{
	int status;

	waiting().erase(pid);
	if (!cb)
		return;
	waiting()[pid] = cb;
	if (keeps_zombies() && waitpid(pid, &status, WNOHANG) == pid)
		tell(pid, status);
}

void
children_run()
{
	pid_t pid;
	int status;

	if (keeps_zombies()) {
		reap_waited_for();
		return;
	}
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		tell(pid, status);
}

}
