/* SPDX-License-Identifier: MIT */
/*
 * cache.cc: the answers that the proxy may give again (cache.h).
 */
#include "cache.h"

void
cached::answer_to(bool get, time_t now, strbuf *out) const
{
	*out << head << "Content-Length: " << body.len() << "\r\nAge: " <<
	    (int64_t)max<time_t>(now - made, 0) << "\r\nX-Cache: hit\r\n\r\n";
	if (get)
		*out << body;
}

void
webcache::remove(str key)
{
	ptr<cached> c = table[key];

	if (!c)
		return;
	bytes -= c->cost();
	by_use.remove(c);
	table.remove(key);
}

ptr<cached>
webcache::find(str key, time_t now)
{
	ptr<cached> c = table[key];

	if (!c)
		return NULL;
	if (c->expires <= now) {
		remove(key);
		return NULL;
	}
	by_use.remove(c);
	by_use.insert_tail(c);
	return c;
}

void
webcache::insert(ref<cached> c)
{
	remove(c->key);
	if (c->cost() > bytes_max)
		return;
	while (bytes + c->cost() > bytes_max)
		remove(by_use.first->key);
	table.insert(c->key, c);
	by_use.insert_tail(c);
	bytes += c->cost();
}

void
webcache::sweep(time_t now)
{
	for (cached *c = by_use.first, *next; c != NULL; c = next) {
		next = by_use.next(c);
		if (c->expires <= now)
			remove(c->key);
	}
}

/* ---- what may be cached ---- */

bool
may_be_cached(const request &asked, const message_head &head)
{
	return (asked.method == "GET" || asked.method == "HEAD") &&
	    asked.body.kind == framing::none && !head.get("range") &&
	    !head.get("authorization") && !head.get("if-match") && !head.get("if-none-match") &&
	    !head.get("if-modified-since") && !head.get("if-unmodified-since") &&
	    !head.has("cache-control", "no-cache") && !head.has("cache-control", "no-store") &&
	    !head.has("cache-control", "max-age") && !head.has("pragma", "no-cache");
}

static bool
time_of(const str &text, time_t *when)
{
	struct tm tm = {};

	if (!text || strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm) == NULL)
		return false;
	*when = timegm(&tm);
	return true;
}

int64_t
freshness(const answer &a, const message_head &head, int64_t otherwise)
{
	u_int64_t seconds = 0, age = 0;
	time_t date, expires;
	str text;

	if (a.status != 200 || head.get("set-cookie") || head.get("vary") ||
	    head.has("cache-control", "no-store") || head.has("cache-control", "no-cache") ||
	    head.has("cache-control", "private"))
		return 0;
	if (head.get("age") && !number_of(head.get("age"), 1 << 30, &age))
		return 0;
	if (head.has("cache-control", "s-maxage", &text) ||
	    head.has("cache-control", "max-age", &text)) {
		bool understood = text && number_of(text, 1 << 30, &seconds);
		return understood ? (int64_t)seconds - (int64_t)age : 0;
	}
	if (!head.get("expires"))
		return otherwise;
	if (!time_of(head.get("expires"), &expires))
		return 0;
	return expires - (time_of(head.get("date"), &date) ? date : time(NULL)) - (int64_t)age;
}
