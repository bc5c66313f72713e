/* SPDX-License-Identifier: MIT */
/*
 * show_json.c: the summary for programs: one JSON object, whose form has a version. Names come from
 * the program and may be any bytes; what is not UTF-8 becomes U+FFFD.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <json-c/json.h>

#include "../mely-gantt/utf8.h"
#include "show.h"
#include "text.h"

enum { FORM = 1 };

static struct json_object *
string_of(const char *text)
{
	struct json_object *string;
	char *clean;

	if (text == NULL)
		return NULL; /* JSON's null */
	clean = text_need(utf8_clean(text, strlen(text)));
	string = text_need(json_object_new_string(clean));
	free(clean);
	return string;
}

static struct json_object *
address_of(uint64_t address)
{
	return string_of(text_format("0x%" PRIx64, address));
}

static struct json_object *
new_object(void)
{
	return text_need(json_object_new_object());
}

static struct json_object *
new_array(void)
{
	return text_need(json_object_new_array());
}

/* Takes value, which may be NULL for null. */
static void
put(struct json_object *to, const char *key, struct json_object *value)
{
	text_need(json_object_object_add(to, key, value) == 0 ? to : NULL);
}

static void
append(struct json_object *to, struct json_object *value)
{
	text_need(json_object_array_add(to, value) == 0 ? to : NULL);
}

static void
put_number(struct json_object *to, const char *key, uint64_t number)
{
	put(to, key, text_need(json_object_new_uint64(number)));
}

/* ---- the parts of a fault -------------------------------------------------------------------- */

static struct json_object *
frame_of(const struct frame *frame)
{
	struct json_object *to = new_object();

	put(to, "function", string_of(frame->function));
	put(to, "file", string_of(frame->file));
	put(to, "line", text_need(json_object_new_int(frame->line)));
	return to;
}

static struct json_object *
stack_of(const struct stack *stack)
{
	struct json_object *to = new_array();
	size_t i;

	for (i = 0; i < stack->count; i++)
		append(to, frame_of(&stack->frames[i]));
	return to;
}

static struct json_object *
side_of(const struct side *side)
{
	static const char *const parties[] = {"color", "helper", "main", "thread"};
	struct json_object *to = new_object();

	put(to, "handler", string_of(side->handler));
	put(to, "party", string_of(parties[side->party]));
	put(to, "where", string_of(side->where));
	put(to, "verb", string_of(side->verb));
	put_number(to, "bytes", side->access->size);
	put(to, "address", address_of(side->access->address));
	put(to, "site", frame_of(&side->site));
	put(to, "stack", stack_of(&side->access->stack));
	return to;
}

static struct json_object *
object_of(const struct fault *fault)
{
	static const char *const kinds[] = {
	    "unknown", "global", "heap", "stack", "thread-local", "descriptor"};
	const struct object *object = &fault->report->object;
	struct json_object *to = new_object();

	put(to, "kind", string_of(kinds[object->kind]));
	put(to, "name", string_of(object->name));
	put_number(to, "bytes", object->size);
	put(to, "address", address_of(object->address));
	put(to, "words", string_of(fault->object));
	put(to, "allocated", stack_of(&object->allocated));
	return to;
}

static struct json_object *
fault_of(const struct fault *fault)
{
	struct json_object *to = new_object(), *sides = new_array(), *more = new_array();
	size_t i, side;

	for (side = 0; side < 2; side++)
		append(sides, side_of(&fault->sides[side]));
	for (i = 0; i < fault->more_count; i++) {
		struct json_object *pair = new_array();

		append(pair, frame_of(&fault->more[i][0]));
		append(pair, frame_of(&fault->more[i][1]));
		append(more, pair);
	}
	put(to, "kind", string_of(fault->report->kind));
	put(to, "object", object_of(fault));
	put(to, "sides", sides);
	put(to, "more", more);
	put_number(to, "times", fault->times);
	put(to, "try", string_of(fault->advice));
	return to;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void
put_program(struct json_object *to, const struct child *child, char **argv)
{
	struct json_object *program = new_array();

	for (; *argv != NULL; argv++)
		append(program, string_of(*argv));
	put(to, "program", program);
	if (WIFSIGNALED(child->status))
		put_number(to, "signal", (uint64_t)WTERMSIG(child->status));
	else
		put_number(to, "status", (uint64_t)WEXITSTATUS(child->status));
}

void
show_json(FILE *out, const struct faults *faults, const struct child *child, char **argv)
{
	struct json_object *top = new_object(), *list = new_array(), *others = new_array();
	size_t i;

	put_number(top, "form", FORM);
	if (child != NULL)
		put_program(top, child, argv);
	for (i = 0; i < faults->count; i++)
		append(list, fault_of(&faults->list[i]));
	for (i = 0; i < faults->others_count; i++)
		append(others, string_of(faults->others[i]->kind));
	put(top, "faults", list);
	put(top, "others", others);
	fputs(text_need((void *)(uintptr_t)json_object_to_json_string_ext(top,
	    JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
	    JSON_C_TO_STRING_NOSLASHESCAPE)), out);
	fputc('\n', out);
	fflush(out);
	json_object_put(top);
}
