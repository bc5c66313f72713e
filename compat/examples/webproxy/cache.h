/* SPDX-License-Identifier: MIT */
/*
 * cache.h: the answers that the proxy may give again: which ones, and for how long. The cache is
 * bounded and drops the least recently used answer first.
 */
#ifndef EXAMPLES_CACHE_H
#define EXAMPLES_CACHE_H

#include "http.h"
#include "list.h"
#include "qhash.h"

/* An answer. It does not change once it is in the cache, so every color may read it; only the cache
 * uses link. */
struct cached {
	const str key, head, body;
	const time_t made, expires;
	tailq_entry<cached> link;

	cached(const str &k, const str &h, const str &b, time_t m, time_t e)
	    : key(k), head(h), body(b), made(m), expires(e) {}

	size_t cost() const { return key.len() + head.len() + body.len() + sizeof *this; }

	/* The whole answer; without the body for HEAD. */
	void answer_to(bool get, time_t now, strbuf *out) const;
};

class webcache
{
public:
	webcache(size_t most) : bytes(0), bytes_max(most) {}

	/* Null if the cache does not have a fresh answer. */
	ptr<cached> find(str key, time_t now);
	void insert(ref<cached> c);
	void remove(str key);
	/* Remove the answers that are no longer fresh. */
	void sweep(time_t now);

private:
	size_t bytes;
	const size_t bytes_max;
	qhash<str, ref<cached> > table;
	tailq<cached, &cached::link> by_use;
};

/* May an answer to this request come from the cache, and go into it? */
bool may_be_cached(const request &asked, const message_head &head);

/* The number of seconds for which an answer is fresh; `otherwise`, if it does not say. */
int64_t freshness(const answer &a, const message_head &head, int64_t otherwise);

#endif
