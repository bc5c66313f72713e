/* SPDX-License-Identifier: MIT */
/*
 * report.c: lines about a running program, and how often they may come. Any thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/hooks.h"
#include "base/text.h"
#include "look/report.h"

static const char cut[] = "...";

#define MINUTE_NS 60000000000u
enum { A_MINUTE = 10, PATIENCE_NS = 100000000 };

void
melyint_line_add(struct melyint_line *line, const char *format, ...)
{
	/* Keep room for the dots, a newline and the zero. */
	size_t room = sizeof line->text - sizeof cut - 1;
	va_list args;
	int n;

	if (line->used >= room)
		return;
	va_start(args, format);
	n = vsnprintf(line->text + line->used, room - line->used, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n < room - line->used) {
		line->used += (size_t)n;
		return;
	}
	memcpy(line->text + room - 1, cut, sizeof cut);
	line->used = room - 1 + sizeof cut - 1;
}

void
melyint_line_number(struct melyint_line *line, uint64_t n)
{
	if (n < 1000) {
		melyint_line_add(line, "%" PRIu64, n);
		return;
	}
	melyint_line_number(line, n / 1000);
	melyint_line_add(line, ",%03" PRIu64, n % 1000);
}

bool
melyint_rate_allows(struct melyint_rate *rate, uint64_t now_ns)
{
	if (rate->began_ns == 0 || now_ns - rate->began_ns >= MINUTE_NS) {
		rate->began_ns = now_ns;
		rate->said = 0;
	}
	if (rate->said == A_MINUTE) {
		rate->hidden++;
		return false;
	}
	rate->said++;
	return true;
}

void
melyint_rate_add(struct melyint_rate *rate, struct melyint_line *line, const char *things)
{
	if (rate->hidden == 0)
		return;
	if (line->used != 0)
		melyint_line_add(line, " (%" PRIu32 " more before it not shown)", rate->hidden);
	else
		melyint_line_add(line, "%s not shown: %" PRIu32, things, rate->hidden);
	rate->hidden = 0;
}

/* Write to stderr. A line that stderr does not take is lost and counted. */
static void
put(struct mely_runtime *rt, struct melyint_line *line)
{
	static const char name[] = "mely: ";
	char whole[sizeof name + MELYINT_LINE];
	uint32_t lost = MELY_LOAD(&rt->look.lines_lost, relaxed); /* a count, as below */

	if (lost != 0)
		melyint_line_add(line, " (lines that could not be written: %" PRIu32 ")", lost);
	/* One write: lines of several threads do not mix. */
	memcpy(whole, name, sizeof name - 1);
	memcpy(whole + sizeof name - 1, line->text, line->used);
	whole[sizeof name - 1 + line->used] = '\n';
	/* Wait once for a reader that does not read, and not again. */
	if (melyint_put(whole, sizeof name + line->used, STDERR_FILENO,
	    lost == 0 ? PATIENCE_NS : 0) != 0)
		MELY_ADD(&rt->look.lines_lost, 1, relaxed);
	else
		MELY_SUB(&rt->look.lines_lost, lost, relaxed);
}

void
melyint_report(struct mely_runtime *rt, struct melyint_line *line)
{
	int error = errno;

	line->text[line->used] = '\0';
	if (rt->config.report != NULL) {
		melyint_check_report(rt, true);
		rt->config.report(rt->config.report_ctx, line->text);
		melyint_check_report(rt, false);
	} else {
		put(rt, line);
		errno = error;
	}
	line->used = 0;
	line->text[0] = '\0';
}
