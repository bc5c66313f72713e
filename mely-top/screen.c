/* SPDX-License-Identifier: MIT */
/*
 * screen.c: snapshots, keys and the loop of the view.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ncurses.h>

#include "screen.h"
#include "view.h"

enum { ANSWER_MS = 1000 };

struct screen {
	struct link *link;
	const struct top_options *options;
	struct mely_stats *now, *before;  /* snapshots; NULL: none yet */
	struct sample sample;
	struct view view;
	bool since_start;
	bool over;                        /* the program has ended */
	bool quit;
	char message[128];
	uint64_t due_ns;
};

static volatile sig_atomic_t interrupted;

static void
interrupt(int signo)
{
	(void)signo;
	interrupted = 1;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static void
say(struct screen *s, const char *text)
{
	snprintf(s->message, sizeof s->message, "%s", text);
	s->view.message = s->message;
}

/* Make the sample again, from the snapshots. */
static void
resample(struct screen *s)
{
	if (s->now == NULL)
		return;
	sample_free(&s->sample);
	s->view.sample = NULL;
	if (!sample_make(&s->sample, s->now, s->since_start ? NULL : s->before)) {
		say(s, "out of memory");
		return;
	}
	sample_sort(&s->sample, s->view.order);
	s->view.sample = &s->sample;
}

static int
ask(struct screen *s, struct mely_stats **stats)
{
	char request[64];

	snprintf(request, sizeof request, "stats colors %u%s\n", s->options->colors,
	    s->view.longest ? " longest" : "");
	return link_look(s->link, request, stats);
}

/* Connect again if the connection is broken: the program closes it during a pause. */
static int
reconnect(struct screen *s)
{
	int error;

	link_close(s->link);
	error = link_open(s->link, s->link->path);
	s->link->patience_ms = ANSWER_MS;
	return error;
}

static void
look(struct screen *s)
{
	struct mely_stats *stats = NULL;
	int error = s->link->fd >= 0 ? ask(s, &stats) : -ECONNRESET;

	if (error == -ECONNRESET || error == -EPIPE) {
		error = reconnect(s);
		if (error == 0)
			error = ask(s, &stats);
		else
			s->over = error == -ECONNREFUSED || error == -ENOENT;
	}
	if (error == 0) {
		free(s->before);
		s->before = s->now;
		s->now = stats;
		s->view.message = NULL;
		resample(s);
		return;
	}
	if (error == -EREMOTEIO)
		say(s, "the program is busy with other viewers");
	else if (error == -ETIMEDOUT)
		say(s, "the program does not answer");
	else
		say(s, strerror(-error));
	link_close(s->link); /* a late answer must not be taken for the next one */
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void
order(struct screen *s, enum handler_order by)
{
	s->view.order = by;
	if (s->view.sample != NULL)
		sample_sort(&s->sample, by);
}

static bool
order_key(struct screen *s, int c)
{
	static const char keys[HANDLER_ORDERS + 1] = "tea9dsn";
	const char *at = c > 0 && c < 128 ? strchr(keys, c) : NULL;

	if (at == NULL || *at == '\0')
		return false;
	order(s, (enum handler_order)(at - keys));
	return true;
}

static bool
scroll_key(struct screen *s, int c)
{
	struct view *view = &s->view;
	int *scroll = &view->scroll[view->focus], page = view->page[view->focus];

	switch (c) {
	case KEY_UP:
		--*scroll;
		return true;
	case KEY_DOWN:
		++*scroll;
		return true;
	case KEY_PPAGE:
		*scroll -= page;
		return true;
	case KEY_NPAGE:
		*scroll += page;
		return true;
	case KEY_HOME:
		*scroll = 0;
		return true;
	case KEY_END:
		*scroll = 1 << 20; /* view_draw keeps it in range */
		return true;
	default:
		return false;
	}
}

static void
key(struct screen *s, int c)
{
	if (scroll_key(s, c) || order_key(s, c))
		return;
	switch (c) {
	case 'q':
		s->quit = true;
		break;
	case ' ':
	case 'p':
		s->view.paused = !s->view.paused;
		break;
	case 'i':
		s->since_start = !s->since_start;
		resample(s);
		break;
	case 'c':
		s->view.longest = !s->view.longest;
		s->due_ns = 0;
		break;
	case '\t':
		s->view.focus = (s->view.focus + 1) % PANES;
		break;
	case 'h':
	case '?':
		s->view.help = !s->view.help;
		break;
	default:
		break;
	}
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void
loop(struct screen *s)
{
	while (!s->quit && !s->over && !interrupted) {
		uint64_t now_ns = mely_now_ns();

		if (!s->view.paused && now_ns >= s->due_ns) {
			look(s);
			/* One interval between snapshots, but always some pause. */
			s->due_ns += s->options->interval_ns;
			if (s->due_ns < now_ns)
				s->due_ns = now_ns + s->options->interval_ns;
		}
		if (s->over)
			break;
		view_draw(&s->view);
		now_ns = mely_now_ns();
		timeout(s->view.paused ? 1000 : s->due_ns > now_ns ?
		    (int)((s->due_ns - now_ns) / 1000000 + 1) : 0);
		key(s, getch());
	}
}

int
screen_run(struct link *link, const struct top_options *options)
{
	struct screen s = {.link = link, .options = options};
	struct sigaction action = {.sa_handler = interrupt};
	SCREEN *terminal;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fputs("mely-top: standard output is not a terminal (try --once)\n", stderr);
		return 1;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	terminal = newterm(NULL, stdout, stdin);
	if (terminal == NULL) {
		fprintf(stderr, "mely-top: unknown terminal TERM=%s (try --once)\n",
		    getenv("TERM") != NULL ? getenv("TERM") : "");
		return 1;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	view_begin();
	s.link->patience_ms = ANSWER_MS;
	loop(&s);
	endwin();
	delscreen(terminal);
	if (s.over)
		printf("mely-top: process %u has ended\n", s.now != NULL ? s.now->pid : 0);
	sample_free(&s.sample);
	free(s.now);
	free(s.before);
	return 0;
}
