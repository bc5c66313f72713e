/* SPDX-License-Identifier: MIT */
/*
 * rows.h: a sample as lines of text, for the screen and for --once. Each writes one line without a
 * newline, cut to width, into buf, which has ROW_MOST bytes.
 */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

#include "sample.h"

enum { ROW_MOST = 1024 };

/* What a bar is made of. */
enum { BAR_BUSY = '#', BAR_STEAL = '+', BAR_POLL = '-', BAR_SLEEP = '.', BAR_AWAY = ' ' };

/* "17 us", at most 6 characters; "-" for nothing known. */
void row_time(char *buf, size_t size, uint64_t ns);
/* "1.23M", at most 5 characters. */
void row_rate(char *buf, size_t size, double rate);
/* "2d 3:04:05" */
void row_span(char *buf, size_t size, uint64_t seconds);

void row_title(char *buf, int width, const struct sample *sample);
void row_totals(char *buf, int width, const struct sample *sample);
void row_steals(char *buf, int width, const struct sample *sample);
/* A core in so many characters: number, bar and per cent, and more where there is room. *bar and
 * *bar_width: where its bar is. */
void row_core(char *buf, int width, const struct sample *sample, uint32_t core, int *bar,
    int *bar_width);
/* where: which rows are shown; may be empty. */
void row_handlers_head(char *buf, int width, const char *where);
void row_handler(char *buf, int width, const struct sample *sample,
    const struct handler_rates *handler);
void row_colors_head(char *buf, int width, const char *where);
void row_color(char *buf, int width, const struct sample *sample,
    const struct mely_stats_color *color);

#endif
