/* SPDX-License-Identifier: MIT */
/*
 * read_raw.c: slices, depths and steals out of the records of a raw trace. Posts and wake-ups are
 * not drawn.
 */
#include "read_raw.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

struct filling {
	struct gantt_trace *trace;
	const struct gantt_raw *raw;
	uint64_t steals;
};

/* The color of a record, with its name if it has one: "7 (connection)". */
static uint32_t
color_of(const struct filling *f, const struct gantt_raw_record *record)
{
	const char *name = gantt_raw_color(f->raw, record);
	char text[256];
	int length;

	length = snprintf(text, sizeof text,
	    record->flags & RAW_OBJECT ? "0x%" PRIx64 : "%" PRIu64, record->color);
	if (name != NULL)
		snprintf(text + length, sizeof text - (size_t)length, " (%s)", name);
	return gantt_names_number(&f->trace->names, text);
}

static bool
add_slice(struct filling *f, size_t row, enum gantt_kind kind,
    const struct gantt_raw_record *record, uint64_t to_ns)
{
	static const char *const names[] = {
		[GANTT_STEAL] = "steal", [GANTT_POLL] = "poll", [GANTT_SLEEP] = "sleep"
	};
	uint64_t from_ns = gantt_raw_ns(f->raw, record->ticks);
	struct gantt_slice slice = {
		.start = (int64_t)from_ns,
		.duration = to_ns > from_ns ? (int64_t)(to_ns - from_ns) : 0,
		.color = GANTT_NO_NAME, .kind = kind
	};

	if (kind == GANTT_EVENT || kind == GANTT_STEAL) {
		slice.color = color_of(f, record);
		if (slice.color == GANTT_NO_NAME)
			return false;
	}
	slice.name = gantt_names_number(&f->trace->names, kind == GANTT_EVENT ?
	    gantt_raw_handler(f->raw, record->number) : names[kind]);
	return slice.name != GANTT_NO_NAME && gantt_trace_slice(&f->trace->row[row], &slice);
}

/* The slice that record i begins. */
static bool
begin_slice(struct filling *f, size_t row, size_t i)
{
	const struct gantt_raw_row *from = &f->raw->row[row];
	const struct gantt_raw_record *record = &from->record[i];
	size_t to = gantt_raw_slice_end(from, i);
	enum gantt_kind kind = record->kind == RAW_RUN ? GANTT_EVENT :
	    record->kind == RAW_SLEEP ? GANTT_SLEEP : GANTT_POLL;

	return add_slice(f, row, kind, record, to < from->count ?
	    gantt_raw_ns(f->raw, from->record[to].ticks) : f->raw->length_ns);
}

static bool
add_steal(struct filling *f, size_t row, const struct gantt_raw_record *steal)
{
	struct gantt_end end = {
		.id = ++f->steals, .time = (int64_t)gantt_raw_ns(f->raw, steal->ticks)
	};

	if (!add_slice(f, row, GANTT_STEAL, steal, gantt_raw_ns(f->raw, steal->what)))
		return false;
	if (steal->other >= f->raw->rows - 1)
		return true;
	end.row = steal->other;
	if (!gantt_trace_end(f->trace, &end))
		return false;
	end.row = (uint32_t)row;
	end.thief = true;
	return gantt_trace_end(f->trace, &end);
}

static bool
add_row(struct filling *f, size_t row)
{
	const struct gantt_raw_row *from = &f->raw->row[row];
	uint32_t waiting = UINT32_MAX;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < from->count; i++) {
		const struct gantt_raw_record *record = &from->record[i];

		if (gantt_raw_begins_slice(record->kind)) {
			ok = begin_slice(f, row, i);
		} else if (record->kind == RAW_STEAL) {
			ok = add_steal(f, row, record);
		} else if (record->kind == RAW_BATCH && record->number != waiting) {
			waiting = record->number;
			ok = gantt_trace_depth(&f->trace->row[row],
			    (int64_t)gantt_raw_ns(f->raw, record->ticks), waiting);
		}
	}
	return ok;
}

bool
gantt_read_raw(struct gantt_trace *trace, const struct gantt_raw *raw)
{
	struct filling f = {.trace = trace, .raw = raw};
	size_t r;

	assert(trace->rows == 0);
	trace->sample = raw->sample;
	trace->from_zero = true;
	trace->process = gantt_names_number(&trace->names, raw->program);
	if (trace->process == GANTT_NO_NAME)
		return false;
	for (r = 0; r < raw->rows; r++) {
		struct gantt_row *row = gantt_trace_row(trace, raw->pid, (int64_t)r);
		char name[32] = "outside";

		if (row == NULL)
			return false;
		if (r < raw->rows - 1)
			snprintf(name, sizeof name, "core %zu", r);
		row->name = gantt_names_number(&trace->names, name);
		row->named_core = r < raw->rows - 1;
		row->sort = (int64_t)r;
		if (row->name == GANTT_NO_NAME)
			return false;
		trace->lost += raw->row[r].lost;
	}
	for (r = 0; r < raw->rows; r++) {
		if (!add_row(&f, r))
			return false;
	}
	return true;
}
