/* SPDX-License-Identifier: MIT */
/*
 * worth.c: the heuristics of stealing. The worth of a color stays exact through posts, heads,
 * cancels, steals, runs and discards, whatever switches change meanwhile; thieves choose by the
 * heuristics that are on and by nothing else; the counters add up.
 */
#include "test.h"

enum {
	COLORS = 24,
	ALL = MELY_STEAL_TIME_LEFT | MELY_STEAL_PENALTY | MELY_STEAL_LOCALITY | MELY_STEAL_MEASURE |
	    MELY_STEAL_LEARN,
	SIXTEENTHS = 16 /* weights are counted in sixteenths of a nanosecond */
};

static struct mely_runtime *rt;
static struct mely_color *colors[COLORS];
static _Atomic uint64_t ran;

static uint64_t
weight(const struct mely_color *color)
{
	return color->_u._worth._time_left;
}

static void
make(struct mely_config *config)
{
	int i;

	atomic_store(&ran, 0);
	rt = test_runtime_with(config);
	for (i = 0; i < COLORS; i++)
		colors[i] = test_color_on(rt, 0);
}

static void
unmake(void)
{
	struct mely_counters c = test_counters(rt);
	uint64_t at = 0;
	int i;

	for (i = 0; i < MELY_DISTANCES; i++)
		at += c.steals_at[i];
	TEST_EQ(at, c.steals);
	TEST_EQ(c.steals_tried, c.steals + c.steals_empty);
	TEST_CHECK(c.balance_steals <= c.steals);
	TEST_CHECK((c.lock_waits == 0) <= (c.lock_wait_ns == 0));
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < COLORS; i++)
		free(colors[i]);
}

/* ---- exactness ------------------------------------------------------------------------------ */

static void
on_nothing(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler plain = MELY_HANDLER_WITH(on_nothing, 100, 0, 0);
static struct mely_handler dear = MELY_HANDLER_WITH(on_nothing, 1000, 10, 0);
static struct mely_handler unknown = MELY_HANDLER(on_nothing);

/* Posts held until the run: their sum is known exactly. */
static void
sums(void)
{
	struct mely_event mine = MELY_EVENT(&dear, NULL), timed = MELY_EVENT(&plain, NULL);
	struct mely_config config;

	test_config(&config, 2);
	make(&config);
	TEST_OK(mely_post(colors[0], &plain, NULL));
	TEST_EQ(weight(colors[0]), 100 * SIXTEENTHS);
	TEST_OK(mely_post_head(colors[0], &dear, NULL));
	TEST_EQ(weight(colors[0]), 200 * SIXTEENTHS);
	TEST_OK(mely_event_post(colors[0], &mine));
	TEST_EQ(weight(colors[0]), 300 * SIXTEENTHS);
	mely_event_set_time(&mine, 12345); /* no effect on a queued one: cancelled below */
	mely_event_set_time(&timed, 70);
	TEST_OK(mely_event_post_head(colors[0], &timed));
	TEST_EQ(weight(colors[0]), 370 * SIXTEENTHS);
	TEST_OK(mely_post_timed(colors[0], &dear, NULL, 40));
	TEST_EQ(weight(colors[0]), 374 * SIXTEENTHS);
	/* Events posted before a switch keep their weight; later ones get the new weight. */
	TEST_OK(mely_set_stealing(rt, MELY_STEAL_ON | MELY_STEAL_TIME_LEFT));
	TEST_OK(mely_post(colors[0], &dear, NULL));
	TEST_EQ(weight(colors[0]), 1374 * SIXTEENTHS);
	TEST_OK(mely_set_stealing(rt, MELY_STEAL_ON));
	TEST_OK(mely_post(colors[0], &dear, NULL));
	TEST_EQ(weight(colors[0]), 1374 * SIXTEENTHS);
	TEST_OK(mely_event_cancel(&mine, NULL, NULL));
	TEST_EQ(weight(colors[0]), 1274 * SIXTEENTHS);
	TEST_OK(mely_event_cancel(&timed, NULL, NULL));
	TEST_EQ(weight(colors[0]), 1204 * SIXTEENTHS);
	/* A cancelled event is posted again with its own time. */
	TEST_OK(mely_set_stealing(rt, MELY_STEAL_ALL));
	TEST_OK(mely_event_post(colors[0], &timed));
	TEST_EQ(weight(colors[0]), 1274 * SIXTEENTHS);
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 6);
	TEST_EQ(weight(colors[0]), 0);
	unmake();
}

static void
discarded(void)
{
	struct mely_config config;
	int i;

	test_config(&config, 2);
	make(&config);
	for (i = 0; i < COLORS; i++)
		TEST_OK(mely_post(colors[i], i % 2 ? &dear : &unknown, NULL));
	TEST_CHECK(weight(colors[1]) > 0);
	TEST_OK(mely_post_head(colors[0], &test_discard_handler, NULL));
	TEST_OK(mely_run(rt));
	for (i = 0; i < COLORS; i++)
		TEST_EQ(weight(colors[i]), 0);
	unmake();
}

/* One color's share of the mix: its own events, embedded and not, that post, cancel and switch. */
struct player {
	struct mely_color *color;
	struct mely_event event, timed;
	uint64_t seed;
	int left;
};

static struct player players[COLORS];

static void on_play(void *arg);
static struct mely_handler play = MELY_HANDLER(on_play);
static struct mely_handler play_dear = MELY_HANDLER_WITH(on_play, 5000, 3, 0);

static void
on_play(void *arg)
{
	struct player *p = arg, *other;
	int k;

	test_add(&ran, 1);
	for (k = 0; k < 3 && p->left > 0; k++, p->left--) {
		uint64_t r = test_random(&p->seed);

		other = &players[r % COLORS];
		switch (r >> 32 & 7) {
		case 0:
			TEST_OK(mely_post(other->color, &plain, NULL));
			break;
		case 1:
			TEST_OK(mely_post_head(other->color, &unknown, NULL));
			break;
		case 2:
			TEST_OK(mely_post_timed(other->color, &dear, NULL, (uint32_t)r));
			break;
		case 3:
			(void)mely_event_post(p->color, &p->event);
			(void)mely_event_post(p->color, &p->timed);
			break;
		case 4:
			(void)mely_event_cancel(&other->event, NULL, NULL);
			(void)mely_event_cancel(&p->timed, NULL, NULL);
			break;
		case 5:
			TEST_OK(mely_set_stealing(rt, MELY_STEAL_ON | ((unsigned)(r >> 40) & ALL)));
			break;
		case 6:
			(void)mely_event_post_head(p->color, &other->event);
			break;
		default:
			test_spin_ns(r >> 50);
			break;
		}
	}
	if (p->left > 0)
		TEST_OK(mely_post(p->color, p->left % 2 ? &play : &play_dear, p));
}

static void
mixed_on(int cores, uint32_t batch)
{
	struct mely_config config;
	int i;

	test_config(&config, cores);
	config.batch_events = batch;
	make(&config);
	for (i = 0; i < COLORS; i++) {
		struct player *p = &players[i];

		p->color = colors[i];
		p->seed = test_seed + (uint64_t)i;
		p->left = (int)test_scale(3000);
		mely_event_init(&p->event, i % 3 ? &unknown : &dear, NULL);
		mely_event_init(&p->timed, &dear, NULL);
		mely_event_set_time(&p->timed, 1000u << i);
		TEST_OK(mely_post(p->color, &play, p));
	}
	test_run_dry(rt);
	for (i = 0; i < COLORS; i++) {
		TEST_EQ(weight(colors[i]), 0);
		TEST_EQ(colors[i]->_u._worth._steal_slot, 0);
	}
	unmake();
}

static void
mixed(void)
{
	mixed_on(1, 10);
	mixed_on(2, 10);
	mixed_on(4, 1);
	mixed_on(8, 3);
}

/* ---- which color goes ----------------------------------------------------------------------- */

static struct mely_color *stolen[COLORS];

static void
on_stolen(void *arg)
{
	stolen[atomic_load(&ran)] = arg; /* one thief: one after another */
	test_add(&ran, 1);
}

/* Until all other colors have run elsewhere. */
static void
on_stuck(void *arg)
{
	(void)arg;
	test_await(&ran, COLORS - 1);
}

static struct mely_handler stuck = MELY_HANDLER(on_stuck);
static struct mely_handler small = MELY_HANDLER_WITH(on_stolen, 1, 1, 0);
static struct mely_handler big = MELY_HANDLER_WITH(on_stolen, 1000000, 1, 0);
static struct mely_handler burdened = MELY_HANDLER_WITH(on_stolen, 1000000, 1000000, 0);

/* A stuck core with 23 other colors, and one thief: in which order does it steal them? Colors 1, 4,
 * ... have a small event, 2, 5, ... one with a penalty, 3, 6, ... a big one. */
static void
rob(unsigned heuristics)
{
	static struct mely_handler *const kinds[] = {&big, &small, &burdened};
	struct mely_counters counters;
	struct mely_config config;
	int i;

	test_config(&config, 2);
	config.balance = 0;
	config.stuck_ms = 0; /* which takes any color */
	make(&config);
	TEST_OK(mely_set_stealing(rt, MELY_STEAL_ON | heuristics));
	TEST_OK(mely_color_pin(colors[0], 0));
	TEST_OK(mely_post(colors[0], &stuck, NULL));
	for (i = 1; i < COLORS; i++)
		TEST_OK(mely_post(colors[i], kinds[i % 3], colors[i]));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), COLORS - 1);
	/* These, and possibly the event that stops the runtime. */
	counters = test_counters(rt);
	TEST_CHECK(counters.steals == COLORS - 1 || counters.steals == COLORS);
	TEST_EQ(counters.stolen_events, counters.steals);
}

/* The kind of the k-th stolen color: its number modulo 3. */
static int
kind(int k)
{
	int i;

	for (i = 1; i < COLORS && colors[i] != stolen[k]; i++)
		;
	return i % 3;
}

static void
first_come_when_off(void)
{
	int k;

	rob(0);
	for (k = 0; k < COLORS - 1; k++)
		TEST_CHECK(stolen[k] == colors[k + 1]);
	unmake();
}

/* Big colors and those with a penalty before small ones. */
static void
time_left(void)
{
	int k;

	rob(MELY_STEAL_TIME_LEFT);
	for (k = 0; k < COLORS - 1; k++)
		TEST_EQ(kind(k) == 1, k >= 15);
	unmake();
}

/* Big colors before small ones and those with a penalty, with and without the price of a steal. */
static void
penalties(void)
{
	int k;

	rob(MELY_STEAL_PENALTY);
	for (k = 0; k < COLORS - 1; k++)
		TEST_EQ(kind(k) == 0, k < 7);
	unmake();
	rob(ALL);
	for (k = 0; k < COLORS - 1; k++)
		TEST_EQ(kind(k) == 0, k < 7);
	unmake();
}

static void
bad_bits(void)
{
	struct mely_config config;

	test_config(&config, 2);
	make(&config);
	TEST_EQ(mely_set_stealing(rt, MELY_STEAL_ALL + 1), -EINVAL);
	TEST_OK(mely_set_stealing(rt, MELY_STEAL_ALL));
	unmake();
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(sums);
	TEST_CASE(discarded);
	TEST_CASE(mixed);
	TEST_CASE(first_come_when_off);
	TEST_CASE(time_left);
	TEST_CASE(penalties);
	TEST_CASE(bad_bits);
	return test_done();
}
