/* SPDX-License-Identifier: MIT */
/*
 * counted.cc: operations on counted callbacks.
 */
#include "counted.h"

namespace melycompat {

namespace {

void
run(void *arg)
{
	callback<void> *cb = static_cast<callback<void> *>(arg);

	run_guarded([cb] { (*cb)(); });
}

void
release(void *arg)
{
	static_cast<callback<void> *>(arg)->refcount_dec();
}

void
posted(void *arg)
{
	run(arg);
	release(arg);
}

bool
owned(const void *)
{
	return true;
}

/* A status and the callback that receives it. */
struct status_call {
	cbi::ptr cb;
	int status;
};

void
status_run(void *arg)
{
	status_call *call = static_cast<status_call *>(arg);

	run_guarded([call] { call->cb(call->status); });
}

void
status_free(void *arg)
{
	delete static_cast<status_call *>(arg);
}

void
status_posted(void *arg)
{
	status_run(arg);
	status_free(arg);
}

const job_ops status_ops = {status_posted, status_run, owned, status_free};

}

const job_ops counted_ops = {posted, run, owned, release};

job
job_take_other(cbv::ptr &cb)
{
	void *held = hold(cbv(cb));

	cb = nullptr;
	return {&counted_ops, held, callback_of(held)->getfaddr(), callback_of(held)->getcolor(),
	    callback_of(held)->getprio()};
}

job
job_of_status(cbi::ptr cb, int status)
{
	void *faddr = cb->getfaddr();
	int color = cb->getcolor(), priority = cb->getprio();

	return {&status_ops, new status_call{cb, status}, faddr, color, priority};
}

}
