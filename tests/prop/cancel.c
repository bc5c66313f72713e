/* SPDX-License-Identifier: MIT */
/*
 * cancel.c: invariant 9 for posted events: a cancel is exact in a handler of the color, and its
 * result (0, -ENOENT, -EINPROGRESS, -EALREADY) is right from anywhere else. The test frees a
 * cancelled event at once, so that AddressSanitizer shows a late access.
 */
#include <sched.h>

#include "test.h"

struct item {
	struct mely_event ev;
	_Atomic uint64_t ran;
};

static struct mely_runtime *rt;
static struct mely_color *color;

static void
on_item(void *arg)
{
	struct item *item = arg;

	test_add(&item->ran, 1);
}

static struct mely_handler item_handler = MELY_HANDLER(on_item);

static struct item *
make_item(void)
{
	struct item *item = malloc(sizeof *item);

	TEST_CHECK(item != NULL);
	atomic_init(&item->ran, 0);
	mely_event_init(&item->ev, &item_handler, item);
	return item;
}

/* ---- in a handler of the color -------------------------------------------------------------- */

enum { ITEMS = 24 };

static struct item *items[ITEMS];
static uint64_t own_ran;

/* Cancels every second item: some queued, some taken with this very batch, some posted now. */
static void
on_cancel_own(void *arg)
{
	int i;

	(void)arg;
	for (i = ITEMS / 2; i < ITEMS; i++)
		TEST_OK(i % 4 < 2 ? mely_event_post(color, &items[i]->ev)
		    : mely_event_post_head(color, &items[i]->ev));
	for (i = 0; i < ITEMS; i += 2) {
		TEST_CHECK(mely_event_pending(&items[i]->ev));
		TEST_EQ(mely_event_cancel(&items[i]->ev, NULL, NULL), 0);
		TEST_CHECK(!mely_event_pending(&items[i]->ev));
		TEST_EQ(mely_event_cancel(&items[i]->ev, NULL, NULL), -ENOENT);
		TEST_EQ(test_get(&items[i]->ran), 0);
		if (i % 3 == 0) {
			/* The event is ours again: post it and cancel it once more. */
			TEST_OK(mely_event_post(color, &items[i]->ev));
			TEST_EQ(mely_event_post(color, &items[i]->ev), -EALREADY);
			TEST_OK(mely_event_cancel(&items[i]->ev, NULL, NULL));
		}
		free(items[i]);
		items[i] = NULL;
	}
	own_ran++;
}

static struct mely_handler cancel_own = MELY_HANDLER(on_cancel_own);

static void
own_color_on(int cores, bool by_id)
{
	int i;

	rt = test_runtime(cores);
	if (by_id)
		TEST_OK(mely_color_of_id(rt, 77, &color));
	else
		color = test_color(rt);
	own_ran = 0;
	TEST_OK(mely_post(color, &cancel_own, NULL));
	for (i = 0; i < ITEMS; i++)
		items[i] = make_item();
	for (i = 0; i < ITEMS / 2; i++)
		TEST_OK(mely_event_post(color, &items[i]->ev));
	test_run_dry(rt);
	TEST_EQ(own_ran, 1);
	for (i = 0; i < ITEMS; i++)
		if (items[i] != NULL) {
			TEST_EQ(test_get(&items[i]->ran), 1);
			free(items[i]);
		}
	TEST_EQ(test_counters(rt).cancels, ITEMS / 2 + ITEMS / 6);
	TEST_OK(mely_runtime_free(rt));
	if (!by_id)
		free(color);
}

static void
own_color(void)
{
	own_color_on(1, false);
	own_color_on(2, false);
	own_color_on(8, true);
}

/* An event that cancels itself while it runs is no longer queued. */
static void
on_cancel_itself(void *arg)
{
	struct item *item = arg;

	TEST_CHECK(!mely_event_pending(&item->ev));
	TEST_EQ(mely_event_cancel(&item->ev, NULL, NULL), -ENOENT);
	test_add(&item->ran, 1);
}

static struct mely_handler cancel_itself = MELY_HANDLER(on_cancel_itself);

static void
never_posted_running_and_run(void)
{
	struct item *item = make_item();

	rt = test_runtime(2);
	color = test_color(rt);
	TEST_EQ(mely_event_cancel(&item->ev, NULL, NULL), -ENOENT);
	mely_event_init(&item->ev, &cancel_itself, item);
	TEST_OK(mely_event_post(color, &item->ev));
	test_run_dry(rt);
	TEST_EQ(test_get(&item->ran), 1);
	TEST_EQ(mely_event_cancel(&item->ev, NULL, NULL), -ENOENT);
	/* Events held before a run, cancelled from a thread that is not a core: exact too. */
	TEST_OK(mely_event_post(color, &item->ev));
	TEST_OK(mely_event_cancel(&item->ev, NULL, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&item->ran), 1);
	TEST_OK(mely_runtime_free(rt));
	free(color);
	free(item);
}

/* ---- from outside, while the batch is taken ------------------------------------------------- */

static _Atomic uint64_t blocked, released;

static void
on_block(void *arg)
{
	(void)arg;
	test_add(&blocked, 1);
	test_await(&released, 1);
}

static struct mely_handler block = MELY_HANDLER(on_block);

static void
taken_batch(void)
{
	struct item *first = make_item(), *second = make_item(), *done = make_item();
	struct test_runner runner;
	int rc;

	atomic_store(&blocked, 0);
	atomic_store(&released, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	TEST_OK(mely_post(color, &block, NULL));
	TEST_OK(mely_event_post(color, &first->ev));
	TEST_OK(mely_event_post(color, &second->ev));
	test_run_start(&runner, rt);
	test_await(&blocked, 1);
	rc = mely_event_cancel(&first->ev, color, &done->ev);
	TEST_CHECK(rc == 0 || rc == -EINPROGRESS);
	if (rc == -EINPROGRESS) {
		/* The completion event is already queued. */
		rc = mely_event_cancel(&second->ev, color, &done->ev);
		TEST_CHECK(rc == 0 || rc == -EALREADY);
		TEST_EQ(test_get(&done->ran), 0);
		test_add(&released, 1);
		test_await(&done->ran, 1);
		TEST_CHECK(test_get(&first->ran) <= 1);
	} else {
		test_add(&released, 1);
		TEST_EQ(test_get(&first->ran), 0);
		rc = -EALREADY;
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&second->ran), rc == -EALREADY ? 1 : 0);
	TEST_OK(mely_runtime_free(rt));
	free(color);
	free(first);
	free(second);
	free(done);
}

/* ---- several events of one batch ------------------------------------------------------------ */

enum { DROPPED = 4, HIGH_WATER = 6 };

static _Atomic uint64_t given_back;

static void
on_given_back(void *arg)
{
	(void)arg;
	test_add(&given_back, 1);
}

/* Cancels all events that were taken with the one that runs, from outside. */
static void
batch_is_cancelled(bool release)
{
	struct item *gone[DROPPED], *done[DROPPED];
	struct mely_color *other;
	struct test_runner runner;
	unsigned i, posted = 0, unsure = 0;

	atomic_store(&blocked, 0);
	atomic_store(&released, 0);
	atomic_store(&given_back, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	other = test_color(rt);
	TEST_OK(mely_color_set_high_water(color, HIGH_WATER, NULL, NULL));
	TEST_OK(mely_post(color, &block, NULL));
	for (i = 0; i < DROPPED; i++) {
		gone[i] = make_item();
		done[i] = make_item();
		TEST_OK(mely_event_post(color, &gone[i]->ev));
	}
	test_run_start(&runner, rt);
	test_await(&blocked, 1);
	if (release)
		TEST_OK(mely_color_release(color, on_given_back, NULL));
	for (i = 0; i < DROPPED; i++) {
		int rc = mely_event_cancel(&gone[i]->ev, other, &done[i]->ev);

		TEST_CHECK(rc == 0 || rc == -EINPROGRESS);
		unsure += rc == -EINPROGRESS;
	}
	test_add(&released, 1);
	for (i = 0; release && test_get(&given_back) == 0; i++)
		sched_yield();
	test_run_stop(&runner, MELY_STOP_DRAIN);
	for (i = 0; i < DROPPED; i++) {
		TEST_EQ(test_get(&gone[i]->ran), 0);
		unsure -= (unsigned)test_get(&done[i]->ran);
	}
	TEST_EQ(unsure, 0);
	TEST_EQ(test_get(&given_back), release);
	/* None of them counts against the mark any more. */
	while (!release && posted <= HIGH_WATER && mely_post(color, &item_handler, gone[0]) == 0)
		posted++;
	TEST_EQ(posted, release ? 0 : HIGH_WATER);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < DROPPED; i++) {
		free(gone[i]);
		free(done[i]);
	}
	free(color);
	free(other);
}

static void
batch_is_dropped(void)
{
	batch_is_cancelled(false);
}

static void
released_color_ends(void)
{
	batch_is_cancelled(true);
}

/* A completion that hangs on a core stays there, and a cancel of it does not wait. */
static struct item *completion;

static void
on_block_and_cancel(void *arg)
{
	(void)arg;
	test_add(&blocked, 1);
	test_await(&released, 1);
	TEST_EQ(mely_event_cancel(&completion->ev, NULL, NULL), -EBUSY);
}

static struct mely_handler block_and_cancel = MELY_HANDLER(on_block_and_cancel);

static void
completion_stays(void)
{
	struct test_runner runner;
	struct mely_event running;

	atomic_store(&blocked, 0);
	atomic_store(&released, 0);
	completion = make_item();
	rt = test_runtime(2);
	color = test_color(rt);
	mely_event_init(&running, &block_and_cancel, NULL);
	test_run_start(&runner, rt);
	TEST_OK(mely_event_post(color, &running));
	test_await(&blocked, 1);
	TEST_EQ(mely_event_cancel(&running, color, &completion->ev), -EINPROGRESS);
	TEST_CHECK(mely_event_pending(&completion->ev));
	TEST_EQ(mely_event_cancel(&completion->ev, NULL, NULL), -EBUSY);
	TEST_EQ(mely_event_post(color, &completion->ev), -EALREADY);
	test_add(&released, 1);
	test_await(&completion->ran, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&completion->ran), 1);
	TEST_OK(mely_runtime_free(rt));
	free(color);
	free(completion);
}

/* ---- races ---------------------------------------------------------------------------------- */

struct racer {
	struct mely_color *target; /* events go there */
	struct mely_color *other;  /* completions go there */
	uint64_t seed;
	unsigned rounds;
	uint64_t cancelled, late, unsure; /* plain: of the thread */
};

/* Keeps a color's batches long, so that events are often taken when they are cancelled. */
static void
on_filler(void *arg)
{
	(void)arg;
	test_spin_ns(200);
}

static struct mely_handler filler = MELY_HANDLER(on_filler);

static void
race_round(struct racer *racer)
{
	struct item *item = make_item(), *done = make_item();
	uint64_t r = test_random(&racer->seed);
	unsigned i;
	int rc;

	for (i = 0; i < (r & 7); i++)
		TEST_OK(mely_post(racer->target, &filler, NULL));
	TEST_OK(r & 8 ? mely_event_post_head(racer->target, &item->ev)
	    : mely_event_post(racer->target, &item->ev));
	if (r & 16)
		test_spin_ns(r >> 32 & 4095);
	rc = mely_event_cancel(&item->ev, racer->other, &done->ev);
	if (rc == 0) {
		/* The event has not run and never will: free its memory at once. */
		TEST_EQ(test_get(&item->ran), 0);
		racer->cancelled++;
	} else if (rc == -EINPROGRESS) {
		test_await(&done->ran, 1);
		TEST_CHECK(!mely_event_pending(&item->ev));
		TEST_CHECK(test_get(&item->ran) <= 1);
		racer->unsure++;
	} else {
		TEST_EQ(rc, -ENOENT);
		test_await(&item->ran, 1);
		racer->late++;
	}
	free(item);
	free(done);
}

static void *
race(void *arg)
{
	struct racer *racer = arg;
	unsigned i;

	for (i = 0; i < racer->rounds; i++)
		race_round(racer);
	return NULL;
}

static void
threads_race_cores_on(int cores)
{
	enum { THREADS = 2 };
	struct racer racers[THREADS];
	pthread_t threads[THREADS];
	struct test_runner runner;
	struct mely_color *target, *other;
	uint64_t sum = 0;
	int i;

	rt = test_runtime(cores);
	target = test_color(rt);
	other = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < THREADS; i++) {
		memset(&racers[i], 0, sizeof racers[i]);
		racers[i].target = target;
		racers[i].other = i == 0 ? other : target;
		racers[i].seed = test_seed + (uint64_t)i;
		racers[i].rounds = test_scale(test_long() ? 300000 : 20000);
		threads[i] = test_thread(race, &racers[i]);
	}
	for (i = 0; i < THREADS; i++) {
		test_thread_join(threads[i]);
		sum += racers[i].cancelled + racers[i].late + racers[i].unsure;
		printf("%d cores: %llu cancelled, %llu too late, %llu under way\n", cores,
		    (unsigned long long)racers[i].cancelled, (unsigned long long)racers[i].late,
		    (unsigned long long)racers[i].unsure);
	}
	TEST_EQ(sum, (uint64_t)THREADS * racers[0].rounds);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(target);
	free(other);
}

static void
threads_race_cores(void)
{
	threads_race_cores_on(1);
	threads_race_cores_on(2);
	threads_race_cores_on(8);
}

/* ---- colors cancel each other's events ------------------------------------------------------ */

enum { PEERS = 8 };

struct peer {
	struct mely_color *color;
	struct item *item;       /* posted to the next peer; plain: of this color */
	struct mely_event done;
	struct mely_event step;
	bool waits;              /* for done */
	uint64_t steps, seed;
};

static struct peer peers[PEERS];
static _Atomic uint64_t peers_over;
static uint64_t peer_steps;

static void
next_step(struct peer *peer)
{
	if (++peer->steps < peer_steps)
		TEST_OK(mely_event_post(peer->color, &peer->step));
	else
		test_add(&peers_over, 1);
}

static void
on_done(void *arg)
{
	struct peer *peer = arg;

	TEST_CHECK(peer->waits && !mely_event_pending(&peer->item->ev));
	peer->waits = false;
	free(peer->item);
	next_step(peer);
}

static void
on_step(void *arg)
{
	struct peer *peer = arg;
	struct peer *next = &peers[(peer - peers + 1) % PEERS];
	int rc;

	peer->item = make_item();
	TEST_OK(mely_event_post(next->color, &peer->item->ev));
	if (test_random(&peer->seed) % 2)
		test_spin_ns(500);
	rc = mely_event_cancel(&peer->item->ev, peer->color, &peer->done);
	if (rc == -EINPROGRESS) {
		peer->waits = true;
		return;
	}
	TEST_CHECK(rc == 0 || rc == -ENOENT);
	if (rc == 0)
		TEST_EQ(test_get(&peer->item->ran), 0);
	else
		test_await(&peer->item->ran, 1);
	free(peer->item);
	next_step(peer);
}

static struct mely_handler done_handler = MELY_HANDLER(on_done);
static struct mely_handler step_handler = MELY_HANDLER(on_step);

static void
colors_race_on(int cores)
{
	struct test_runner runner;
	int i;

	rt = test_runtime(cores);
	atomic_store(&peers_over, 0);
	peer_steps = test_scale(5000);
	memset(peers, 0, sizeof peers);
	for (i = 0; i < PEERS; i++) {
		peers[i].color = test_color(rt);
		peers[i].seed = test_seed + (uint64_t)i;
		mely_event_init(&peers[i].done, &done_handler, &peers[i]);
		mely_event_init(&peers[i].step, &step_handler, &peers[i]);
	}
	for (i = 0; i < PEERS; i++)
		TEST_OK(mely_event_post(peers[i].color, &peers[i].step));
	test_run_start(&runner, rt);
	test_await(&peers_over, PEERS);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	for (i = 0; i < PEERS; i++)
		TEST_CHECK(!peers[i].waits);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < PEERS; i++)
		free(peers[i].color);
}

static void
colors_race(void)
{
	colors_race_on(1);
	colors_race_on(2);
	colors_race_on(8);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, test_long() ? 600 : 90);
	TEST_CASE(own_color);
	TEST_CASE(never_posted_running_and_run);
	TEST_CASE(taken_batch);
	TEST_CASE(batch_is_dropped);
	TEST_CASE(released_color_ends);
	TEST_CASE(completion_stays);
	TEST_CASE(threads_race_cores);
	TEST_CASE(colors_race);
	return test_done();
}
