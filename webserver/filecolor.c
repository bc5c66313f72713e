/* SPDX-License-Identifier: MIT */
/*
 * filecolor.c: CheckInCache in the color of a file, with --coloring file.
 */
#include "base/assertion.h"
#include "base/policy.h"
#include "conn.h"
#include "stages.h"

static void check_file_fn(void *arg);

static struct mely_handler check_file = SWS_CHECK_IN_CACHE(check_file_fn);

/*
 * Until the next stage begins, the connection is busy: its own color only notes what its watchers
 * report. So this touches the burst, and nothing else of it; and nothing at all once a helper may
 * have begun.
 */
static void
check_file_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_core *core = sws_core_here(conn->server);
	struct mely_handler *next;
	int status;

	SWS_DEBUG_ASSERT(mely_current_color() != &conn->color);
	sws_burst_assert(conn->burst);
	sws_core_tick(core);
	next = sws_check_all(conn, core);
	sws_core_leave_setup(core);
	if (next == NULL)
		return;
	/* CheckInCache finds nothing left to do: how to go on is the connection's. */
	mely_event_init(&conn->event, next == &sws_write_response ? &sws_check_in_cache : next,
	    conn);
	status = mely_event_post(&conn->color, &conn->event);
	SWS_ASSERT(status == 0);
}

static void
check_in_file_color(struct sws_conn *conn)
{
	const struct sws_asked *asked = &conn->burst->asked[conn->burst->checked];
	struct sws_path path = {conn->burst->in + asked->base + asked->request.path.at,
		asked->request.path.len, 0, 0};
	struct sws_core *core = sws_core_here(conn->server);
	struct mely_color *color;

	sws_site_hash(&sws_core_setup(core)->sites[0], &path);
	sws_core_leave_setup(core);
	if (mely_color_of_id(conn->server->rt, SWS_FILE_COLOR(path.hash), &color) != 0) {
		sws_conn_stage(conn, &sws_check_in_cache);
		return;
	}
	conn->state = SWS_CONN_BUSY;
	mely_event_init(&conn->event, &check_file, conn);
	if (mely_event_post(color, &conn->event) != 0)
		sws_conn_stage(conn, &sws_check_in_cache);
}

void
sws_conn_check(struct sws_conn *conn)
{
	if (__builtin_expect(conn->server->coloring == SWS_COLORING_FILE, 0))
		check_in_file_color(conn);
	else
		sws_conn_stage(conn, &sws_check_in_cache);
}
