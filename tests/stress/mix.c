/* SPDX-License-Identifier: MIT */
/*
 * mix.c: everything at random, from one seed. Workloads of random shape (work.h: exclusion, order,
 * visibility, once) run with random settings, while other threads pin and unpin colors, switch
 * stealing, cancel events, start and stop timers, give work to helpers, trim, and read counters.
 * Rounds repeat for two seconds, or five minutes with MELY_TEST_LONG=1; a failed round prints
 * the seed that repeats it.
 */
#include "work.h"

/* A request of a disturbing thread, and its outcome. */
struct item {
	struct item *next;
	struct mely_event ev, done_event;
	_Atomic uint64_t ran, done;
	const char *what;
	uint64_t least, most; /* how often it may have run at the end */
};

struct disturber {
	struct work *work;
	struct mely_color *own;
	uint64_t seed;
	struct item *items; /* kept to the end; the thread's own */
	_Atomic uint64_t over;
};

static void
on_disturb(void *arg)
{
	struct item *item = arg;

	test_add(&item->ran, 1);
}

static void
on_done(void *arg)
{
	struct item *item = arg;

	test_add(&item->done, 1);
}

static struct mely_handler disturb = MELY_HANDLER(on_disturb);
static struct mely_handler done = MELY_HANDLER(on_done);

static struct item *
make_item(void)
{
	struct item *item = calloc(1, sizeof *item);

	TEST_CHECK(item != NULL);
	mely_event_init(&item->ev, &disturb, item);
	mely_event_init(&item->done_event, &done, item);
	return item;
}

static void
keep(struct disturber *d, struct item *item, const char *what, uint64_t least, uint64_t most)
{
	item->what = what;
	item->least = least;
	item->most = most;
	item->next = d->items;
	d->items = item;
}

/* Post an embedded event and cancel it, or see it run. */
static void
disturb_with_event(struct disturber *d, struct mely_color *color)
{
	struct item *item = make_item();
	int rc = mely_event_post(color, &item->ev);

	if (rc == 0) {
		rc = mely_event_cancel(&item->ev, d->own, &item->done_event);
		if (rc == -EINPROGRESS) {
			test_await(&item->done, 1);
			TEST_CHECK(test_get(&item->ran) <= 1);
		} else if (rc == -ENOENT) {
			test_await(&item->ran, 1);
		} else {
			TEST_OK(rc);
			TEST_EQ(test_get(&item->ran), 0);
		}
	} else {
		TEST_EQ(rc, -ESHUTDOWN);
	}
	free(item);
}

static void
disturb_with_timer(struct disturber *d)
{
	struct item *item = make_item();
	mely_watch timer;
	int rc = mely_timer_start(d->own, test_random(&d->seed) % 50000, 0, 0, &disturb, item,
	    &timer);

	if (rc != 0) {
		TEST_EQ(rc, -ESHUTDOWN);
		free(item);
		return;
	}
	if (test_random(&d->seed) % 2)
		test_spin_ns(20000);
	/* A stop of the runtime closes timers too: a closed timer need not have run. */
	keep(d, item, "a timer", 0, mely_watch_stop(d->work->rt, timer, NULL, NULL) != 0);
}

static void
fn_work(void *arg)
{
	(void)arg;
	test_spin_ns(1000);
}

static void
disturb_with_work(struct disturber *d, enum mely_work_class class)
{
	struct item *item = make_item();
	int rc = mely_work(d->own, class, fn_work, &disturb, item, NULL);

	if (rc != 0) {
		TEST_EQ(rc, -ESHUTDOWN);
		free(item);
		return;
	}
	keep(d, item, "work", 1, 1);
}

static void
disturb_once(struct disturber *d)
{
	struct work *work = d->work;
	uint64_t r = test_random(&d->seed);
	struct mely_color *color = work->colors[r % (unsigned)work->config.colors].color;
	struct mely_stats *stats;
	int core = (int)((r >> 16) % (unsigned)work->config.cores);

	switch (r >> 40 & 7) {
	case 0:
		TEST_OK(mely_color_pin(color, core));
		break;
	case 1:
		TEST_OK(mely_color_pin(color, MELY_ANY_CORE));
		break;
	case 2:
		TEST_OK(mely_set_stealing(work->rt, r >> 50 & 1 ? MELY_STEAL_ALL : 0));
		break;
	case 3:
		(void)mely_trim(work->rt);
		break;
	case 4:
		TEST_OK(mely_stats_take(work->rt, MELY_STATS_COUNTERS, 0, &stats));
		mely_stats_free(stats);
		TEST_OK(mely_color_set_name(color, r >> 50 & 1 ? "a name" : NULL));
		break;
	case 5:
		disturb_with_event(d, color);
		break;
	case 6:
		disturb_with_timer(d);
		break;
	default:
		disturb_with_work(d, (enum mely_work_class)(r % 3));
		break;
	}
}

static void *
disturb_work(void *arg)
{
	struct disturber *d = arg;

	while (test_get(&d->over) == 0) {
		disturb_once(d);
		test_nap_us((unsigned)(test_random(&d->seed) % 200));
	}
	return NULL;
}

static void
choose(struct work_config *config, struct mely_config *runtime, uint64_t seed)
{
	static const int cores[] = {1, 2, 2, 3, 4, 8, 16, 32};
	static const int colors[] = {1, 2, 3, 5, 16, 63, 64, 200};

	memset(config, 0, sizeof *config);
	config->seed = seed;
	config->cores = cores[test_random(&seed) % 8];
	config->colors = colors[test_random(&seed) % 8];
	config->ids = (enum work_ids)(test_random(&seed) % 3);
	config->skewed = test_random(&seed) % 2;
	config->roots = test_scale(200 + (unsigned)(test_random(&seed) % 3000));
	config->generations = (unsigned)(test_random(&seed) % 32);
	config->spin_ns = (unsigned)(test_random(&seed) % 3 * 500);
	config->heads_percent = (unsigned)(test_random(&seed) % 3 * 20);
	test_config(runtime, config->cores);
	runtime->batch_events = 1 + (uint32_t)(test_random(&seed) % 20);
	runtime->batch_us = test_random(&seed) % 4 == 0 ? 20 : 0;
	runtime->spin_us_max = test_random(&seed) % 2 ? 10 : 0;
	runtime->stuck_ms = (uint32_t[]){0, 1, 4}[test_random(&seed) % 3];
	runtime->pollers = test_random(&seed) % 4 == 0;
	runtime->balance = test_random(&seed) % 4 != 0;
	if (test_random(&seed) % 8 == 0)
		runtime->stealing &= ~(unsigned)MELY_STEAL_ON;
	runtime->pinning = (enum mely_pinning)(test_random(&seed) % 3);
}

static void
check_items(struct disturber *d)
{
	struct item *item;

	while ((item = d->items) != NULL) {
		uint64_t ran = test_get(&item->ran);

		if (ran < item->least || ran > item->most)
			test_fail(__FILE__, __LINE__, "%s has run %llu times, not %llu to %llu",
			    item->what, (unsigned long long)ran, (unsigned long long)item->least,
			    (unsigned long long)item->most);
		d->items = item->next;
		free(item);
	}
}

static void
round_of(uint64_t seed)
{
	struct work_config config;
	struct mely_config runtime;
	struct disturber d;
	struct work work;
	pthread_t thread;
	char name[96];

	choose(&config, &runtime, seed);
	work_describe(&config, name, sizeof name);
	printf("%#llx: %s\n", (unsigned long long)seed, name);
	test_seed = seed;
	work_init(&work, &config, &runtime);
	memset(&d, 0, sizeof d);
	d.work = &work;
	d.seed = seed;
	d.own = test_color(work.rt);
	thread = test_thread(disturb_work, &d);
	work_run(&work);
	test_add(&d.over, 1);
	test_thread_join(thread);
	/* Events that it posted after the end are held: run them. */
	test_run_dry(work.rt);
	check_items(&d);
	work_fini(&work);
	free(d.own);
}

static void
mix(void)
{
	uint64_t until = mely_now_ns() + UINT64_C(1000000000) * (test_long() ? 300 : 2);
	uint64_t seed = test_seed;

	/* The first round is the seed itself, so that a failed one can be repeated. */
	round_of(seed);
	if (getenv("MELY_TEST_SEED") != NULL && !test_long())
		return;
	while (mely_now_ns() < until)
		round_of(test_random(&seed));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, test_long() ? 1200 : 120);
	TEST_CASE(mix);
	return test_done();
}
