/* SPDX-License-Identifier: MIT */
/*
 * embedded.c: events and colors in the program's structs. An event is the caller's again when its
 * handler is entered; of two posts of one event one wins; the release function of a color object
 * runs once, after its last event, and may free the object.
 */
#include "test.h"

static struct mely_runtime *rt;

/* ---- events --------------------------------------------------------------------------------- */

struct item {
	struct mely_event ev;
	struct mely_color *color;
	uint64_t left; /* plain: of the color */
	_Atomic uint64_t ran;
};

static void
on_self_repost(void *arg)
{
	struct item *item = arg;

	TEST_CHECK(!mely_event_pending(&item->ev));
	test_add(&item->ran, 1);
	if (--item->left > 0) {
		TEST_OK(item->left % 2 ? mely_event_post(item->color, &item->ev)
		    : mely_event_post_head(item->color, &item->ev));
		TEST_EQ(mely_event_post(item->color, &item->ev), -EALREADY);
		TEST_EQ(mely_event_post_head(item->color, &item->ev), -EALREADY);
		TEST_CHECK(mely_event_pending(&item->ev));
	}
}

static void
on_self_free(void *arg)
{
	struct item *item = arg;

	memset(item, 0xa5, sizeof *item);
	free(item);
}

static struct mely_handler self_repost = MELY_HANDLER(on_self_repost);
static struct mely_handler self_free = MELY_HANDLER(on_self_free);

static void
sizes(void)
{
	TEST_EQ(sizeof(struct mely_event), 56);
	TEST_EQ(sizeof(struct mely_color), 64);
	TEST_EQ(_Alignof(struct mely_color), 64);
}

static void
reposts_itself_on(int cores)
{
	struct item items[4];
	int i;

	rt = test_runtime(cores);
	for (i = 0; i < 4; i++) {
		items[i].color = test_color(rt);
		items[i].left = test_scale(20000);
		atomic_init(&items[i].ran, 0);
		mely_event_init(&items[i].ev, &self_repost, &items[i]);
		TEST_OK(mely_event_post(items[i].color, &items[i].ev));
		TEST_EQ(mely_event_post(items[i].color, &items[i].ev), -EALREADY);
	}
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < 4; i++) {
		TEST_EQ(test_get(&items[i].ran), test_scale(20000));
		free(items[i].color);
	}
}

static void
reposts_itself(void)
{
	reposts_itself_on(1);
	reposts_itself_on(2);
	reposts_itself_on(8);
}

static void
frees_itself(void)
{
	struct mely_color *color;
	unsigned i;

	rt = test_runtime(2);
	color = test_color(rt);
	for (i = 0; i < 10000; i++) {
		struct item *item = malloc(sizeof *item);

		TEST_CHECK(item != NULL);
		mely_event_init(&item->ev, &self_free, item);
		TEST_OK(i % 3 ? mely_event_post(color, &item->ev)
		    : mely_event_post_id(rt, i, &item->ev));
	}
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/*
 * Embedded events that a batch took and put back, because later heads used up its count or because
 * its time ended: they run all the same.
 */
static struct mely_color *cut_color;
static uint64_t cut_ran, cut_heads;

static void
on_cut_head(void *arg)
{
	(void)arg;
	cut_heads++;
}

static struct mely_handler cut_head = MELY_HANDLER(on_cut_head);

static void
on_cut(void *arg)
{
	int i;

	(void)arg;
	cut_ran++;
	test_spin_ns(30000);
	for (i = 0; i < 3; i++)
		TEST_OK(mely_post_head(cut_color, &cut_head, NULL));
}

static struct mely_handler cut_handler = MELY_HANDLER(on_cut);

static void
put_back_and_run_with(uint32_t batch_events, uint32_t batch_us)
{
	struct mely_config config;
	struct mely_event ev[4];
	int i;

	test_config(&config, 1);
	config.batch_events = batch_events;
	config.batch_us = batch_us;
	rt = test_runtime_with(&config);
	cut_color = test_color(rt);
	cut_ran = cut_heads = 0;
	for (i = 0; i < 4; i++) {
		mely_event_init(&ev[i], &cut_handler, NULL);
		TEST_OK(mely_event_post(cut_color, &ev[i]));
	}
	test_run_dry(rt);
	TEST_EQ(cut_ran, 4);
	TEST_EQ(cut_heads, 12);
	for (i = 0; i < 4; i++)
		TEST_CHECK(!mely_event_pending(&ev[i]));
	TEST_OK(mely_runtime_free(rt));
	free(cut_color);
}

static void
put_back_and_run(void)
{
	uint32_t batch;

	for (batch = 1; batch <= 20; batch++) {
		put_back_and_run_with(batch, 0);
		put_back_and_run_with(batch, 20);
	}
}

/* Static initializers work like calls. */
static uint64_t static_ran;

static void
on_static(void *arg)
{
	TEST_CHECK(arg == &static_ran);
	static_ran++;
}

static struct mely_handler static_handler = MELY_HANDLER_WITH(on_static, 5000, 2, 3);
static struct mely_event static_event = MELY_EVENT(&static_handler, &static_ran);

static void
static_initialisers(void)
{
	rt = test_runtime(1);
	mely_event_set_time(&static_event, 123);
	TEST_OK(mely_event_post_id(rt, 9, &static_event));
	test_run_dry(rt);
	TEST_EQ(static_ran, 1);
	TEST_CHECK(strcmp(static_handler.name, "on_static") == 0);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- two threads post one event ------------------------------------------------------------- */

struct poster {
	struct item *item;
	unsigned rounds;
	uint64_t won;
};

static void
on_count(void *arg)
{
	struct item *item = arg;

	test_add(&item->ran, 1);
}

static struct mely_handler count_handler = MELY_HANDLER(on_count);

static void *
post_shared(void *arg)
{
	struct poster *poster = arg;
	unsigned i;

	for (i = 0; i < poster->rounds; i++) {
		int rc = i % 2 ? mely_event_post(poster->item->color, &poster->item->ev)
		    : mely_event_post_head(poster->item->color, &poster->item->ev);

		TEST_CHECK(rc == 0 || rc == -EALREADY);
		poster->won += rc == 0;
	}
	return NULL;
}

static void
one_post_wins(void)
{
	enum { POSTERS = 3 };
	struct poster posters[POSTERS];
	pthread_t threads[POSTERS];
	struct test_runner runner;
	struct item item;
	uint64_t won = 0;
	int i;

	rt = test_runtime(2);
	item.color = test_color(rt);
	atomic_init(&item.ran, 0);
	mely_event_init(&item.ev, &count_handler, &item);
	test_run_start(&runner, rt);
	for (i = 0; i < POSTERS; i++) {
		posters[i].item = &item;
		posters[i].rounds = test_scale(100000);
		posters[i].won = 0;
		threads[i] = test_thread(post_shared, &posters[i]);
	}
	for (i = 0; i < POSTERS; i++) {
		test_thread_join(threads[i]);
		won += posters[i].won;
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&item.ran), won);
	TEST_OK(mely_runtime_free(rt));
	free(item.color);
}

/* ---- color objects given back --------------------------------------------------------------- */

/* A connection: color, event and data in one block that its last event frees. */
struct connection {
	struct mely_color color;
	struct mely_event step;
	struct mely_event close;
	uint64_t left;
	bool closed;
};

static _Atomic uint64_t freed;

static void
on_release(void *arg)
{
	struct connection *c = arg;

	TEST_CHECK(c->closed);
	TEST_CHECK(mely_current_color() == NULL);
	free(c);
	test_add(&freed, 1);
}

static void
on_close(void *arg)
{
	struct connection *c = arg;

	c->closed = true;
	TEST_OK(mely_color_release(&c->color, on_release, c));
	TEST_EQ(mely_color_release(&c->color, on_release, c), -EALREADY);
}

static void
on_step(void *arg)
{
	struct connection *c = arg;

	TEST_CHECK(mely_current_color() == &c->color);
	if (c->left-- > 0)
		TEST_OK(mely_event_post(&c->color, &c->step));
	else
		TEST_OK(mely_event_post(&c->color, &c->close));
}

static struct mely_handler step = MELY_HANDLER(on_step);
static struct mely_handler close_handler = MELY_HANDLER(on_close);

static struct connection *
connection_new(uint64_t left)
{
	struct connection *c = aligned_alloc(64, sizeof *c);

	TEST_CHECK(c != NULL);
	TEST_OK(mely_color_init(&c->color, rt));
	mely_event_init(&c->step, &step, c);
	mely_event_init(&c->close, &close_handler, c);
	c->left = left;
	c->closed = false;
	return c;
}

static void
freed_in_release_on(int cores)
{
	unsigned total = test_scale(5000), i;
	struct test_runner runner;

	atomic_store(&freed, 0);
	rt = test_runtime(cores);
	test_run_start(&runner, rt);
	for (i = 0; i < total; i++) {
		struct connection *c = connection_new(i % 17);

		TEST_OK(mely_event_post(&c->color, &c->step));
	}
	test_await(&freed, total);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
}

static void
freed_in_release(void)
{
	freed_in_release_on(1);
	freed_in_release_on(2);
	freed_in_release_on(8);
}

static void
on_nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);

/* Released from outside while its events are still queued: they run first. */
static void
released_from_outside_on(int cores)
{
	unsigned total = test_scale(5000), i;
	struct test_runner runner;

	atomic_store(&freed, 0);
	rt = test_runtime(cores);
	test_run_start(&runner, rt);
	for (i = 0; i < total; i++) {
		struct connection *c = connection_new(0);

		c->closed = true;
		if (i % 2)
			TEST_OK(mely_post(&c->color, &nothing, NULL));
		TEST_OK(mely_color_release(&c->color, on_release, c));
	}
	test_await(&freed, total);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
}

static void
released_from_outside(void)
{
	released_from_outside_on(1);
	released_from_outside_on(2);
	released_from_outside_on(8);
}

static void
released_idle(void)
{
	struct mely_color *by_id;
	struct connection *c;

	atomic_store(&freed, 0);
	rt = test_runtime(2);
	c = connection_new(0);
	c->closed = true;
	TEST_OK(mely_color_release(&c->color, on_release, c));
	TEST_EQ(test_get(&freed), 1);
	c = connection_new(0);
	TEST_OK(mely_color_release(&c->color, NULL, NULL));
	TEST_OK(mely_color_of_id(rt, 3, &by_id));
	TEST_EQ(mely_color_release(by_id, on_release, c), -EINVAL);
	TEST_OK(mely_runtime_free(rt));
	free(c);
}

/* ---- accessors ------------------------------------------------------------------------------ */

static void
accessors(void)
{
	struct mely_color *object, *by_id, *again;
	struct connection *c;
	char name[8];

	rt = test_runtime(3);
	object = test_color_on(rt, 2);
	TEST_OK(mely_color_of_id(rt, 0xdeadbeefu, &by_id));
	TEST_OK(mely_color_of_id(rt, 0xdeadbeefu, &again));
	TEST_CHECK(by_id == again);
	TEST_CHECK(mely_color_is_object(object) && !mely_color_is_object(by_id));
	TEST_EQ(mely_color_id(by_id), 0xdeadbeefu);
	TEST_EQ(mely_color_id(object), 0);
	TEST_CHECK(mely_color_runtime(object) == rt && mely_color_runtime(by_id) == rt);
	TEST_EQ(mely_color_core(object), 2);
	TEST_EQ(mely_color_name(object, name, sizeof name), 0);
	TEST_CHECK(strcmp(name, "") == 0);
	TEST_OK(mely_color_set_name(object, "a long name"));
	TEST_EQ(mely_color_name(object, name, sizeof name), 11);
	TEST_CHECK(strcmp(name, "a long ") == 0);
	TEST_OK(mely_color_set_name(by_id, "b"));
	TEST_EQ(mely_color_name(by_id, name, sizeof name), 1);
	TEST_CHECK(strcmp(name, "b") == 0);
	TEST_OK(mely_color_set_name(object, NULL));
	TEST_EQ(mely_color_name(object, name, sizeof name), 0);
	TEST_EQ(mely_color_init_on(object, rt, 3), -EINVAL);
	TEST_EQ(mely_color_pin(by_id, 3), -EINVAL);
	TEST_EQ(mely_color_pin(by_id, -2), -EINVAL);
	/* Releasing a color removes its name and its mark. */
	c = connection_new(0);
	c->closed = true;
	TEST_OK(mely_color_set_name(&c->color, "gone"));
	TEST_OK(mely_color_set_high_water(&c->color, 5, NULL, NULL));
	TEST_OK(mely_color_release(&c->color, on_release, c));
	TEST_CHECK(mely_current_color() == NULL && mely_current_runtime() == NULL);
	TEST_EQ(mely_current_core(), -1);
	TEST_CHECK(strcmp(mely_version(), MELY_VERSION_STRING) == 0);
	TEST_OK(mely_runtime_free(rt));
	free(object);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(sizes);
	TEST_CASE(static_initialisers);
	TEST_CASE(reposts_itself);
	TEST_CASE(put_back_and_run);
	TEST_CASE(frees_itself);
	TEST_CASE(one_post_wins);
	TEST_CASE(freed_in_release);
	TEST_CASE(released_from_outside);
	TEST_CASE(released_idle);
	TEST_CASE(accessors);
	return test_done();
}
