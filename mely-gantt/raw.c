/* SPDX-License-Identifier: MIT */
/*
 * raw.c: read a trace as the library has written it. mely/look/trace/write.c has the same format
 * as structs. Sizes and counts in the file are claims: memory grows with the bytes read, not with
 * what a number promises.
 */
#include "raw.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#define MAGIC "melytrc"

enum {
	VERSION = 1,
	BYTE_ORDER_MARK = 0x01020304,
	HEAD_BYTES = 192,
	PART_BYTES = 16,
	RECORD_BYTES = 32,
	HANDLER_BYTES = 84,
	COLOR_BYTES = 64,
	/* No clock counts faster than that; it bounds what order_core adds to a time. */
	TICKS_PER_NS_MAX = 1000
};

enum part_kind {
	PART_END,
	PART_RECORDS,
	PART_LOST,
	PART_HANDLERS,
	PART_COLORS
};

struct reader {
	FILE *in;
	struct gantt_raw *raw;
	struct gantt_raw_fault *fault;
};

static bool
fail(struct reader *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->fault->what, sizeof r->fault->what, format, args);
	va_end(args);
	return false;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint32_t
get32(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t
get64(const unsigned char *at)
{
	return get32(at) | (uint64_t)get32(at + 4) << 32;
}

static bool
get(struct reader *r, void *to, size_t size)
{
	size_t got = fread(to, 1, size, r->in);

	r->fault->at += got;
	if (got == size)
		return true;
	if (ferror(r->in))
		return fail(r, "%s", strerror(errno));
	return fail(r, "the file is cut off");
}

/* Room for one more in an array that doubles. */
static bool
one_more(void **array, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room == 0 ? 64 : *room * 2;
	void *grown;

	assert(count <= *room);
	if (count < *room)
		return true;
	grown = realloc(*array, wanted * size);
	if (grown == NULL)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

/* ---- the head -------------------------------------------------------------------------------- */

static bool
read_clock(struct reader *r, const unsigned char *head)
{
	struct gantt_raw *raw = r->raw;
	uint64_t end_ns = get64(head + 56), ticks;

	raw->start_ticks = get64(head + 32);
	raw->start_ns = get64(head + 40);
	raw->end_ticks = get64(head + 48);
	if (raw->end_ticks < raw->start_ticks || end_ns < raw->start_ns)
		return fail(r, "the trace ends before it begins");
	raw->length_ns = end_ns - raw->start_ns;
	ticks = raw->end_ticks - raw->start_ticks;
	if (raw->length_ns > RAW_LENGTH_MAX || raw->end_ticks > UINT64_MAX / 4 ||
	    ticks / TICKS_PER_NS_MAX > raw->length_ns + 1000000)
		return fail(r, "its clock cannot be right");
	return true;
}

static bool
read_head(struct reader *r)
{
	struct gantt_raw *raw = r->raw;
	unsigned char head[HEAD_BYTES];

	if (!get(r, head, sizeof head))
		return false;
	if (memcmp(head, MAGIC, sizeof MAGIC) != 0)
		return fail(r, "not a trace");
	if (get32(head + 8) != BYTE_ORDER_MARK)
		return fail(r, "written by a machine with another byte order");
	if (get32(head + 12) != VERSION)
		return fail(r, "version %u of the format, which this program does not know",
		    get32(head + 12));
	raw->rows = get32(head + 16);
	if (raw->rows < 2 || raw->rows > RAW_ROWS_MAX) {
		raw->rows = 0;
		return fail(r, "%u rings, not 2 to %d", get32(head + 16), RAW_ROWS_MAX);
	}
	raw->row = calloc(raw->rows, sizeof raw->row[0]);
	raw->sample = get32(head + 20) == 0 ? 1 : get32(head + 20);
	raw->pid = (int64_t)(get64(head + 24) & INT32_MAX);
	raw->end = utf8_clean((const char *)head + 64, 16);
	raw->producer = utf8_clean((const char *)head + 80, 32);
	raw->program = utf8_clean((const char *)head + 112, 80);
	if (raw->row == NULL || raw->end == NULL || raw->producer == NULL || raw->program == NULL)
		return fail(r, "out of memory");
	return read_clock(r, head);
}

/* ---- the parts ------------------------------------------------------------------------------- */

static struct gantt_raw_record
record_of(const unsigned char *at)
{
	uint64_t rest = get64(at + 24);
	struct gantt_raw_record record = {
		.ticks = get64(at), .what = get64(at + 8), .color = get64(at + 16),
		.number = (uint32_t)rest, .other = (uint16_t)(rest >> 32),
		.flags = (uint8_t)(rest >> 48) & RAW_OBJECT, .kind = (uint8_t)(rest >> 56)
	};

	if (record.kind >= RAW_KINDS)
		record.kind = RAW_NONE;
	return record;
}

static bool
read_record(struct reader *r, uint32_t ring)
{
	unsigned char bytes[RECORD_BYTES];
	struct gantt_raw_row *row;
	void *array;

	if (ring >= r->raw->rows)
		return fail(r, "records of ring %u of %zu", ring, r->raw->rows);
	if (!get(r, bytes, sizeof bytes))
		return false;
	row = &r->raw->row[ring];
	array = row->record;
	if (!one_more(&array, row->count, &row->room, sizeof row->record[0]))
		return fail(r, "out of memory");
	row->record = array;
	row->record[row->count++] = record_of(bytes);
	return true;
}

static bool
read_handler(struct reader *r)
{
	unsigned char bytes[HANDLER_BYTES];
	uint32_t number;
	char *name;

	if (!get(r, bytes, sizeof bytes))
		return false;
	number = get32(bytes);
	if (number >= RAW_HANDLERS_MAX)
		return fail(r, "handler number %u, not below %d", number, RAW_HANDLERS_MAX);
	if (r->raw->handler == NULL) {
		r->raw->handler = calloc(RAW_HANDLERS_MAX, sizeof r->raw->handler[0]);
		if (r->raw->handler == NULL)
			return fail(r, "out of memory");
		r->raw->handlers = RAW_HANDLERS_MAX;
	}
	name = utf8_clean((const char *)bytes + 4, sizeof bytes - 4);
	if (name == NULL)
		return fail(r, "out of memory");
	free(r->raw->handler[number]);
	r->raw->handler[number] = name;
	return true;
}

static bool
read_color(struct reader *r)
{
	unsigned char bytes[COLOR_BYTES];
	struct gantt_raw *raw = r->raw;
	struct gantt_raw_name *name;
	void *array = raw->name;

	if (!get(r, bytes, sizeof bytes))
		return false;
	if (!one_more(&array, raw->names, &raw->names_room, sizeof raw->name[0]))
		return fail(r, "out of memory");
	raw->name = array;
	name = &raw->name[raw->names];
	name->color = get64(bytes);
	name->ticks = get64(bytes + 8);
	name->flags = get32(bytes + 16) & RAW_OBJECT;
	name->name = utf8_clean((const char *)bytes + 20, 40);
	if (name->name == NULL)
		return fail(r, "out of memory");
	raw->names++;
	return true;
}

static bool
read_lost(struct reader *r, size_t ring)
{
	unsigned char bytes[8];

	if (ring >= r->raw->rows)
		return fail(r, "more numbers of lost records than rings");
	if (!get(r, bytes, sizeof bytes))
		return false;
	r->raw->row[ring].lost = get64(bytes) > INT64_MAX ? INT64_MAX : get64(bytes);
	return true;
}

/* Item i of a part. */
static bool
read_item(struct reader *r, uint32_t kind, uint32_t ring, uint64_t i)
{
	switch (kind) {
	case PART_RECORDS:
		return read_record(r, ring);
	case PART_LOST:
		return read_lost(r, (size_t)i);
	case PART_HANDLERS:
		return read_handler(r);
	default:
		assert(kind == PART_COLORS);
		return read_color(r);
	}
}

static bool
read_part(struct reader *r, bool *ended)
{
	static const uint64_t sizes[] = {
		[PART_RECORDS] = RECORD_BYTES, [PART_LOST] = 8, [PART_HANDLERS] = HANDLER_BYTES,
		[PART_COLORS] = COLOR_BYTES
	};
	unsigned char part[PART_BYTES];
	uint32_t kind;
	uint64_t bytes, i;

	if (!get(r, part, sizeof part))
		return false;
	kind = get32(part);
	bytes = get64(part + 8);
	*ended = kind == PART_END;
	if (*ended)
		return bytes == 0 || fail(r, "the end is not empty");
	if (kind > PART_COLORS)
		return fail(r, "a part of kind %u, which this program does not know", kind);
	if (bytes % sizes[kind] != 0)
		return fail(r, "a part of %llu bytes, not a multiple of %llu",
		    (unsigned long long)bytes, (unsigned long long)sizes[kind]);
	for (i = 0; i < bytes / sizes[kind]; i++) {
		if (!read_item(r, kind, get32(part + 4), i))
			return false;
	}
	return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

bool
gantt_raw_begins_slice(unsigned kind)
{
	return kind == RAW_RUN || kind == RAW_SLEEP || kind == RAW_POLL;
}

bool
gantt_raw_ends_slice(unsigned kind)
{
	return kind != RAW_OWN_POST && kind != RAW_POST && kind != RAW_WAKE && kind != RAW_NONE;
}

size_t
gantt_raw_slice_end(const struct gantt_raw_row *row, size_t i)
{
	do {
		i++;
	} while (i < row->count && !gantt_raw_ends_slice(row->record[i].kind));
	return i < row->count ? i : row->count;
}

/* Posts to the running color at the beginning, or behind a gap, whose slice was overwritten: their
 * time is unknown. */
static void
cut_row(struct gantt_raw_row *row)
{
	bool known = false;
	size_t i;

	for (i = 0; i < row->count; i++) {
		struct gantt_raw_record *record = &row->record[i];

		known = record->kind == RAW_RUN || (known && record->kind != RAW_GAP);
		if (record->kind == RAW_OWN_POST && !known)
			record->kind = RAW_NONE;
	}
}

/*
 * A core's records are in order, but its clock may step back when its thread moves to another
 * processor, and may stand still for some ns. Make times rise: of two slices that begin at the
 * same time, an arrow could belong to either.
 */
static void
order_core(const struct gantt_raw *raw, struct gantt_raw_row *row)
{
	uint64_t ns = raw->length_ns == 0 ? 1 : raw->length_ns;
	uint64_t least = (raw->end_ticks - raw->start_ticks) / ns + 1, latest = 0, i;

	for (i = 0; i < row->count; i++) {
		struct gantt_raw_record *record = &row->record[i];

		if (record->kind == RAW_OWN_POST || record->kind == RAW_NONE)
			continue;
		/* Beyond the end only by the difference of two clocks. */
		if (record->ticks > raw->end_ticks)
			record->ticks = raw->end_ticks;
		if (record->ticks < latest)
			record->ticks = latest;
		latest = record->ticks;
		if (record->kind == RAW_STEAL) {
			if (record->what > raw->end_ticks)
				record->what = raw->end_ticks;
			if (record->what < latest + least)
				record->what = latest + least;
			latest = record->what;
		} else if (gantt_raw_begins_slice(record->kind)) {
			latest += least;
		}
	}
}

static int
by_ticks(const void *a, const void *b)
{
	const struct gantt_raw_record *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static int
compare(const struct gantt_raw_name *name, uint64_t color, unsigned flags, uint64_t ticks)
{
	if (name->flags != flags)
		return name->flags < flags ? -1 : 1;
	if (name->color != color)
		return name->color < color ? -1 : 1;
	return name->ticks < ticks ? -1 : name->ticks > ticks;
}

static int
by_color(const void *a, const void *b)
{
	const struct gantt_raw_name *y = b;

	return compare(a, y->color, y->flags, y->ticks);
}

static void
order(struct gantt_raw *raw)
{
	struct gantt_raw_row *outside = &raw->row[raw->rows - 1];
	size_t i;

	for (i = 0; i < raw->rows; i++) {
		cut_row(&raw->row[i]);
		if (i < raw->rows - 1)
			order_core(raw, &raw->row[i]);
	}
	/* Threads that write to one ring are not quite in the order of their clocks. */
	if (outside->count > 1)
		qsort(outside->record, outside->count, sizeof outside->record[0], by_ticks);
	if (raw->names > 1)
		qsort(raw->name, raw->names, sizeof raw->name[0], by_color);
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool
gantt_raw_begins(int byte)
{
	return byte == MAGIC[0];
}

bool
gantt_raw_read(FILE *in, struct gantt_raw *raw, struct gantt_raw_fault *fault)
{
	struct reader r = {.in = in, .raw = raw, .fault = fault};
	bool ended = false;

	memset(raw, 0, sizeof *raw);
	memset(fault, 0, sizeof *fault);
	if (!read_head(&r))
		return false;
	while (!ended) {
		if (!read_part(&r, &ended))
			return false;
	}
	if (getc(in) != EOF)
		return fail(&r, "bytes behind the end");
	order(raw);
	return true;
}

void
gantt_raw_free(struct gantt_raw *raw)
{
	size_t i;

	for (i = 0; i < raw->rows && raw->row != NULL; i++)
		free(raw->row[i].record);
	for (i = 0; i < raw->handlers; i++)
		free(raw->handler[i]);
	for (i = 0; i < raw->names; i++)
		free(raw->name[i].name);
	free(raw->row);
	free(raw->handler);
	free(raw->name);
	free(raw->end);
	free(raw->producer);
	free(raw->program);
	memset(raw, 0, sizeof *raw);
}

/* ---- what is in it --------------------------------------------------------------------------- */

uint64_t
gantt_raw_ns(const struct gantt_raw *raw, uint64_t ticks)
{
	uint64_t total = raw->end_ticks - raw->start_ticks;

	if (ticks <= raw->start_ticks)
		return 0;
	if (ticks - raw->start_ticks >= total)
		return raw->length_ns;
	return (uint64_t)((unsigned __int128)(ticks - raw->start_ticks) * raw->length_ns / total);
}

const char *
gantt_raw_handler(const struct gantt_raw *raw, uint32_t number)
{
	const char *name = number < raw->handlers ? raw->handler[number] : NULL;

	return name != NULL && name[0] != '\0' ? name : "(unknown)";
}

const char *
gantt_raw_color(const struct gantt_raw *raw, const struct gantt_raw_record *record)
{
	size_t low = 0, high = raw->names;
	const struct gantt_raw_name *name;

	/* The first name that is later than the record. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&raw->name[middle], record->color, record->flags, record->ticks) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return NULL;
	name = &raw->name[low - 1];
	return name->color == record->color && name->flags == record->flags &&
	    name->name[0] != '\0' ? name->name : NULL;
}
