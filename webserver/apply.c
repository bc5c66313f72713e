/* SPDX-License-Identifier: MIT */
/*
 * apply.c: what the conditions and the range of a request make of its answer (RFC 9110, 13 and
 * 14): the whole page, a part of it, 304, 412 or 416.
 */
#include "base/assertion.h"
#include "http/cond.h"
#include "http/date.h"
#include "http/range.h"
#include "apply.h"
#include "multipart.h"

/* What the conditions are about. */
struct question {
	const struct http_request *req;
	const char *head;
	const struct sws_page *page;
	int64_t now_s;
};

typedef bool (*listed_fn)(const char *list, size_t len, const char *etag, size_t etag_len);

/* Is the tag of the page in a list, which may come in several lines? */
static bool
is_listed(const struct question *q, enum http_field field, listed_fn listed)
{
	const char *etag = q->page->head + q->page->etag_at;
	struct http_span value = q->req->field[field];
	size_t at = 0;

	SWS_DEBUG_ASSERT(q->page->etag_at + q->page->etag_len < q->page->head_len);
	if (!(q->req->many >> field & 1))
		return listed(q->head + value.at, value.len, etag, q->page->etag_len);
	while (http_next_line(q->head, field, &at, &value))
		if (listed(q->head + value.at, value.len, etag, q->page->etag_len))
			return true;
	return false;
}

/* The date of a field. False: there is none. */
static bool
date_of(const struct question *q, enum http_field field, int64_t *seconds)
{
	struct http_span value = q->req->field[field];

	return !(q->req->many >> field & 1)
	    && http_date_parse(q->head + value.at, value.len, q->now_s, seconds);
}

/* Is this the date of the page, and of no other version of the file? */
static bool
is_same_date(const struct question *q, enum http_field field)
{
	int64_t since;

	return q->page->dated && date_of(q, field, &since) && q->page->modified_s == since;
}

/* RFC 9110, 13.2.2: If-Unmodified-Since counts only without If-Match. */
static bool
has_failed(const struct question *q)
{
	int64_t since;

	if (http_has(q->req, HTTP_IF_MATCH))
		return !is_listed(q, HTTP_IF_MATCH, http_etag_listed_strong);
	return http_has(q->req, HTTP_IF_UNMODIFIED_SINCE)
	    && date_of(q, HTTP_IF_UNMODIFIED_SINCE, &since) && q->page->modified_s > since;
}

/* ... and If-Modified-Since only without If-None-Match. */
static bool
is_not_modified(const struct question *q)
{
	if (http_has(q->req, HTTP_IF_NONE_MATCH))
		return is_listed(q, HTTP_IF_NONE_MATCH, http_etag_listed);
	/* An older file may have replaced a newer one, so an earlier date than the client's is a
	 * change, too (RFC 9110, 13.1.3, allows both). */
	return http_has(q->req, HTTP_IF_MODIFIED_SINCE) && is_same_date(q, HTTP_IF_MODIFIED_SINCE);
}

/* If-Range: is the part that is asked for of the version that the client has? */
static bool
has_same_version(const struct question *q)
{
	struct http_span value = q->req->field[HTTP_IF_RANGE];

	if (!http_has(q->req, HTTP_IF_RANGE))
		return true;
	if (q->req->many >> HTTP_IF_RANGE & 1)
		return false;
	if (value.len > 0 && q->head[value.at] == '"')
		return is_listed(q, HTTP_IF_RANGE, http_etag_listed_strong);
	return is_same_date(q, HTTP_IF_RANGE);
}

static enum http_range
range_of(const struct question *q, struct http_ranges *ranges)
{
	struct http_span value = q->req->field[HTTP_RANGE];

	/* Only GET has ranges. */
	if (!http_has(q->req, HTTP_RANGE) || q->req->method != HTTP_GET
	    || q->req->many >> HTTP_RANGE & 1 || !has_same_version(q))
		return HTTP_RANGE_NONE;
	return http_range_parse(q->head + value.at, value.len, q->page->file_size, ranges);
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* The answer becomes another page, whose reference it takes over. */
static void
become(struct sws_answer *a, struct sws_page *page, int core)
{
	uint8_t flags = a->flags;

	sws_answer_release(a, core);
	*a = sws_answer_of(page, flags);
}

static int
become_unsatisfiable(struct sws_answer *a, int core)
{
	struct sws_page *page;

	if (sws_page_unsatisfiable(&page, a->page->file_size) != 0) {
		sws_answer_release(a, core);
		return -503;
	}
	become(a, page, core);
	return 0;
}

static int
apply_range(struct sws_core *core, const struct question *q, struct sws_answer *a)
{
	struct http_ranges ranges;

	switch (range_of(q, &ranges)) {
	case HTTP_RANGE_ONE:
		a->flags |= SWS_PARTIAL;
		a->from = ranges.part[0].from;
		a->to = ranges.part[0].to;
		return 0;
	case HTTP_RANGE_MANY:
		/* Without memory for the parts, the whole: a server may ignore a range. */
		(void)sws_answer_parts(a, &ranges);
		return 0;
	case HTTP_RANGE_UNSATISFIABLE:
		return become_unsatisfiable(a, core->number);
	default:
		return 0;
	}
}

static int
apply(struct sws_core *core, const struct question *q, struct sws_answer *a)
{
	struct sws_page *failed;

	if (has_failed(q)) {
		failed = sws_site_error(sws_setup_site(sws_core_setup(core), q->req, q->head), 412);
		sws_page_ref(failed);
		become(a, failed, core->number);
		return 0;
	}
	if (is_not_modified(q)) {
		a->flags |= SWS_NOT_MODIFIED;
		return 0;
	}
	return apply_range(core, q, a);
}

int
sws_answer_complete(struct sws_core *core, const struct http_request *req, const char *head,
    struct sws_answer *a)
{
	/* The fields that this file knows. */
	const unsigned any = 1u << HTTP_IF_MATCH | 1u << HTTP_IF_NONE_MATCH
	    | 1u << HTTP_IF_MODIFIED_SINCE | 1u << HTTP_IF_UNMODIFIED_SINCE | 1u << HTTP_RANGE;
	int status = 0;

	a->from = 0;
	a->sent = 0;
	a->to = a->fd != SWS_FD_NONE ? a->page->file_size : a->page->body_len;
	/* Errors and redirections have no validators. */
	if (__builtin_expect((req->present & any) != 0, 0)
	    && a->page->validators_at != 0 && a->page->status == 200) {
		struct question q = {req, head, a->page, core->date_s};

		status = apply(core, &q, a);
	}
	if (status == 0 && a->fd != SWS_FD_NONE
	    && (a->flags & (SWS_HEAD_ONLY | SWS_NOT_MODIFIED)))
		sws_answer_close(a, core->number);
	return status;
}
