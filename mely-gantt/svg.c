/* SPDX-License-Identifier: MIT */
/*
 * svg.c: see svg.h.
 */
#include "svg.h"

#include <math.h>
#include <string.h>

/* Bytes of the UTF-8 character at text; 1 for what is none. */
static size_t
character(const char *text)
{
	unsigned char c = (unsigned char)*text;
	size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
	}
	return n;
}

static size_t
one(FILE *out, const char *text)
{
	size_t n = character(text);
	unsigned char c = (unsigned char)*text;

	switch (c) {
	case '&':
		fputs("&amp;", out);
		return 1;
	case '<':
		fputs("&lt;", out);
		return 1;
	case '>':
		fputs("&gt;", out);
		return 1;
	case '"':
		fputs("&quot;", out);
		return 1;
	default:
		break;
	}
	/* Neither control characters nor surrogates nor U+FFFE and U+FFFF may be in XML. */
	if (n == 0 || (c < ' ' && c != '\t') || c == 0x7f
	    || (n == 3 && c == 0xed && (unsigned char)text[1] >= 0xa0)
	    || (n == 3 && memcmp(text, "\357\277", 2) == 0 && (unsigned char)text[2] >= 0xbe)
	    || (n == 3 && c == 0xe0 && (unsigned char)text[1] < 0xa0)
	    || (n == 4 && c == 0xf0 && (unsigned char)text[1] < 0x90)
	    || (n == 4 && c == 0xf4 && (unsigned char)text[1] >= 0x90)) {
		fputc('?', out);
		return n == 0 ? 1 : n;
	}
	fwrite(text, 1, n, out);
	return n;
}

void
gantt_svg_escaped(FILE *out, const char *text)
{
	while (*text != '\0')
		text += one(out, text);
}

void
gantt_svg_cut(FILE *out, const char *text, size_t characters)
{
	size_t n = 0, length;

	for (const char *at = text; *at != '\0'; at += length > 0 ? length : 1) {
		length = character(at);
		n++;
	}
	if (n <= characters) {
		gantt_svg_escaped(out, text);
		return;
	}
	for (size_t i = 1; i < characters; i++)
		text += one(out, text);
	fputs("\342\200\246", out);
}

void
gantt_svg_number(FILE *out, double value)
{
	char text[64];
	size_t length;

	value = round(value * 100) / 100;
	/* No "-0". */
	length = (size_t)snprintf(text, sizeof text, "%.2f", value == 0 ? 0 : value);
	while (text[length - 1] == '0')
		length--;
	if (text[length - 1] == '.')
		length--;
	fwrite(text, 1, length, out);
}

void
gantt_svg_rect(FILE *out, const char *class_name, double x, double y, double width, double height)
{
	fprintf(out, "<rect class=\"%s\" x=\"", class_name);
	gantt_svg_number(out, x);
	fputs("\" y=\"", out);
	gantt_svg_number(out, y);
	fputs("\" width=\"", out);
	gantt_svg_number(out, width);
	fputs("\" height=\"", out);
	gantt_svg_number(out, height);
	fputs("\">", out);
}

void
gantt_svg_text(FILE *out, const char *class_name, enum gantt_anchor anchor, double x, double y,
    const char *text)
{
	static const char *const anchors[] = {
		"", " text-anchor=\"middle\"", " text-anchor=\"end\""
	};

	fprintf(out, "<text class=\"%s\"%s x=\"", class_name, anchors[anchor]);
	gantt_svg_number(out, x);
	fputs("\" y=\"", out);
	gantt_svg_number(out, y);
	fputs("\">", out);
	gantt_svg_escaped(out, text);
	fputs("</text>\n", out);
}

char *
gantt_commas(unsigned long long number, char *text, size_t size)
{
	char digits[32];
	size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", number), to = 0;

	for (size_t i = 0; i < length && to + 2 < size; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			text[to++] = ',';
		text[to++] = digits[i];
	}
	text[to] = '\0';
	return text;
}
