/* SPDX-License-Identifier: MIT */
/*
 * view.h: the layout of the screen. Each time everything is drawn again; ncurses finds out what has
 * changed.
 */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include "sample.h"

enum view_pane { PANE_CORES, PANE_HANDLERS, PANE_COLORS, PANES };

struct view {
	const struct sample *sample;  /* NULL: none yet */
	enum handler_order order;
	bool longest;                 /* colors with most events first, not the oldest */
	bool paused, help;
	enum view_pane focus;         /* what the arrows scroll */
	int scroll[PANES];            /* first row shown; view_draw keeps it in range */
	int page[PANES];              /* rows shown; view_draw sets it */
	const char *message;          /* at the bottom; NULL: the keys */
};

/* After the terminal is opened. */
void view_begin(void);
void view_draw(struct view *view);

#endif
