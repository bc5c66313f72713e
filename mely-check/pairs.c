/* SPDX-License-Identifier: MIT */
/* pairs.c: group reports into faults. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "advice.h"
#include "pairs.h"
#include "text.h"

/* ---- frames --------------------------------------------------------------------------------- */

/* Whether code belongs to a library, the sanitizer or Mely, and not to the programmer. */
static bool
foreign(const struct frame *frame)
{
	static const char *const modules[] = {
	    "libc.so", "libc-", "libtsan", "libpthread", "ld-linux", "libmely", "libev"};
	static const char *const functions[] = {
	    "mely_", "melyint_", "__tsan", "__interceptor", "start_thread", "__libc_start",
	    "_start", "clone", "__clone", "melycompat::"};
	/* In the runtime, only the hooks of the checker call instrumented code. */
	static const char *const files[] = {
	    "libsanitizer/", "sanitizer_common/", "/include/c++/", "mely/check/",
	    "compat/include/", "compat/src/", "/mely-compat/"};
	size_t i;

	for (i = 0; frame->module != NULL && i < sizeof modules / sizeof *modules; i++)
		if (text_begins(frame->module, modules[i]))
			return true;
	for (i = 0; i < sizeof functions / sizeof *functions; i++)
		if (text_begins(frame->function, functions[i]))
			return true;
	for (i = 0; frame->file != NULL && i < sizeof files / sizeof *files; i++)
		if (strstr(frame->file, files[i]) != NULL)
			return true;
	return frame->file == NULL;
}

static struct frame
outermost(const struct stack *stack)
{
	static const struct frame unknown = {"??", NULL, NULL, 0, 0};
	size_t i;

	for (i = stack->count; i-- > 0;)
		if (!foreign(&stack->frames[i]))
			return stack->frames[i];
	return stack->count > 0 ? stack->frames[stack->count - 1] : unknown;
}

static struct frame
innermost(const struct stack *stack)
{
	size_t i;

	for (i = 0; i < stack->count; i++)
		if (!foreign(&stack->frames[i]))
			return stack->frames[i];
	return outermost(stack);
}

/*
 * "void chat::on_say<std::string>(void*)" as "chat::on_say": without angle brackets, parentheses
 * and the type in front. Operators and lambdas stay as they are.
 */
static const char *
short_name(const char *function)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *name = text_alloc(strlen(function) + 1), *to = name;
	const char *from;
	int depth = 0;

	if (strpbrk(function, "<(") == NULL || strstr(function, "operator") != NULL ||
	    strchr(function, '{') != NULL)
		return function;
	for (from = function; *from != '\0'; from++) {
		if (depth == 0 && text_begins(from, anonymous)) {
			from += sizeof anonymous - 1;
			from += text_begins(from, "::") ? 1 : -1;
			continue;
		}
		depth += *from == '<' || *from == '(';
		if (depth == 0 && *from == ' ')
			to = name; /* that was the type, or all but "const" */
		else if (depth == 0)
			*to++ = *from;
		depth -= *from == '>' || *from == ')';
		if (depth == 0 && *from == ')')
			break;
	}
	*to = '\0';
	return *name != '\0' ? name : function;
}

const char *
faults_place(const struct frame *frame)
{
	static char here[4096];
	const char *file = frame->file, *below;

	if (file == NULL)
		return frame->module != NULL ? frame->module : "unknown place";
	if (here[0] == '\0' && getcwd(here, sizeof here) == NULL)
		here[0] = '\0';
	below = here[0] != '\0' ? text_after(file, here) : NULL;
	if (below != NULL && *below == '/')
		file = below + 1;
	return frame->line > 0 ? text_format("%s:%d", file, frame->line) : file;
}

/* ---- the sides ------------------------------------------------------------------------------ */

static enum party_kind
party_of(const struct access *access)
{
	if (access->name != NULL && text_begins(access->name, "color "))
		return PARTY_COLOR;
	if (access->name != NULL && text_begins(access->name, "helper work"))
		return PARTY_HELPER;
	return text_equal(access->thread, "main thread") ? PARTY_MAIN : PARTY_THREAD;
}

static const char *
where_of(const struct access *access, enum party_kind party)
{
	if (party == PARTY_HELPER)
		return text_format("a helper thread%s", access->name + strlen("helper work"));
	if (party == PARTY_COLOR)
		return access->name;
	if (party == PARTY_MAIN)
		return "the main thread";
	if (access->name != NULL)
		return text_format("thread %s '%s'", access->thread, access->name);
	return text_format("thread %s", access->thread);
}

/* To the heap. */
static bool
gives_back(const struct access *access)
{
	static const char *const giving[] = {"free", "realloc", "operator delete", "cfree"};
	const char *function = access->stack.count > 0 ? access->stack.frames[0].function : "";
	size_t i;

	for (i = 0; i < sizeof giving / sizeof *giving; i++)
		if (text_begins(function, giving[i]))
			return true;
	return false;
}

static const char *
verb_of(const struct access *access)
{
	if (gives_back(access))
		return "frees";
	if (access->atomic)
		return access->write ? "writes (atomically)" : "reads (atomically)";
	return access->write ? "writes" : "reads";
}

static struct side
side_of(const struct access *access)
{
	struct side side;

	side.access = access;
	side.party = party_of(access);
	side.where = where_of(access, side.party);
	side.verb = verb_of(access);
	side.handler = short_name(outermost(&access->stack).function);
	side.site = innermost(&access->stack);
	return side;
}

/* ---- the object ----------------------------------------------------------------------------- */

static const char *
object_words(const struct report *report)
{
	const struct object *object = &report->object;
	const char *size = "";

	if (object->size > 0)
		size = text_format(" (%" PRIu64 " byte%s)", object->size,
		    object->size == 1 ? "" : "s");

	switch (object->kind) {
	case OBJECT_GLOBAL:
		return object->name != NULL ? text_format("global '%s'%s", object->name, size)
		                            : "a global";
	case OBJECT_HEAP:
		return text_format("a heap block%s", size);
	case OBJECT_STACK:
		return text_format("a variable on the stack of %s",
		    object->name != NULL ? object->name : "a thread");
	case OBJECT_TLS:
		return text_format("a thread-local variable of %s",
		    object->name != NULL ? object->name : "a thread");
	case OBJECT_FD:
		return object->name != NULL ? object->name : "a file descriptor";
	case OBJECT_UNKNOWN:
		break;
	}
	if (gives_back(&report->accesses[0]) || gives_back(&report->accesses[1]))
		return "a heap block that was freed";
	return "unknown memory";
}

/* The handler that runs on the stack of the object, if it is one of the sides. */
const struct side *
faults_owner(const struct fault *fault)
{
	const struct object *object = &fault->report->object;
	int i;

	for (i = 0; i < 2 && object->kind == OBJECT_STACK && object->name != NULL; i++)
		if (text_equal(fault->sides[i].access->name, object->name))
			return &fault->sides[i];
	return NULL;
}

static const char *
place_words(const struct fault *fault)
{
	const struct report *report = fault->report;
	const struct side *owner = faults_owner(fault);
	const struct object *object = &report->object;
	uint64_t offset = report->accesses[0].address - object->address;
	const char *where = "";
	struct frame site;

	if (owner != NULL)
		return text_format("of its handler %s", owner->handler);
	if (object->address != 0 && report->accesses[0].address >= object->address)
		where = text_format("at offset %" PRIu64, offset);
	if (object->allocated.count == 0)
		return *where != '\0' && object->size > report->accesses[0].size ? where : NULL;
	site = innermost(&object->allocated);
	return text_format("%s%s%s in %s, %s", where, *where != '\0' ? ", " : "",
	    object->kind == OBJECT_FD ? "opened" : "allocated", short_name(site.function),
	    faults_place(&site));
}

/* Whether people would call it the same object: by name or origin, not by address. */
static bool
same_object(const struct report *a, const struct report *b)
{
	const struct object *one = &a->object, *other = &b->object;
	struct frame site, other_site;

	if (one->kind != other->kind)
		return false;
	if (one->kind != OBJECT_HEAP)
		return text_equal(one->name, other->name);
	site = innermost(&one->allocated);
	other_site = innermost(&other->allocated);
	return text_equal(site.function, other_site.function) &&
	    text_equal(site.file, other_site.file) && site.line == other_site.line;
}

/* ---- faults --------------------------------------------------------------------------------- */

static bool
same_frame(const struct frame *a, const struct frame *b)
{
	return text_equal(a->function, b->function) && text_equal(a->file, b->file) &&
	    a->line == b->line;
}

/* Put sides into the order of fault. False: another pair. */
static bool
same_pair(const struct fault *fault, struct side sides[2])
{
	struct side turned;

	if (text_equal(fault->sides[0].handler, sides[0].handler) &&
	    text_equal(fault->sides[1].handler, sides[1].handler))
		return fault->sides[0].party == sides[0].party &&
		    fault->sides[1].party == sides[1].party;
	turned = sides[0];
	sides[0] = sides[1];
	sides[1] = turned;
	return text_equal(fault->sides[0].handler, sides[0].handler) &&
	    text_equal(fault->sides[1].handler, sides[1].handler) &&
	    fault->sides[0].party == sides[0].party && fault->sides[1].party == sides[1].party;
}

/* Another report of a known fault. */
static void
count_in(struct fault *fault, const struct side sides[2])
{
	size_t i;

	fault->times++;
	if (same_frame(&fault->sides[0].site, &sides[0].site) &&
	    same_frame(&fault->sides[1].site, &sides[1].site))
		return;
	for (i = 0; i < fault->more_count; i++)
		if (same_frame(&fault->more[i][0], &sides[0].site) &&
		    same_frame(&fault->more[i][1], &sides[1].site))
			return;
	fault->more = text_room(fault->more, fault->more_count, sizeof *fault->more);
	fault->more[fault->more_count][0] = sides[0].site;
	fault->more[fault->more_count][1] = sides[1].site;
	fault->more_count++;
}

static void
add(struct faults *faults, const struct report *report)
{
	struct side sides[2];
	struct fault *fault;
	size_t i;

	/* TSan reports the later access first; show them in the order of time. */
	sides[0] = side_of(&report->accesses[1]);
	sides[1] = side_of(&report->accesses[0]);
	for (i = 0; i < faults->count; i++) {
		fault = &faults->list[i];
		if (same_object(fault->report, report) && same_pair(fault, sides)) {
			count_in(fault, sides);
			return;
		}
	}
	/* same_pair may have swapped them. */
	sides[0] = side_of(&report->accesses[1]);
	sides[1] = side_of(&report->accesses[0]);
	faults->list = text_room(faults->list, faults->count, sizeof *faults->list);
	fault = &faults->list[faults->count++];
	memset(fault, 0, sizeof *fault);
	fault->report = report;
	memcpy(fault->sides, sides, sizeof sides);
	fault->times = 1;
	fault->object = object_words(report);
	fault->place = place_words(fault);
	fault->advice = advice_for(fault);
}

void
faults_find(struct faults *faults, const struct reports *reports)
{
	size_t i;

	memset(faults, 0, sizeof *faults);
	for (i = 0; i < reports->count; i++) {
		if (reports->list[i].accesses_count == 2) {
			add(faults, &reports->list[i]);
			continue;
		}
		faults->others =
		    text_room(faults->others, faults->others_count, sizeof *faults->others);
		faults->others[faults->others_count++] = &reports->list[i];
	}
}
