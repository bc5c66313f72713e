/* SPDX-License-Identifier: MIT */
/*
 * ended.c: the answers that end elsewhere than in the fast path of write.c.
 */
#include "conn.h"
#include "ended.h"

void
sws_burst_see(const struct sws_burst *burst, struct sws_core *core, bool complete)
{
	const struct sws_answer *a = &burst->answers[burst->out];
	const struct sws_asked *asked = &burst->asked[burst->out];
	bool bad = burst->bad != 0 && burst->out + 1 == burst->count;
	/* What is not a request has not been consumed. */
	size_t base = bad ? burst->in_at : asked->base;
	uint32_t sent = complete ? a->len : burst->out_at;
	const struct sws_end end = {
		.conn = burst->asker.conn,
		.req = bad ? NULL : &asked->request,
		.head = burst->in + base,
		.head_room = burst->in_len - base,
		.since_ns = burst->asker.conn->head_ns,
		.head_sent = sent < a->head_len ? sent : a->head_len,
		.body_sent = (sent > a->head_len ? sent - a->head_len : 0)
		    + (sent > 0 ? a->sent : 0),
		.complete = complete
	};

	SWS_ASSERT(burst->out < burst->checked && base <= burst->in_len);
	sws_answer_see(core, a, &end);
}

void
sws_answer_end(struct sws_core *core, struct sws_answer *a, const struct sws_end *end)
{
	SWS_ASSERT(end->conn != NULL);
	sws_answer_count(core, a, end->req != NULL ? end->req->method : HTTP_UNKNOWN,
	    end->head_sent + end->body_sent);
	if (!end->complete)
		sws_count(&core->counters.aborted, 1);
	if (core->sees)
		sws_answer_see(core, a, end);
	sws_answer_release(a, core->number);
}

void
sws_burst_give_up(struct sws_burst *burst, struct sws_core *core, int here)
{
	SWS_ASSERT(burst->out <= burst->checked && burst->checked <= SWS_BURST_MAX + 1);
	for (; burst->out < burst->checked; burst->out++) {
		struct sws_answer *a = &burst->answers[burst->out];

		/* Of all but the first of them nothing is sent. */
		sws_answer_count(core, a, sws_burst_method(burst, burst->out),
		    burst->out_at > 0 ? burst->out_at + a->sent : 0);
		sws_count(&core->counters.aborted, 1);
		if (core->sees)
			sws_burst_see(burst, core, false);
		sws_answer_release(a, here);
		burst->out_at = 0;
	}
	sws_burst_drop_rest(burst);
}
