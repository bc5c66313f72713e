/* SPDX-License-Identifier: MIT */
/*
 * counted.h: the counted callbacks of dialect "async" as jobs. A job has a reference.
 */
#ifndef MELYCOMPAT_ASYNC_COUNTED_H
#define MELYCOMPAT_ASYNC_COUNTED_H

#include "../src/job.h"
#include "held.h"

namespace melycompat {

extern const job_ops counted_ops;

/* Something else than the callback counts its references. */
job job_take_other(cbv::ptr &cb);

/** The job of a callback, with the reference that the handle had: the handle becomes null. */
inline job
job_take(cbv::ptr &cb)
{
	callback<void> *object = cb.get();

	if (__builtin_expect(cb._count != object, 0))
		return job_take_other(cb);
	cb._object = nullptr;
	cb._count = nullptr;
	return {&counted_ops, object, object->getfaddr(), object->getcolor(), object->getprio()};
}

/** The same with a reference of its own. */
inline job
job_of(cbv::ptr cb)
{
	return job_take(cb);
}

/** The job of a callback that is called with a number. */
job job_of_status(cbi::ptr cb, int status);

/** Another job of the same callback, of counted_ops. */
inline job
job_again(const job &j)
{
	static_cast<callback<void> *>(j.callback)->refcount_inc();
	return j;
}

}

#endif
