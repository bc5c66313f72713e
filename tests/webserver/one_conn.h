/* SPDX-License-Identifier: MIT */
/*
 * one_conn.h: for the unit tests of stages, after the stage: a server with one core and one
 * connection, in whose color everything runs.
 */
#ifndef SWS_TEST_ONE_CONN_H
#define SWS_TEST_ONE_CONN_H

#include "../../webserver/conn.h"
#include "../../webserver/core.h"
#include "../../webserver/ended.h"

static struct sws_server server;
static struct sws_site only_site;
static struct sws_setup only_setup = {.sites = &only_site, .sites_count = 1};
static struct sws_core core = {.server = &server, .setup = &only_setup};
static struct sws_core *cores[1] = {&core};
static struct sws_server server = {.cores = cores, .cores_count = 1};
static struct sws_conn conn;

/* What the stage has called for. */
static struct mely_handler *next_stage;
static int closed;

int
mely_current_core(void)
{
	return 0;
}

struct mely_color *
mely_current_color(void)
{
	return &conn.color;
}

void
sws_core_date(struct sws_core *c)
{
	c->date_until_ns = UINT64_MAX;
}

void
sws_conn_close(struct sws_conn *c)
{
	c->state = SWS_CONN_CLOSED;
	closed++;
}

void
sws_answer_see(struct sws_core *c, const struct sws_answer *a, const struct sws_end *end)
{
	assert_true(c->sees && a->page != NULL && end->conn == &conn);
}

static inline void
free_bursts(void)
{
	while (core.bursts != NULL)
		free(sws_burst_get(&core));
}

#endif
