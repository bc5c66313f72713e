/* SPDX-License-Identifier: MIT */
/*
 * pace.c: a connection takes bytes from each bucket that concerns it before it sends them, at most
 * a twentieth of a second's at once, and a timer brings it back when the last bucket lets it send.
 * So nothing blocks, nothing spins, and connections that share a bucket take turns. What it has
 * taken and not sent, since the client did not take it, it keeps until its answers are sent.
 */
#include "base/assertion.h"
#include "base/policy.h"
#include "pace.h"

/* Most bytes taken at once. */
#define MOST (256 << 10)
#define TURNS_S 20
/* A wait that is shorter than this is left out, and the next one is longer. */
#define SLACK_NS UINT64_C(1000000)
/* About as long as a head. */
#define HEAD 300

static void resume_fn(void *arg);

static struct mely_handler resume_handler = SWS_WRITE_RESPONSE(resume_fn);

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What is taken at once: of the bucket with the lowest rate, as much as a turn's time gives. */
static uint64_t
turn_of(const struct sws_options *o, bool has_address)
{
	uint64_t rate = o->rate > 0 ? o->rate : UINT64_MAX, n;

	if (o->rate_connection > 0)
		rate = smaller(rate, o->rate_connection);
	if (o->rate_address > 0 && has_address)
		rate = smaller(rate, o->rate_address);
	n = smaller(rate / TURNS_S, MOST);
	return n > 0 ? n : 1;
}

/* About how much the unsent answers have, up to a limit. */
static uint64_t
unsent(const struct sws_burst *burst, uint64_t limit)
{
	uint64_t n = 0;

	for (unsigned i = burst->out; i < burst->count && n < limit; i++) {
		const struct sws_answer *a = &burst->answers[i];

		n += HEAD;
		if (a->fd == SWS_FD_STREAM)
			n = limit;
		else if (!(a->flags & (SWS_HEAD_ONLY | SWS_NOT_MODIFIED)))
			n += smaller(a->to - a->from, limit);
	}
	return smaller(n, limit);
}

/* Take bytes from each bucket. When they may be sent. */
static uint64_t
take(struct sws_conn *conn, const struct sws_options *o, uint64_t bytes, uint64_t now)
{
	struct sws_origin *origin = conn->peer.origin;
	uint64_t from = 0;

	if (o->rate_connection > 0)
		from = sws_bucket_take(&conn->pace.bucket, o->rate_connection, bytes, now);
	if (o->rate_address > 0 && origin != NULL)
		from = later(from, sws_bucket_take(&origin->bucket, o->rate_address, bytes, now));
	if (o->rate > 0)
		from = later(from, sws_bucket_take(&conn->server->bucket, o->rate, bytes, now));
	return from;
}

/* Give back what will not be sent. */
static void
give_back(struct sws_conn *conn, struct sws_core *core)
{
	const struct sws_options *o = &sws_core_setup(core)->options;
	struct sws_origin *origin = conn->peer.origin;

	if (o->rate_connection > 0)
		sws_bucket_return(&conn->pace.bucket, o->rate_connection, conn->pace.credit);
	if (o->rate_address > 0 && origin != NULL)
		sws_bucket_return(&origin->bucket, o->rate_address, conn->pace.credit);
	if (o->rate > 0)
		sws_bucket_return(&conn->server->bucket, o->rate, conn->pace.credit);
	conn->pace.credit = 0;
	sws_core_leave_setup(core);
}

/* Come back when the bytes may be sent. */
static void
wait(struct sws_conn *conn, uint64_t now, struct mely_handler *stage)
{
	uint64_t from = conn->pace.from_ns;

	SWS_ASSERT(conn->pace.timer == 0 && from > now);
	conn->pace.stage = stage;
	/* How slow the client is counts from then on. */
	conn->sent_before = conn->sent;
	conn->blocked_ns = from;
	conn->state = SWS_CONN_BUSY;
	if (mely_timer_start(&conn->color, from - now, 0, 0, &resume_handler, conn,
	    &conn->pace.timer) != 0)
		sws_conn_close(conn);
}

static void
resume_fn(void *arg)
{
	struct sws_conn *conn = arg;

	SWS_ASSERT(mely_current_color() == &conn->color && conn->state == SWS_CONN_BUSY);
	conn->pace.timer = 0;
	conn->pace.stage->fn(conn);
}

bool
sws_pace_begin_slow(struct sws_conn *conn, struct sws_core *core)
{
	const struct sws_options *o = &sws_core_setup(core)->options;
	struct sws_pace *pace = &conn->pace;
	uint64_t now = mely_now_ns();

	if (pace->credit == 0) {
		pace->credit = unsent(conn->burst, turn_of(o, conn->peer.origin != NULL));
		/* Nothing: only what the transport holds is left. */
		pace->from_ns = pace->credit > 0 ? take(conn, o, pace->credit, now) : now;
	}
	sws_core_leave_setup(core);
	if (pace->from_ns > now + SLACK_NS) {
		wait(conn, now, &sws_write_response);
		return false;
	}
	core->room = pace->credit;
	return true;
}

void
sws_pace_end_slow(struct sws_conn *conn, struct sws_core *core)
{
	SWS_ASSERT(core->room <= conn->pace.credit);
	conn->pace.credit = core->room;
	if (conn->burst->out == conn->burst->count)
		give_back(conn, core);
}

bool
sws_pace_turn_slow(struct sws_conn *conn, struct sws_core *core, struct mely_handler *stage)
{
	const struct sws_options *o = &sws_core_setup(core)->options;
	struct sws_origin *origin = conn->peer.origin;
	uint64_t now = mely_now_ns(), from = 0;

	if (o->rate_connection > 0)
		from = sws_bucket_when(&conn->pace.bucket);
	if (o->rate_address > 0 && origin != NULL)
		from = later(from, sws_bucket_when(&origin->bucket));
	if (o->rate > 0)
		from = later(from, sws_bucket_when(&conn->server->bucket));
	core->room = turn_of(o, origin != NULL);
	sws_core_leave_setup(core);
	conn->pace.from_ns = from;
	if (from <= now + SLACK_NS)
		return true;
	wait(conn, now, stage);
	return false;
}

void
sws_pace_charge_slow(struct sws_conn *conn, struct sws_core *core, uint64_t sent)
{
	(void)take(conn, &sws_core_setup(core)->options, sent, mely_now_ns());
	sws_core_leave_setup(core);
}

void
sws_pace_stop(struct sws_conn *conn)
{
	if (conn->pace.timer != 0)
		mely_watch_stop(conn->server->rt, conn->pace.timer, NULL, NULL);
	conn->pace.timer = 0;
	if (conn->pace.credit > 0)
		give_back(conn, sws_core_here(conn->server));
}
