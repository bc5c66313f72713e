/* SPDX-License-Identifier: MIT */
/*
 * embed-glib.c: a runtime in the main loop of glib, as a GSource. The source watches the runtime's
 * backend descriptor; its dispatch is a pass. A timeout of glib posts to the runtime, where a timer
 * ticks; when both have happened often enough, the runtime is stopped, and with it the main loop.
 *
 *     embed-glib             says what ran, and how often
 *     embed-glib --measure   says how late 500 timers of the runtime ran, in microseconds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>
#include <mely/mely.h>

#define MILLISECONDS UINT64_C(1000000)

enum { TICKS = 5, POSTS = 5, MEASURED = 500 };

/* ---- the source ------------------------------------------------------------------------------ */

struct source {
	GSource source;
	struct mely_runtime *rt;
	gpointer descriptor;
};

static gboolean
source_prepare(GSource *source, gint *timeout_ms)
{
	*timeout_ms = -1; /* the descriptor becomes readable when a timer is due */
	return mely_next_timeout(((struct source *)source)->rt) == 0;
}

static gboolean
source_check(GSource *source)
{
	struct source *s = (struct source *)source;

	return g_source_query_unix_fd(source, s->descriptor) != 0;
}

/* The callback is called when a stop has ended the run. */
static gboolean
source_dispatch(GSource *source, GSourceFunc ended, gpointer data)
{
	if (mely_run_once_for(((struct source *)source)->rt, 0) >= 0)
		return G_SOURCE_CONTINUE;
	if (ended != NULL)
		(void)ended(data);
	return G_SOURCE_REMOVE;
}

static GSourceFuncs source_funcs = {source_prepare, source_check, source_dispatch, NULL, NULL,
    NULL};

/* NULL: the runtime has no descriptor to give. */
static GSource *
source_new(struct mely_runtime *rt)
{
	int fd = mely_backend_fd(rt);
	GSource *source;

	if (fd < 0)
		return NULL;
	source = g_source_new(&source_funcs, sizeof(struct source));
	((struct source *)source)->rt = rt;
	((struct source *)source)->descriptor = g_source_add_unix_fd(source, fd, G_IO_IN);
	return source;
}

/* ---- the program ----------------------------------------------------------------------------- */

static struct mely_runtime *rt;
static struct mely_color *color;
static mely_watch timer;
static int ticks, posts, wanted = TICKS; /* of the color */
static uint64_t due_ns, late_ns[MEASURED];

static void
stop_when_done(void)
{
	if (ticks == wanted && (posts == POSTS || wanted == MEASURED))
		mely_stop(rt, MELY_STOP_DRAIN);
}

static void on_timer(void *arg);
static struct mely_handler timer_handler = MELY_HANDLER(on_timer);

static void
start_timer(void)
{
	due_ns = mely_now_ns() + 1 * MILLISECONDS;
	if (mely_timer_start(color, 1 * MILLISECONDS, 0, 0, &timer_handler, NULL, &timer) != 0)
		exit(1);
}

static void
on_timer(void *arg)
{
	(void)arg;
	late_ns[ticks++] = mely_now_ns() - due_ns;
	if (ticks < wanted)
		start_timer();
	stop_when_done();
}

static void
on_post(void *arg)
{
	(void)arg;
	posts++;
	stop_when_done();
}

static struct mely_handler post = MELY_HANDLER(on_post);

static gboolean
post_to_runtime(gpointer data)
{
	int *left = data;

	mely_post(color, &post, NULL);
	return --*left > 0;
}

static gboolean
on_ended(gpointer loop)
{
	g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static int
by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int
main(int argc, char **argv)
{
	GMainLoop *loop = g_main_loop_new(NULL, FALSE);
	GSource *source;
	int left = POSTS;

	if (argc > 1 && strcmp(argv[1], "--measure") == 0)
		wanted = MEASURED;
	if (mely_runtime_new(&rt, NULL) != 0 || mely_color_of_id(rt, 1, &color) != 0)
		return 1;
	source = source_new(rt);
	if (source == NULL)
		return 1;
	g_source_set_callback(source, on_ended, loop, NULL);
	g_source_attach(source, NULL);
	start_timer();
	if (wanted == TICKS)
		g_timeout_add(1, post_to_runtime, &left);
	g_main_loop_run(loop);
	g_source_unref(source);
	g_main_loop_unref(loop);
	if (wanted == MEASURED) {
		qsort(late_ns, MEASURED, sizeof late_ns[0], by_size);
		printf("timers: late by %llu us in the middle, 99 %% by less than %llu us\n",
		    (unsigned long long)late_ns[MEASURED / 2] / 1000,
		    (unsigned long long)late_ns[MEASURED * 99 / 100] / 1000);
	} else {
		printf("%d ticks, %d posts\n", ticks, posts);
	}
	return mely_runtime_free(rt);
}
