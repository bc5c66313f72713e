/* SPDX-License-Identifier: MIT */
/*
 * chrome.c: a raw trace as JSON, one event a line. Written piece by piece: a trace has millions of
 * events, and a tree of them all would not fit into memory.
 */
#include "chrome.h"

#include <assert.h>
#include <inttypes.h>

#include "pair.h"

struct writer {
	FILE *out;
	const struct gantt_raw *raw;
	uint64_t arrows; /* numbered so far */
	bool any;        /* a line has been written */
};

/* ---- parts of a line ------------------------------------------------------------------------- */

/* text is valid UTF-8. */
static void
put_string(struct writer *w, const char *text)
{
	const unsigned char *at;

	putc('"', w->out);
	for (at = (const unsigned char *)text; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', w->out);
		if (*at < 0x20 || *at == 0x7f)
			fprintf(w->out, "\\u%04x", *at);
		else
			putc(*at, w->out);
	}
	putc('"', w->out);
}

/* Microseconds with three decimals. */
static void
put_us(struct writer *w, const char *key, uint64_t ns)
{
	fprintf(w->out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

/* {"ph":"X","pid":1,"tid":0 */
static void
begin_line(struct writer *w, char phase, size_t row)
{
	fprintf(w->out, "%s{\"ph\":\"%c\",\"pid\":%" PRId64 ",\"tid\":%zu",
	    w->any ? ",\n" : "", phase, w->raw->pid, row);
	w->any = true;
}

static void
begin_timed(struct writer *w, char phase, size_t row, uint64_t ns)
{
	assert(ns <= w->raw->length_ns + 1);
	begin_line(w, phase, row);
	put_us(w, "ts", ns);
}

/* Up to the name, which follows. */
static void
begin_slice(struct writer *w, size_t row, uint64_t from_ns, uint64_t to_ns, const char *category)
{
	begin_timed(w, 'X', row, from_ns);
	put_us(w, "dur", to_ns > from_ns ? to_ns - from_ns : 0);
	fprintf(w->out, ",\"cat\":\"%s\",\"name\":", category);
}

static void
put_color(struct writer *w, const struct gantt_raw_record *record)
{
	const char *name = gantt_raw_color(w->raw, record);

	if (record->flags & RAW_OBJECT)
		fprintf(w->out, "\"color\":\"0x%" PRIx64 "\"", record->color);
	else
		fprintf(w->out, "\"color\":\"%" PRIu64 "\"", record->color);
	if (name != NULL) {
		fputs(",\"color_name\":", w->out);
		put_string(w, name);
	}
}

/* phase 's': its start, 'f': its end. */
static void
put_arrow(struct writer *w, char phase, size_t row, uint64_t ns, const char *category,
    uint64_t arrow)
{
	assert(arrow != 0 && arrow <= w->arrows);
	begin_timed(w, phase, row, ns);
	fprintf(w->out, ",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 "%s", category, category,
	    arrow, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* How far a row has been written. */
struct place {
	size_t row;
	bool open;         /* a slice is, */
	uint64_t from_ns;  /* ... since then */
	uint32_t waiting;  /* the last number of color-queues written */
};

static void
put_run(struct writer *w, struct place *place, const struct gantt_raw_record *run, uint64_t to_ns,
    bool ended)
{
	begin_slice(w, place->row, place->from_ns, to_ns, "event");
	put_string(w, gantt_raw_handler(w->raw, run->number));
	fputs(",\"args\":{", w->out);
	put_color(w, run);
	fputs(ended ? "}}" : ",\"unfinished\":true}}", w->out);
	if (run->what != 0)
		put_arrow(w, 'f', place->row, place->from_ns, "post", run->what);
}

/* The slice that record i begins. */
static void
put_slice(struct writer *w, struct place *place, const struct gantt_raw_row *row, size_t i)
{
	const struct gantt_raw_record *record = &row->record[i], *end;
	size_t to = gantt_raw_slice_end(row, i);
	const char *kind;
	uint64_t to_ns;

	end = to < row->count ? &row->record[to] : NULL;
	to_ns = end != NULL ? gantt_raw_ns(w->raw, end->ticks) : w->raw->length_ns;
	place->open = true;
	place->from_ns = gantt_raw_ns(w->raw, record->ticks);
	if (record->kind == RAW_RUN) {
		put_run(w, place, record, to_ns, end != NULL && end->kind != RAW_GAP);
		return;
	}
	kind = record->kind == RAW_SLEEP ? "sleep" : "poll";
	begin_slice(w, place->row, place->from_ns, to_ns, kind);
	fprintf(w->out, "\"%s\",\"args\":{", kind);
	if (end == NULL || end->kind == RAW_GAP)
		fputs("\"unfinished\":true", w->out);
	else if (end->kind == RAW_POLLED)
		fprintf(w->out, "\"found\":%" PRIu32, end->number);
	fputs("}}", w->out);
}

/* Only posts with an arrow are shown. */
static void
put_post(struct writer *w, const struct place *place, const struct gantt_raw_record *post)
{
	bool own = post->kind == RAW_OWN_POST;
	uint64_t ns;

	if (post->color == 0 || (own && !place->open))
		return;
	ns = own ? place->from_ns : gantt_raw_ns(w->raw, post->ticks);
	if (!place->open) {
		begin_slice(w, place->row, ns, ns + 1, "post");
		fputs("\"post\",\"args\":{}}", w->out);
	}
	put_arrow(w, 's', place->row, ns, "post", post->color);
}

/* The thief's side. */
static void
put_steal(struct writer *w, const struct place *place, const struct gantt_raw_record *steal)
{
	begin_slice(w, place->row, gantt_raw_ns(w->raw, steal->ticks),
	    gantt_raw_ns(w->raw, steal->what), "steal");
	fprintf(w->out, "\"steal\",\"args\":{\"victim\":%u,", steal->other);
	put_color(w, steal);
	fprintf(w->out, ",\"reason\":\"%s\"}}", steal->number != 0 ? "balance" : "idle");
}

static void
put_waiting(struct writer *w, struct place *place, const struct gantt_raw_record *batch)
{
	if (batch->number == place->waiting)
		return;
	place->waiting = batch->number;
	begin_timed(w, 'C', place->row, gantt_raw_ns(w->raw, batch->ticks));
	fprintf(w->out, ",\"cat\":\"queue\",\"name\":\"core %zu queue\",\"args\":{\"colors\":%"
	    PRIu32 "}}", place->row, batch->number);
}

static void
put_wake(struct writer *w, const struct place *place, const struct gantt_raw_record *wake)
{
	begin_timed(w, 'i', place->row, gantt_raw_ns(w->raw, wake->ticks));
	fprintf(w->out, ",\"s\":\"t\",\"cat\":\"wake\",\"name\":\"wake\",\"args\":{\"core\":%u}}",
	    wake->other);
}

static void
put_row(struct writer *w, size_t r)
{
	const struct gantt_raw_row *row = &w->raw->row[r];
	struct place place = {.row = r, .waiting = UINT32_MAX};
	size_t i;

	for (i = 0; i < row->count; i++) {
		const struct gantt_raw_record *record = &row->record[i];

		switch ((enum gantt_raw_kind)record->kind) {
		case RAW_RUN:
		case RAW_SLEEP:
		case RAW_POLL:
			put_slice(w, &place, row, i);
			break;
		case RAW_OWN_POST:
		case RAW_POST:
			put_post(w, &place, record);
			break;
		case RAW_WAKE:
			put_wake(w, &place, record);
			break;
		case RAW_STEAL:
			place.open = false;
			put_steal(w, &place, record);
			break;
		case RAW_BATCH:
			put_waiting(w, &place, record);
			place.open = false;
			break;
		case RAW_POLLED:
		case RAW_AWAKE:
		case RAW_GAP:
			place.open = false;
			break;
		case RAW_NONE:
		case RAW_KINDS:
			break;
		}
	}
}

/* The victims' side and the arrows, once all rows have their slices. */
static void
put_steals(struct writer *w, size_t r)
{
	const struct gantt_raw_row *row = &w->raw->row[r];
	size_t i;

	for (i = 0; i < row->count; i++) {
		const struct gantt_raw_record *steal = &row->record[i];
		uint64_t ns;

		if (steal->kind != RAW_STEAL || steal->other >= w->raw->rows - 1)
			continue;
		ns = gantt_raw_ns(w->raw, steal->ticks);
		begin_slice(w, steal->other, ns, ns + 1, "stolen");
		fprintf(w->out, "\"stolen\",\"args\":{\"thief\":%zu,", r);
		put_color(w, steal);
		fputs("}}", w->out);
		w->arrows++;
		put_arrow(w, 's', steal->other, ns, "steal", w->arrows);
		put_arrow(w, 'f', r, ns, "steal", w->arrows);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void
put_names(struct writer *w)
{
	size_t r, cores = w->raw->rows - 1;

	fprintf(w->out, "{\"ph\":\"M\",\"pid\":%" PRId64 ",\"name\":\"process_name\",\"args\":"
	    "{\"name\":", w->raw->pid);
	w->any = true;
	put_string(w, w->raw->program[0] != '\0' ? w->raw->program : "(unknown)");
	fputs("}}", w->out);
	for (r = 0; r <= cores; r++) {
		begin_line(w, 'M', r);
		fputs(",\"name\":\"thread_name\",\"args\":{\"name\":\"", w->out);
		if (r < cores)
			fprintf(w->out, "core %zu", r);
		else
			fputs("outside", w->out);
		fputs("\"}}", w->out);
		begin_line(w, 'M', r);
		fprintf(w->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%zu}}",
		    r);
	}
}

static void
put_other(struct writer *w, const struct gantt_pairs *pairs)
{
	const struct gantt_raw *raw = w->raw;
	size_t r;

	fputs("\"otherData\":{\"producer\":", w->out);
	put_string(w, raw->producer);
	fprintf(w->out, ",\"cores\":%zu,\"sample\":%" PRIu32 ",\"end\":", raw->rows - 1,
	    raw->sample);
	put_string(w, raw->end);
	fprintf(w->out, ",\"start_ns\":%" PRIu64 ",\"length_ns\":%" PRIu64, raw->start_ns,
	    raw->length_ns);
	for (r = 0; r < raw->rows; r++)
		fprintf(w->out, "%s%" PRIu64, r == 0 ? ",\"lost\":[" : ",", raw->row[r].lost);
	fprintf(w->out, "],\"posts_open\":%" PRIu64 ",\"events_unposted\":%" PRIu64 "}}\n",
	    pairs->posts - pairs->pairs, pairs->runs - pairs->pairs);
}

bool
gantt_chrome(FILE *out, struct gantt_raw *raw)
{
	struct writer w = {.out = out, .raw = raw};
	struct gantt_pairs pairs;
	size_t r;

	if (!gantt_pair(raw, &pairs))
		return false;
	w.arrows = pairs.pairs;
	fputs("{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n", out);
	put_names(&w);
	for (r = 0; r < raw->rows; r++)
		put_row(&w, r);
	for (r = 0; r < raw->rows; r++)
		put_steals(&w, r);
	fputs("\n],\n", out);
	put_other(&w, &pairs);
	return true;
}
