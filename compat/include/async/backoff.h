/* SPDX-License-Identifier: MIT */
/*
 * backoff.h, dialect "async": queues of requests that are sent again until they are answered.
 *
 *     struct query { tmoq_entry<query> link; void xmit(int); void timeout(); };
 *     tmoq<query, &query::link, 2, 5> queries;
 *
 * start(q) calls q->xmit(0) at once, q->xmit(1) after 2 seconds, q->xmit(2) after 4 more, and so
 * on, up to 5 calls; after one more wait it calls q->timeout(), which may call keeptrying(q). Waits
 * end on full seconds of the clock, so a wait can be up to one second short. The queue does not own
 * its elements. An element leaves the queue by remove, which must be called before the element is
 * destroyed, or by timeout. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_BACKOFF_H
#define MELYCOMPAT_ASYNC_BACKOFF_H

#include "async.h"
#include "list.h"

#pragma GCC system_header

template <class T> struct tmoq_entry {
	tailq_entry<T> link;
	u_int sent;
	time_t due;

	tmoq_entry() : sent(0), due(0) {}
};

template <class T, tmoq_entry<T> T::*field, u_int minto = 2, u_int maxsend = 5> class tmoq {
public:
	tmoq() : _timer(NULL), _when(0)
	{
		for (u_int i = 0; i < maxsend; i++) {
			_first[i] = NULL;
			_plast[i] = &_first[i];
		}
	}
	~tmoq() { timecb_remove(_timer); }

	/** Send an element for the first time; it must not be in a queue. */
	void start(T *elm) { send(elm, 0); }

	/**
	 * Send an element that is in no queue, after which timeout was called, once more: with the
	 * highest number, and with the longest wait until it is called again.
	 */
	void
	keeptrying(T *elm)
	{
		if (link_of(elm).pprev != NULL)
			container_misused("tmoq: keeptrying of an element that is waiting");
		send(elm, maxsend - 1);
	}

	/** Stop sending an element. No effect if it is in no queue. */
	void
	remove(T *elm)
	{
		tailq_entry<T> &link = (elm->*field).link;
		u_int n = (elm->*field).sent;

		if (link.pprev == NULL)
			return;
		*link.pprev = link.next;
		if (link.next != NULL)
			link_of(link.next).pprev = link.pprev;
		else
			_plast[n] = link.pprev;
		link.next = NULL;
		link.pprev = NULL;
	}

private:
	/* By number of transmissions. Elements with equal numbers wait equally long, so each queue
	 * is in the order of the deadlines. */
	T *_first[maxsend];
	T **_plast[maxsend];
	timecb_t *_timer;
	time_t _when;

	tmoq(const tmoq &);
	tmoq &operator=(const tmoq &);

	static tailq_entry<T> &link_of(T *elm) { return (elm->*field).link; }

	/* The clock of the timers; time() can be slightly behind it. */
	static time_t
	now()
	{
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		return ts.tv_sec;
	}

	/* Insert before calling xmit, which may remove and delete the element. */
	void
	send(T *elm, u_int n)
	{
		(elm->*field).sent = n;
		(elm->*field).due = now() + (time_t(minto) << n);
		link_of(elm).next = NULL;
		link_of(elm).pprev = _plast[n];
		*_plast[n] = elm;
		_plast[n] = &link_of(elm).next;
		arm((elm->*field).due);
		elm->xmit(int(n));
	}

	void
	arm(time_t due)
	{
		if (_timer != NULL && _when <= due)
			return;
		timecb_remove(_timer);
		_when = due;
		_timer = timecb(due, wrap(this, &tmoq::expire));
	}

	void
	expire()
	{
		time_t reached = now();

		_timer = NULL;
		for (u_int n = maxsend; n-- > 0;)
			while (_first[n] != NULL && (_first[n]->*field).due <= reached) {
				T *elm = _first[n];

				remove(elm);
				if (n + 1 < maxsend)
					send(elm, n + 1);
				else
					elm->timeout();
			}
		for (u_int n = 0; n < maxsend; n++)
			if (_first[n] != NULL)
				arm((_first[n]->*field).due);
	}
};

#endif
