/* SPDX-License-Identifier: MIT */
/*
 * backoff.h, dialect "async": queues of what is sent again until it is answered.
 *
 *     struct query { tmoq_entry<query> link; void xmit(int); void timeout(); };
 *     tmoq<query, &query::link, 2, 5> queries;
 *
 * start(q) calls q->xmit(0) at once; after 2 seconds comes q->xmit(1), after 4 more q->xmit(2), and
 * so on up to 5 calls; after the wait of the last one q->timeout(). Waits end with a second of the
 * clock, and so can be short by less than one. The queue does not own its elements; an element
 * leaves by remove, before it dies, or by timeout. Color 0.
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

	/** Send an element, which is in no queue, for the first time. */
	void start(T *elm) { send(elm, 0); }

	/** Do not send an element any more. One that is in no queue stays so. */
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
	/* Those sent n + 1 times, which all wait equally long: in the order of their ends. */
	T *_first[maxsend];
	T **_plast[maxsend];
	timecb_t *_timer;
	time_t _when;

	tmoq(const tmoq &);
	tmoq &operator=(const tmoq &);

	static tailq_entry<T> &link_of(T *elm) { return (elm->*field).link; }

	/* The clock of the timers; that of time() can be a little behind it. */
	static time_t
	now()
	{
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		return ts.tv_sec;
	}

	/* In the queue before xmit, which may take it out and delete it. */
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
