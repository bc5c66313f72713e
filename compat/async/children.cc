/* SPDX-License-Identifier: MIT */
/*
 * children.cc: who is told when a child has ended. The loop reaps all children, those of nobody,
 * too; with a z in SFS_OPTIONS only those that somebody waits for.
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

/* Never destroyed: callbacks may refer to what is gone by then. */
std::map<pid_t, cbi::ptr> &
waiting()
{
	static std::map<pid_t, cbi::ptr> *const all = new std::map<pid_t, cbi::ptr>;

	return *all;
}

bool
keeps_zombies()
{
	static const char *const options = std::getenv("SFS_OPTIONS");

	return options != nullptr && std::strchr(options, 'z') != nullptr;
}

void
tell(pid_t pid, int status)
{
	auto found = waiting().find(pid);

	if (found == waiting().end())
		return;
	cbi::ptr cb = found->second;
	waiting().erase(found);
	signal_child_ended(); /* if the callback calls acheck, that is to find the others */
	call_or_post(job_of_status(cb, status));
}

/* Those that somebody waits for: callbacks may change who does. */
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
