/* SPDX-License-Identifier: MIT */
/*
 * ended.c: the answers that end elsewhere than in the fast path of write.c.
 */
#include "ended.h"

void
sws_answer_end(struct sws_core *core, struct sws_answer *a, const struct sws_end *end)
{
	SWS_ASSERT(end->conn != NULL);
	sws_answer_count(core, a, end->req != NULL ? end->req->method : HTTP_UNKNOWN,
	    end->head_sent + end->body_sent);
	if (!end->complete)
		sws_count(&core->counters.aborted, 1);
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
		sws_answer_release(a, here);
		burst->out_at = 0;
	}
	sws_burst_drop_rest(burst);
}
