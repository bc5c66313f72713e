/* SPDX-License-Identifier: MIT */
/*
 * svg.h: the little of SVG that the picture is made of. Text is escaped here and nowhere else.
 */
#ifndef GANTT_SVG_H
#define GANTT_SVG_H

#include <stdio.h>

/** How a text stands to its x. */
enum gantt_anchor {
	GANTT_START,
	GANTT_MIDDLE,
	GANTT_END
};

/** Text for between tags or in an attribute; what XML cannot contain becomes '?'. */
void gantt_svg_escaped(FILE *out, const char *text);

/** The same, at most this many characters, with an ellipsis where it was cut. */
void gantt_svg_cut(FILE *out, const char *text, size_t characters);

/** A coordinate: at most two decimals, none that are 0. */
void gantt_svg_number(FILE *out, double value);

/** A rectangle of a class, left open for a <title>: the caller writes it, and "</rect>". */
void gantt_svg_rect(FILE *out, const char *class_name, double x, double y, double width,
    double height);

/** One line of text of a class. */
void gantt_svg_text(FILE *out, const char *class_name, enum gantt_anchor anchor, double x,
    double y, const char *text);

/** A whole number with commas: 1,234,567. Returns text. */
char *gantt_commas(unsigned long long number, char *text, size_t size);

#endif
