/* SPDX-License-Identifier: MIT */
/*
 * view.c: draw the screen.
 */
#include <stdio.h>
#include <string.h>

#include <ncurses.h>

#include "rows.h"
#include "view.h"

enum {
	FIXED = 7,       /* other lines: title, totals, steals, 3 heads, keys */
	CELL = 20,       /* columns that a core needs */
	CELL_MOST = 110,
	CORES_LEAST = 2
};

enum { PAIR_BUSY = 1, PAIR_STEAL, PAIR_POLL, PAIR_SLEEP };

void
view_begin(void)
{
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_BUSY, COLOR_GREEN, -1);
	init_pair(PAIR_STEAL, COLOR_YELLOW, -1);
	init_pair(PAIR_POLL, COLOR_BLUE, -1);
	init_pair(PAIR_SLEEP, -1, -1);
}

static void
put(int y, int x, attr_t how, const char *line)
{
	if (y >= LINES || x >= COLS)
		return;
	attrset(how);
	mvaddnstr(y, x, line, COLS - x);
	attrset(A_NORMAL);
}

/* A line across the screen. */
static void
put_head(int y, attr_t how, const char *line)
{
	if (y >= LINES)
		return;
	attrset(how);
	mvhline(y, 0, ' ', COLS);
	put(y, 0, how, line);
}

static attr_t
mark_how(char mark)
{
	switch (mark) {
	case BAR_BUSY:
		return (attr_t)COLOR_PAIR(PAIR_BUSY) | A_BOLD;
	case BAR_STEAL:
		return (attr_t)COLOR_PAIR(PAIR_STEAL) | A_BOLD;
	case BAR_POLL:
		return (attr_t)COLOR_PAIR(PAIR_POLL) | A_BOLD;
	default:
		return (attr_t)COLOR_PAIR(PAIR_SLEEP);
	}
}

/* ---- cores ----------------------------------------------------------------------------------- */

static void
draw_core(int y, int x, int width, const struct sample *sample, uint32_t core)
{
	char line[ROW_MOST];
	int bar, bar_width, i;

	row_core(line, width, sample, core, &bar, &bar_width);
	put(y, x, A_NORMAL, line);
	for (i = bar; i < bar + bar_width && line[i] != '\0' && x + i < COLS && y < LINES; i++) {
		attrset(mark_how(line[i]));
		mvaddch(y, x + i, (chtype)line[i]);
	}
	attrset(A_NORMAL);
}

/* Cores side by side, in that number of rows. */
static int
columns_for(int cores, int rows)
{
	int most = COLS / CELL > 1 ? COLS / CELL : 1, columns = 1;

	while (columns < most && (cores + columns - 1) / columns > rows)
		columns++;
	return columns;
}

static int
in_range(int value, int least, int most)
{
	return value > most ? most : value < least ? least : value;
}

/* Keep the first row shown in range. */
static int
scrolled(struct view *view, enum view_pane pane, int rows, int height)
{
	view->page[pane] = height;
	view->scroll[pane] = in_range(view->scroll[pane], 0, rows > height ? rows - height : 0);
	return view->scroll[pane];
}

/* "9-16 of 256" if not all are shown. */
static const char *
where(char *buf, size_t size, int first, int shown, int all)
{
	buf[0] = '\0';
	if (shown < all)
		snprintf(buf, size, "%d-%d of %d", first + 1, first + shown, all);
	return buf;
}

static void
put_pane(int y, const struct view *view, enum view_pane pane, const char *line)
{
	put_head(y, view->focus == pane ? A_REVERSE | A_BOLD : A_REVERSE, line);
}

/* Returns the line after the last. */
static int
draw_cores(struct view *view, int y, int height)
{
	const struct sample *sample = view->sample;
	int cores = (int)sample->now->cores_count, columns = columns_for(cores, height);
	int rows = (cores + columns - 1) / columns, width = COLS / columns, first, row, column;
	char range[48], line[ROW_MOST];
	int shown = 0;

	if (rows < height)
		height = rows;
	first = scrolled(view, PANE_CORES, rows, height);
	for (row = 0; row < height; row++) {
		for (column = 0; column < columns; column++) {
			int core = (first + row) * columns + column;

			if (core >= cores)
				continue;
			draw_core(y + 1 + row, column * width,
			    (width < CELL_MOST ? width : CELL_MOST) - (columns > 1), sample,
			    (uint32_t)core);
			shown++;
		}
	}
	snprintf(line, sizeof line, "CORES  # busy  + stealing  - polling  . asleep   %s",
	    where(range, sizeof range, first * columns, shown, cores));
	put_pane(y, view, PANE_CORES, line);
	return y + 1 + height;
}

/* ---- handlers and colors --------------------------------------------------------------------- */

static int
draw_handlers(struct view *view, int y, int height)
{
	int all = (int)view->sample->handlers_count, first, i;
	char line[ROW_MOST], range[48];

	first = scrolled(view, PANE_HANDLERS, all, height);
	for (i = 0; i < height && first + i < all; i++) {
		row_handler(line, COLS, view->sample, &view->sample->handlers[first + i]);
		put(y + 1 + i, 0, A_NORMAL, line);
	}
	row_handlers_head(line, COLS, where(range, sizeof range, first, i, all));
	put_pane(y, view, PANE_HANDLERS, line);
	return y + 1 + height;
}

static void
draw_colors(struct view *view, int y, int height)
{
	const struct mely_stats *now = view->sample->now;
	int all = (int)now->colors_count, found, first, i;
	char line[ROW_MOST], range[48];

	first = scrolled(view, PANE_COLORS, all, height);
	for (i = 0; i < height && first + i < all; i++) {
		row_color(line, COLS, view->sample,
		    mely_stats_color_row(now, (uint32_t)(first + i)));
		put(y + 1 + i, 0, A_NORMAL, line);
	}
	found = now->colors_found > INT32_MAX ? INT32_MAX : (int)now->colors_found;
	row_colors_head(line, COLS, where(range, sizeof range, first, i, found));
	put_pane(y, view, PANE_COLORS, line);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void
draw_help(void)
{
	static const char *const lines[] = {
	    "                                                             ",
	    "  q            quit                                          ",
	    "  space, p     pause, resume                                 ",
	    "  i            rates of the last interval, or since the start",
	    "  t e a 9 d s n  order of the handlers: time, events, average,",
	    "               p99, p99 of the delay, stalls, name           ",
	    "  c            colors: the oldest first, or the longest      ",
	    "  tab          what the arrows scroll: cores, handlers, colors",
	    "  arrows, page up, page down, home, end                      ",
	    "  h, ?         show and hide this help                       ",
	    "                                                             ",
	    "  TIME, PEN    what stealing uses: A annotated,              ",
	    "               M measured or learned                         ",
	    "  DELAY99      from the post to the run, 99th percentile     ",
	    "  ST           stalls: ran for longer than the limit         ",
	    "  R, P, +      color runs, is pinned; at least               ",
	    "                                                             ",
	};
	int n = (int)(sizeof lines / sizeof lines[0]), i;
	int y = LINES > n ? (LINES - n) / 2 : 0, x = COLS > 63 ? (COLS - 63) / 2 : 0;
	char line[80];

	for (i = 0; i < n; i++) {
		snprintf(line, sizeof line, "%-63.63s", lines[i]);
		put(y + i, x, A_REVERSE, line);
	}
}

static void
draw_sample(struct view *view)
{
	const struct sample *sample = view->sample;
	int rows = LINES > FIXED + 3 ? LINES - FIXED : 3, cores, colors, y;
	char line[ROW_MOST];

	row_title(line, COLS, sample);
	put(0, 0, A_BOLD, line);
	row_totals(line, COLS, sample);
	put(1, 0, A_NORMAL, line);
	row_steals(line, COLS, sample);
	put(2, 0, A_NORMAL, line);
	cores = rows / 3 > CORES_LEAST ? rows / 3 : CORES_LEAST;
	y = draw_cores(view, 3, cores);
	/* The rest is for the handlers; the colors get a third of it, or what they need. */
	rows = LINES - y - 3 > 2 ? LINES - y - 3 : 2;
	colors = in_range((int)sample->now->colors_count, 1, rows / 3 > 1 ? rows / 3 : 1);
	if ((int)sample->handlers_count < rows - colors)
		colors = rows - in_range((int)sample->handlers_count, 1, rows - 1);
	y = draw_handlers(view, y, rows - colors);
	draw_colors(view, y, colors);
}

void
view_draw(struct view *view)
{
	static const char *const orders[HANDLER_ORDERS] = {"time", "events", "average", "p99",
	    "delay", "stalls", "name"};
	char line[ROW_MOST];

	erase();
	if (view->sample != NULL)
		draw_sample(view);
	if (view->help)
		draw_help();
	snprintf(line, sizeof line, "%sq quit  h help  space pause  handlers by %s  %s colors "
	    "first", view->paused ? "PAUSED  " : "", orders[view->order],
	    view->longest ? "longest" : "oldest");
	put_head(LINES - 1, view->message != NULL ? A_BOLD : A_NORMAL,
	    view->message != NULL ? view->message : line);
	move(LINES - 1, COLS - 1);
	refresh();
}
