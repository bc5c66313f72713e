/* SPDX-License-Identifier: MIT */
/*
 * ended.h: where every answer ends, sent or given up, and where it is counted. What an answer was
 * about is known here for the last time: the request's bytes, its page, how much was sent. On the
 * core that sends it, in the connection's color.
 */
#ifndef SWS_ENDED_H
#define SWS_ENDED_H

#include "burst.h"
#include "core.h"
#include "net/transport.h"

/** The end of an answer. */
struct sws_end {
	const struct sws_conn *conn;
	const struct http_request *req; /* NULL: the input was no request */
	const char *head;               /* of the request, or that input; NULL: it was not kept */
	size_t head_room;               /* bytes there */
	const char *protocol;           /* NULL: as its request line says */
	uint64_t since_ns;              /* when the first byte of the request had arrived */
	uint64_t head_sent, body_sent;  /* bytes */
	bool complete;                  /* all is sent, as far as the server knows */
};

/** The status that the client sees. */
static inline unsigned
sws_answer_status(const struct sws_answer *a)
{
	return a->flags & SWS_NOT_MODIFIED ? 304 : a->flags & SWS_PARTIAL ? 206 : a->page->status;
}

/** Count an answer of which `sent` bytes are sent. */
static inline void
sws_answer_count(struct sws_core *core, const struct sws_answer *a, unsigned method, uint64_t sent)
{
	unsigned class = sws_answer_status(a) / 100;

	if (SWS_UNLIKELY(a->flags & SWS_INSIDE)) {
		sws_count(&core->counters.inside, 1);
		return;
	}

	SWS_DEBUG_ASSERT(class < SWS_COUNTED_CLASSES);
	if (method >= SWS_COUNTED_METHODS)
		method = SWS_COUNTED_METHODS - 1;
	sws_count(&core->counters.answers[method][class], 1);
	sws_count(&core->counters.sent_bytes, sent);
}

/** The method of request number i of a burst, whose last answer may be to no request. */
static inline unsigned
sws_burst_method(const struct sws_burst *burst, unsigned i)
{
	return burst->bad != 0 && i + 1 == burst->count ? HTTP_UNKNOWN
	    : burst->asked[i].request.method;
}

/** Note an answer in the log, and how long it took, before it is released; seen.c. */
void sws_answer_see(struct sws_core *core, const struct sws_answer *a, const struct sws_end *end);
/** The same for answer number out of the burst. */
void sws_burst_see(const struct sws_burst *burst, struct sws_core *core, bool complete);

/** The answer is over: count and release it. For answers that are in no burst. */
void sws_answer_end(struct sws_core *core, struct sws_answer *a, const struct sws_end *end);

/**
 * Answer number out of the burst is sent: a->len bytes of its head and of what follows in memory,
 * and a->sent bytes that came from elsewhere.
 */
static inline void
sws_burst_end_answer(struct sws_burst *burst, struct sws_core *core)
{
	struct sws_answer *a = &burst->answers[burst->out];

	sws_answer_count(core, a, sws_burst_method(burst, burst->out), a->len + a->sent);
	if (SWS_UNLIKELY(core->sees))
		sws_burst_see(burst, core, true);
	sws_answer_release(a, core->number);
	burst->out++;
}

/** Give up the answers of a burst that are not sent. here: the current core, -1: nothing runs. */
void sws_burst_give_up(struct sws_burst *burst, struct sws_core *core, int here);

#endif
