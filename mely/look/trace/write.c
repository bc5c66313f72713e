/* SPDX-License-Identifier: MIT */
/*
 * write.c: the file of a trace, in the format of docs/internals/trace.md. Calls nothing that
 * a signal handler may not call: it is one that writes the trace of a program that dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/core.h"
#include "look/trace/tracer.h"
#include "look/trace/scratch.h"

/* What all lines need. */
struct writer {
	struct melyint_scratch *s;
	struct melyint_out *out;
	const struct melyint_tracer *tracer;
	uint64_t length_ns;   /* of the trace */
	uint64_t ns_per_tick; /* fixed point, 32 bits of fraction */
	bool any;             /* a line has been written */
};

/* ---- parts of a line ------------------------------------------------------------------------- */

/* Since the trace began. */
static uint64_t
ns_at(const struct writer *w, uint64_t ticks)
{
	uint64_t start = w->tracer->start_ticks, ns;

	if (ticks <= start)
		return 0;
	ns = (uint64_t)(((unsigned __int128)(ticks - start) * w->ns_per_tick) >> 32);
	return ns < w->length_ns ? ns : w->length_ns;
}

static void
text(struct writer *w, const char *part)
{
	melyint_out_text(w->out, part);
}

static void
number(struct writer *w, const char *key, uint64_t value)
{
	text(w, key);
	melyint_out_number(w->out, value);
}

/* {"ph":"X","pid":1,"tid":0 */
static void
begin_line(struct writer *w, const char *phase, int row)
{
	text(w, w->any ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	w->any = true;
	text(w, phase);
	number(w, "\",\"pid\":", (uint64_t)w->tracer->pid);
	if (row >= 0)
		number(w, ",\"tid\":", (uint64_t)row);
}

static void
begin_timed(struct writer *w, const char *phase, int row, uint64_t ns)
{
	begin_line(w, phase, row);
	text(w, ",\"ts\":");
	melyint_out_us(w->out, ns);
}

/* Up to the name, which follows. */
static void
begin_slice(struct writer *w, int row, uint64_t from_ns, uint64_t to_ns, const char *category)
{
	begin_timed(w, "X", row, from_ns);
	text(w, ",\"dur\":");
	melyint_out_us(w->out, to_ns > from_ns ? to_ns - from_ns : 0);
	text(w, ",\"cat\":\"");
	text(w, category);
	text(w, "\",\"name\":");
}

static void
put_color(struct writer *w, const struct melyint_record *record)
{
	unsigned flags = record->flags & MELYINT_TRACE_OBJECT;
	const char *name = melyint_scratch_name(w->s, record->color, flags, record->ticks);

	text(w, "\"color\":\"");
	if (flags)
		melyint_out_hex(w->out, record->color);
	else
		melyint_out_number(w->out, record->color);
	text(w, "\"");
	if (name != NULL) {
		text(w, ",\"color_name\":");
		melyint_out_string(w->out, name);
	}
}

static void
put_arrow(struct writer *w, const char *phase, int row, uint64_t ns, const char *category,
    uint64_t arrow)
{
	begin_timed(w, phase, row, ns);
	text(w, ",\"cat\":\"");
	text(w, category);
	text(w, "\",\"name\":\"");
	text(w, category);
	number(w, "\",\"id\":", arrow);
	text(w, phase[0] == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* How far a row has been written. */
struct place {
	int row;
	bool open;         /* a slice is, */
	uint64_t from_ns;  /* ... from here */
	uint32_t waiting;  /* the last number of color-queues written */
};

static void
put_run(struct writer *w, struct place *place, const struct melyint_record *run, uint64_t to_ns,
    bool ended)
{
	begin_slice(w, place->row, place->from_ns, to_ns, "event");
	melyint_out_string(w->out, melyint_trace_handler_name(run->number));
	text(w, ",\"args\":{");
	put_color(w, run);
	text(w, ended ? "}}" : ",\"unfinished\":true}}");
	if (run->what != 0)
		put_arrow(w, "f", place->row, place->from_ns, "post", run->what);
}

/* A slice that begins with this record. */
static void
put_slice(struct writer *w, struct place *place, const struct melyint_row *row, uint64_t i)
{
	const struct melyint_record *record = &row->records[i], *end;
	uint64_t to = melyint_row_end(row, i);
	bool ended = to < row->count;
	uint64_t to_ns;

	end = ended ? &row->records[to] : NULL;
	to_ns = ended ? ns_at(w, end->ticks) : w->length_ns;
	place->open = true;
	place->from_ns = ns_at(w, record->ticks);
	if (record->kind == MELYINT_TRACE_RUN) {
		put_run(w, place, record, to_ns, ended);
		return;
	}
	begin_slice(w, place->row, place->from_ns, to_ns,
	    record->kind == MELYINT_TRACE_SLEEP ? "sleep" : "poll");
	text(w, record->kind == MELYINT_TRACE_SLEEP ? "\"sleep\",\"args\":{" :
	    "\"poll\",\"args\":{");
	if (!ended)
		text(w, "\"unfinished\":true");
	else if (end->kind == MELYINT_TRACE_POLLED)
		number(w, "\"found\":", end->number);
	text(w, "}}");
}

/* Where a post has an arrow. */
static void
put_post(struct writer *w, struct place *place, const struct melyint_record *post)
{
	bool own = post->kind == MELYINT_TRACE_OWN_POST;
	uint64_t ns;

	if (post->color == 0 || (own && !place->open))
		return;
	ns = own ? place->from_ns : ns_at(w, post->ticks);
	if (!place->open) {
		begin_slice(w, place->row, ns, ns + 1, "post");
		text(w, "\"post\",\"args\":{}}");
	}
	put_arrow(w, "s", place->row, ns, "post", post->color);
}

/* The thief's side. */
static void
put_steal(struct writer *w, struct place *place, const struct melyint_record *steal)
{
	begin_slice(w, place->row, ns_at(w, steal->ticks), ns_at(w, steal->what), "steal");
	number(w, "\"steal\",\"args\":{\"victim\":", steal->other);
	text(w, ",");
	put_color(w, steal);
	text(w, steal->number != 0 ? ",\"reason\":\"balance\"}}" : ",\"reason\":\"idle\"}}");
}

static void
put_waiting(struct writer *w, struct place *place, const struct melyint_record *batch)
{
	if (batch->number == place->waiting)
		return;
	place->waiting = batch->number;
	begin_timed(w, "C", place->row, ns_at(w, batch->ticks));
	number(w, ",\"cat\":\"queue\",\"name\":\"core ", (uint64_t)place->row);
	number(w, " queue\",\"args\":{\"colors\":", batch->number);
	text(w, "}}");
}

static void
put_wake(struct writer *w, struct place *place, const struct melyint_record *wake)
{
	begin_timed(w, "i", place->row, ns_at(w, wake->ticks));
	number(w, ",\"s\":\"t\",\"cat\":\"wake\",\"name\":\"wake\",\"args\":{\"core\":",
	    wake->other);
	text(w, "}}");
}

static void
put_row(struct writer *w, int r)
{
	const struct melyint_row *row = &w->s->rows[r];
	struct place place = {.row = r, .waiting = UINT32_MAX};
	uint64_t i;

	for (i = 0; i < row->count; i++) {
		const struct melyint_record *record = &row->records[i];

		switch (record->kind) {
		case MELYINT_TRACE_RUN:
		case MELYINT_TRACE_SLEEP:
		case MELYINT_TRACE_POLL:
			put_slice(w, &place, row, i);
			break;
		case MELYINT_TRACE_OWN_POST:
		case MELYINT_TRACE_POST:
			put_post(w, &place, record);
			break;
		case MELYINT_TRACE_WAKE:
			put_wake(w, &place, record);
			break;
		case MELYINT_TRACE_STEAL:
			place.open = false;
			put_steal(w, &place, record);
			break;
		case MELYINT_TRACE_BATCH:
			put_waiting(w, &place, record);
			place.open = false;
			break;
		default: /* POLLED, AWAKE */
			place.open = false;
		}
	}
}

/* The victims' side, when all rows have their slices, and the arrows. */
static void
put_steals(struct writer *w, int r)
{
	const struct melyint_row *row = &w->s->rows[r];
	uint64_t i;

	for (i = 0; i < row->count; i++) {
		const struct melyint_record *steal = &row->records[i];
		uint64_t ns;

		if (steal->kind != MELYINT_TRACE_STEAL || steal->other >= w->s->rows_count)
			continue;
		ns = ns_at(w, steal->ticks);
		begin_slice(w, steal->other, ns, ns + 1, "stolen");
		number(w, "\"stolen\",\"args\":{\"thief\":", (uint64_t)r);
		text(w, ",");
		put_color(w, steal);
		text(w, "}}");
		put_arrow(w, "s", steal->other, ns, "steal", ++w->s->arrows);
		put_arrow(w, "f", r, ns, "steal", w->s->arrows);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void
put_names(struct writer *w)
{
	int r, cores = w->s->rows_count - 1;

	begin_line(w, "M", -1);
	text(w, ",\"name\":\"process_name\",\"args\":{\"name\":");
	melyint_out_string(w->out, program_invocation_short_name);
	text(w, "}}");
	for (r = 0; r <= cores; r++) {
		begin_line(w, "M", r);
		text(w, ",\"name\":\"thread_name\",\"args\":{\"name\":\"");
		if (r < cores)
			number(w, "core ", (uint64_t)r);
		else
			text(w, "outside");
		text(w, "\"}}");
		begin_line(w, "M", r);
		number(w, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":", (uint64_t)r);
		text(w, "}}");
	}
}

static void
put_other(struct writer *w, const char *why, uint64_t paired)
{
	const struct melyint_scratch *s = w->s;
	int r;

	text(w, "\"otherData\":{\"producer\":\"mely " MELY_VERSION_STRING "\"");
	number(w, ",\"cores\":", (uint64_t)(s->rows_count - 1));
	number(w, ",\"sample\":", w->tracer->sample);
	text(w, ",\"end\":");
	melyint_out_string(w->out, why);
	number(w, ",\"start_ns\":", w->tracer->start_ns);
	number(w, ",\"length_ns\":", w->length_ns);
	for (r = 0; r < s->rows_count; r++)
		number(w, r == 0 ? ",\"lost\":[" : ",", s->rows[r].lost);
	number(w, "],\"posts_open\":", s->posts - paired);
	number(w, ",\"events_unposted\":", s->runs - paired);
	text(w, "}}\n");
}

static void
put_all(struct writer *w, const char *why)
{
	uint64_t paired = w->s->arrows;
	int r;

	text(w, "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n");
	put_names(w);
	for (r = 0; r < w->s->rows_count && w->out->error == 0; r++)
		put_row(w, r);
	for (r = 0; r < w->s->rows_count && w->out->error == 0; r++)
		put_steals(w, r);
	text(w, "\n],\n");
	put_other(w, why, paired);
}

/* The rate of the cheap counter, over the length of the trace: better than a short measurement. */
static void
settle_clock(struct writer *w)
{
	uint64_t ticks = w->s->end_ticks - w->tracer->start_ticks;

	w->length_ns = melyint_now_ns() - w->tracer->start_ns;
	w->ns_per_tick = 1ull << 32;
	if (ticks != 0)
		w->ns_per_tick =
		    (uint64_t)(((unsigned __int128)w->length_ns << 32) / ticks);
}

int
melyint_trace_write(struct melyint_tracer *tracer, const char *why)
{
	struct writer w = {.s = tracer->scratch, .out = &tracer->scratch->out, .tracer = tracer};
	bool renamed = strcmp(tracer->path, tracer->temporary) != 0;
	int error, fd;

	fd = renamed ? open(tracer->temporary, MELYINT_TRACE_MAKE, 0666) :
	    open(tracer->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	melyint_out_init(w.out, fd);
	melyint_scratch_copy(w.s, tracer);
	settle_clock(&w);
	melyint_trace_pair(w.s);
	put_all(&w, why);
	error = melyint_out_flush(w.out);
	if (close(fd) < 0 && error == 0)
		error = -errno;
	if (!renamed) /* a device, or a pipe: to be left alone */
		return error;
	if (error == 0 && rename(tracer->temporary, tracer->path) < 0)
		error = -errno;
	if (error != 0)
		(void)unlink(tracer->temporary); /* half a file helps nobody */
	return error;
}
