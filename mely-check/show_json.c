/* SPDX-License-Identifier: MIT */
/* show_json.c: the summary for programs: one JSON object, whose form has a version. */
#include <inttypes.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "show.h"

enum { FORM = 1 };

/* What is no ASCII goes through as it is: names are the program's, UTF-8 as a rule. */
static void
put_string(FILE *out, const char *text)
{
	const unsigned char *at;

	if (text == NULL) {
		fputs("null", out);
		return;
	}
	fputc('"', out);
	for (at = (const unsigned char *)text; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20)
			fprintf(out, "\\u%04x", *at);
		else
			fputc(*at, out);
	}
	fputc('"', out);
}

static void
put_field(FILE *out, const char *name, const char *text)
{
	fprintf(out, "\"%s\": ", name);
	put_string(out, text);
}

static void
put_frame(FILE *out, const struct frame *frame)
{
	fputc('{', out);
	put_field(out, "function", frame->function);
	fputs(", ", out);
	put_field(out, "file", frame->file);
	fprintf(out, ", \"line\": %d}", frame->line);
}

static void
put_stack(FILE *out, const char *name, const struct stack *stack)
{
	size_t i;

	fprintf(out, "\"%s\": [", name);
	for (i = 0; i < stack->count; i++) {
		fputs(i == 0 ? "" : ", ", out);
		put_frame(out, &stack->frames[i]);
	}
	fputc(']', out);
}

static void
put_side(FILE *out, const struct side *side)
{
	static const char *const parties[] = {"color", "helper", "main", "thread"};

	fputs("{", out);
	put_field(out, "handler", side->handler);
	fputs(", ", out);
	put_field(out, "party", parties[side->party]);
	fputs(", ", out);
	put_field(out, "where", side->where);
	fputs(", ", out);
	put_field(out, "verb", side->verb);
	fprintf(out, ", \"bytes\": %u, \"address\": \"0x%" PRIx64 "\", \"site\": ",
	    side->access->size, side->access->address);
	put_frame(out, &side->site);
	fputs(", ", out);
	put_stack(out, "stack", &side->access->stack);
	fputc('}', out);
}

static void
put_object(FILE *out, const struct fault *fault)
{
	static const char *const kinds[] = {
	    "unknown", "global", "heap", "stack", "thread-local", "descriptor"};
	const struct object *object = &fault->report->object;

	fputs("{", out);
	put_field(out, "kind", kinds[object->kind]);
	fputs(", ", out);
	put_field(out, "name", object->name);
	fprintf(out, ", \"bytes\": %" PRIu64 ", \"address\": \"0x%" PRIx64 "\", ", object->size,
	    object->address);
	put_field(out, "words", fault->object);
	fputs(", ", out);
	put_stack(out, "allocated", &object->allocated);
	fputc('}', out);
}

static void
put_fault(FILE *out, const struct fault *fault)
{
	size_t i;

	fputs("    {", out);
	put_field(out, "kind", fault->report->kind);
	fputs(", \"object\": ", out);
	put_object(out, fault);
	fputs(",\n     \"sides\": [", out);
	put_side(out, &fault->sides[0]);
	fputs(",\n      ", out);
	put_side(out, &fault->sides[1]);
	fputs("],\n     \"more\": [", out);
	for (i = 0; i < fault->more_count; i++) {
		fputs(i == 0 ? "[" : ", [", out);
		put_frame(out, &fault->more[i][0]);
		fputs(", ", out);
		put_frame(out, &fault->more[i][1]);
		fputc(']', out);
	}
	fprintf(out, "],\n     \"times\": %u, ", fault->times);
	put_field(out, "try", fault->advice);
	fputc('}', out);
}

static void
put_program(FILE *out, const struct child *child, char **argv)
{
	bool first = true;

	fputs("  \"program\": [", out);
	for (; *argv != NULL; argv++, first = false) {
		fputs(first ? "" : ", ", out);
		put_string(out, *argv);
	}
	if (WIFSIGNALED(child->status))
		fprintf(out, "],\n  \"signal\": %d,\n", WTERMSIG(child->status));
	else
		fprintf(out, "],\n  \"status\": %d,\n", WEXITSTATUS(child->status));
}

void
show_json(FILE *out, const struct faults *faults, const struct child *child, char **argv)
{
	size_t i;

	fprintf(out, "{\n  \"form\": %d,\n", FORM);
	if (child != NULL)
		put_program(out, child, argv);
	fputs("  \"faults\": [", out);
	for (i = 0; i < faults->count; i++) {
		fputs(i == 0 ? "\n" : ",\n", out);
		put_fault(out, &faults->list[i]);
	}
	fputs("],\n  \"others\": [", out);
	for (i = 0; i < faults->others_count; i++) {
		fputs(i == 0 ? "" : ", ", out);
		put_string(out, faults->others[i]->kind);
	}
	fputs("]\n}\n", out);
	fflush(out);
}
