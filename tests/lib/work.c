/* SPDX-License-Identifier: MIT */
/*
 * work.c: the workload and its oracle. An event is one word (ttl, head or tail, the sequence number
 * in its pair, producer, target), so that the plain posts of the library can carry it.
 */
#include "work.h"

enum {
	SEQ_BITS = 24,
	TARGET_BITS = 10,
	PRODUCER_BITS = 11,
	TTL_BITS = 5
};

struct token {
	unsigned ttl, head, producer, target;
	uint32_t seq;
};

/* The running workload; one at a time, set before the runtime starts. */
static struct work *current;

static void on_token(void *arg);
static struct mely_handler token_handler = MELY_HANDLER(on_token);

static void *
pack(const struct token *t)
{
	uint64_t word = t->ttl;

	word = word << 1 | t->head;
	word = word << SEQ_BITS | (t->seq & ((1u << SEQ_BITS) - 1));
	word = word << TARGET_BITS | t->target;
	word = word << PRODUCER_BITS | t->producer;
	return (void *)(uintptr_t)word;
}

static struct token
unpack(void *arg)
{
	uint64_t word = (uintptr_t)arg;
	struct token t;

	t.producer = (unsigned)(word & ((1u << PRODUCER_BITS) - 1));
	word >>= PRODUCER_BITS;
	t.target = (unsigned)(word & ((1u << TARGET_BITS) - 1));
	word >>= TARGET_BITS;
	t.seq = (uint32_t)(word & ((1u << SEQ_BITS) - 1));
	word >>= SEQ_BITS;
	t.head = word & 1;
	t.ttl = (unsigned)(word >> 1);
	return t;
}

/* ---- the exclusion oracle ------------------------------------------------------------------- */

/* relaxed, both: the oracle must not order what it watches */
bool
work_enter(_Atomic int *inside)
{
	return atomic_exchange_explicit(inside, 1, memory_order_relaxed) == 0;
}

void
work_leave(_Atomic int *inside)
{
	atomic_store_explicit(inside, 0, memory_order_relaxed);
}

/* ---- posting -------------------------------------------------------------------------------- */

static void
post(struct work *work, uint32_t *sent[2], struct token *t)
{
	struct mely_color *color = work->colors[t->target].color;
	uint32_t id;
	int rc;

	t->seq = ++sent[t->head][t->target];
	TEST_CHECK(t->seq < 1u << SEQ_BITS);
	/* Ids by id, to exercise the look-up; the id is exact, so it must find the same color. */
	id = mely_color_id(color);
	if (work->config.ids == WORK_OBJECTS)
		rc = t->head ? mely_post_head(color, &token_handler, pack(t))
		    : mely_post(color, &token_handler, pack(t));
	else
		rc = t->head ? mely_post_head_id(work->rt, id, &token_handler, pack(t))
		    : mely_post_id(work->rt, id, &token_handler, pack(t));
	TEST_OK(rc);
}

static unsigned
choose_target(struct work *work, unsigned self, uint64_t *seed)
{
	uint64_t r = test_random(seed);

	/* Half of the posts go to the poster's color, so that own posts are common; the others go
	 * anywhere. */
	if (r & 1)
		return self;
	return (unsigned)((r >> 8) % (unsigned)work->config.colors);
}

static void
on_token(void *arg)
{
	struct work *work = current;
	struct token t = unpack(arg), child;
	struct work_color *c = &work->colors[t.target];
	uint32_t seen;

	TEST_CHECK(work_enter(&c->inside));
	TEST_CHECK(mely_current_color() == c->color);
	TEST_CHECK(mely_current_runtime() == work->rt);
	seen = ++c->seen[t.head][t.producer];
	TEST_EQ(t.seq, seen);
	c->ran++;
	c->sum += t.seq;
	if (work->config.spin_ns > 0)
		test_spin_ns(work->config.spin_ns);
	if (t.ttl > 0) {
		child.ttl = t.ttl - 1;
		child.producer = t.target;
		child.target = choose_target(work, t.target, &c->seed);
		child.head = test_random(&c->seed) % 100 < work->config.heads_percent;
		post(work, c->sent, &child);
	}
	work_leave(&c->inside);
	/* relaxed: see struct work */
	if (atomic_fetch_add_explicit(&work->ran, 1, memory_order_relaxed) + 1 == work->expected)
		TEST_OK(mely_stop(work->rt, MELY_STOP_DRAIN));
}

struct outside {
	struct work *work;
	unsigned index;
	unsigned roots;
};

static void *
post_roots(void *arg)
{
	struct outside *o = arg;
	struct work *work = o->work;
	uint64_t seed = work->config.seed + o->index + 1;
	unsigned i;

	for (i = 0; i < o->roots; i++) {
		struct token t;

		t.ttl = work->config.generations;
		t.producer = (unsigned)work->config.colors + o->index;
		t.target = (unsigned)(test_random(&seed) % (unsigned)work->config.colors);
		t.head = test_random(&seed) % 100 < work->config.heads_percent;
		post(work, work->outside_sent[o->index], &t);
		/* From time to time, let the cores run out of work and sleep. */
		if (test_random(&seed) % 256 == 0)
			test_nap_us(20);
	}
	return NULL;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static uint32_t
scattered_id(int i, uint64_t *seed)
{
	static const uint32_t edges[] = {0, 0x7fffffff, 0x80000000, 0xffffffff, 0x7ffffffe, 1};

	if (i < (int)(sizeof edges / sizeof edges[0]))
		return edges[i];
	/* The low bits make it unique, the high ones scatter it. */
	return (uint32_t)(test_random(seed) << 12) | (uint32_t)i << 1;
}

static void
make_color(struct work *work, int i, uint64_t *seed)
{
	struct work_color *c = &work->colors[i];
	size_t producers = (size_t)work->config.colors + WORK_OUTSIDE;
	uint32_t id = work->config.ids == WORK_DENSE ? (uint32_t)i : scattered_id(i, seed);
	int k;

	atomic_init(&c->inside, 0);
	c->seed = test_random(seed);
	for (k = 0; k < 2; k++) {
		c->sent[k] = calloc((size_t)work->config.colors, sizeof(uint32_t));
		c->seen[k] = calloc(producers, sizeof(uint32_t));
		TEST_CHECK(c->sent[k] != NULL && c->seen[k] != NULL);
	}
	if (work->config.ids == WORK_OBJECTS) {
		c->color = work->config.skewed ? test_color_on(work->rt, 0) : test_color(work->rt);
		return;
	}
	TEST_OK(mely_color_of_id(work->rt, id, &c->color));
	TEST_EQ(mely_color_id(c->color), id);
	if (work->config.skewed) {
		TEST_OK(mely_color_pin(c->color, 0));
		TEST_OK(mely_color_pin(c->color, MELY_ANY_CORE));
		TEST_EQ(mely_color_core(c->color), 0);
	}
}

void
work_init(struct work *work, const struct work_config *config, const struct mely_config *runtime)
{
	uint64_t seed = config->seed;
	int i, k;

	memset(work, 0, sizeof *work);
	work->config = *config;
	work->rt = test_runtime_with(runtime);
	work->colors = calloc((size_t)config->colors, sizeof *work->colors);
	TEST_CHECK(work->colors != NULL && config->colors <= WORK_COLORS_MAX);
	for (i = 0; i < config->colors; i++)
		make_color(work, i, &seed);
	for (i = 0; i < WORK_OUTSIDE; i++)
		for (k = 0; k < 2; k++) {
			work->outside_sent[i][k] =
			    calloc((size_t)config->colors, sizeof(uint32_t));
			TEST_CHECK(work->outside_sent[i][k] != NULL);
		}
	work->expected = (uint64_t)config->roots * (config->generations + 1);
}

static void
compare_books(struct work *work)
{
	int colors = work->config.colors, target, from, k;
	uint64_t ran = 0;

	for (target = 0; target < colors; target++) {
		struct work_color *c = &work->colors[target];
		uint64_t pairs = 0;

		for (k = 0; k < 2; k++) {
			for (from = 0; from < colors; from++) {
				TEST_EQ(c->seen[k][from], work->colors[from].sent[k][target]);
				pairs += c->seen[k][from];
			}
			for (from = 0; from < WORK_OUTSIDE; from++) {
				TEST_EQ(c->seen[k][colors + from],
				    work->outside_sent[from][k][target]);
				pairs += c->seen[k][colors + from];
			}
		}
		TEST_EQ(c->ran, pairs);
		ran += c->ran;
	}
	TEST_EQ(ran, work->expected);
}

void
work_run(struct work *work)
{
	struct outside outside[WORK_OUTSIDE];
	pthread_t threads[WORK_OUTSIDE];
	unsigned left = work->config.roots, i;

	current = work;
	for (i = 0; i < WORK_OUTSIDE; i++) {
		outside[i].work = work;
		outside[i].index = i;
		outside[i].roots = i + 1 < WORK_OUTSIDE ? work->config.roots / WORK_OUTSIDE : left;
		left -= outside[i].roots;
		threads[i] = test_thread(post_roots, &outside[i]);
	}
	TEST_OK(mely_run(work->rt));
	for (i = 0; i < WORK_OUTSIDE; i++)
		test_thread_join(threads[i]);
	compare_books(work);
	/* the library's own events count too */
	TEST_CHECK(test_counters(work->rt).events >= work->expected);
}

void
work_fini(struct work *work)
{
	int i, k;

	TEST_OK(mely_runtime_free(work->rt));
	for (i = 0; i < work->config.colors; i++) {
		for (k = 0; k < 2; k++) {
			free(work->colors[i].sent[k]);
			free(work->colors[i].seen[k]);
		}
		if (work->config.ids == WORK_OBJECTS)
			free(work->colors[i].color);
	}
	for (i = 0; i < WORK_OUTSIDE; i++)
		for (k = 0; k < 2; k++)
			free(work->outside_sent[i][k]);
	free(work->colors);
}

void
work_describe(const struct work_config *config, char *buf, size_t size)
{
	static const char *const ids[] = {"dense", "scattered", "objects"};

	snprintf(buf, size, "%d cores, %d colors, %s, %s", config->cores, config->colors,
	    ids[config->ids], config->skewed ? "skewed" : "balanced");
}
