/* SPDX-License-Identifier: MIT */
/*
 * h2_limits.c: what a client may do too often (CVE-2019-9511 to 9518, CVE-2023-44487,
 * CVE-2025-8671).
 *
 * Two counters of ten seconds. One has the resets: those of the client, and those that the server
 * sends because of what the client did, since either makes a request cost work and no answer. The
 * other has the frames that ask for nothing: SETTINGS, PING, PRIORITY, WINDOW_UPDATE, CONTINUATION,
 * empty DATA. What a client receives pays for two of these a frame, so one that downloads at full
 * speed may update its windows as it likes.
 */
#include "base/assertion.h"
#include "h2_session.h"

#define WINDOW_NS (10 * SWS_SECOND_NS)

static void
renew(struct sws_h2 *h2)
{
	if (h2->core->now_ns - h2->window_ns < WINDOW_NS)
		return;
	h2->window_ns = h2->core->now_ns;
	h2->resets = h2->frames = h2->paid = 0;
}

bool
sws_h2_may_frame(struct sws_h2 *h2)
{
	unsigned most;

	renew(h2);
	if (h2->paid > 0) {
		h2->paid--;
		return true;
	}
	most = (unsigned)sws_core_setup(h2->core)->options.http2_frames;
	sws_core_leave_setup(h2->core);
	return ++h2->frames <= most;
}

bool
sws_h2_may_reset(struct sws_h2 *h2)
{
	unsigned most = (unsigned)sws_core_setup(h2->core)->options.http2_resets;

	sws_core_leave_setup(h2->core);
	renew(h2);
	return ++h2->resets <= most;
}
