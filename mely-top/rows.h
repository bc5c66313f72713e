/* SPDX-License-Identifier: MIT */
/*
 * rows.h: a sample as lines of text, for the screen and for --once. Each function writes one line
 * without a newline, cut to width, to buf, which has ROW_MOST bytes.
 */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

#include "sample.h"

enum { ROW_MOST = 1024 };

/* The characters of a bar. */
enum { BAR_BUSY = '#', BAR_STEAL = '+', BAR_POLL = '-', BAR_SLEEP = '.', BAR_AWAY = ' ' };

/* "17 us", at most 6 characters; "-" if unknown. */
void row_time(char *buf, size_t size, uint64_t ns);
/* "1.23M", at most 5 characters. */
void row_rate(char *buf, size_t size, double rate);
/* "2d 3:04:05" */
void row_span(char *buf, size_t size, uint64_t seconds);

void row_title(char *buf, int width, const struct sample *sample);
void row_totals(char *buf, int width, const struct sample *sample);
void row_steals(char *buf, int width, const struct sample *sample);
/* A core in width characters: number, bar and percentage, and more if there is room. *bar and
 * *bar_width: the place of its bar. */
void row_core(char *buf, int width, const struct sample *sample, uint32_t core, int *bar,
    int *bar_width);
/* where: the rows that are shown; may be empty. */
void row_handlers_head(char *buf, int width, const char *where);
void row_handler(char *buf, int width, const struct sample *sample,
    const struct handler_rates *handler);
void row_colors_head(char *buf, int width, const char *where);
void row_color(char *buf, int width, const struct sample *sample,
    const struct mely_stats_color *color);

#endif
