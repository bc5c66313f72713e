/* SPDX-License-Identifier: MIT */
/*
 * report.c: parse ThreadSanitizer's reports. A report begins with "WARNING: ThreadSanitizer: KIND
 * (pid=N)" and has sections. A section begins with a line indented by two columns; its stack
 * follows, indented by four. A blank line, or the next section, ends a stack.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

/* The name of a thread comes after its accesses. */
struct thread {
	const char *id, *name;
	struct stack made; /* where it was made */
};

struct parser {
	struct report *report; /* being read, or NULL */
	struct stack *stack;   /* to which frames are added, or NULL */
	struct thread *threads;
	size_t threads_count;
};

/* ---- frames --------------------------------------------------------------------------------- */

/* Cut off the last pair of parentheses, if part is in it. Returns what was in it, or NULL. */
static char *
cut_tail(char *text, const char *part)
{
	char *open = strrchr(text, '('), *close;

	if (open == NULL || open == text || open[-1] != ' ' || strstr(open, part) == NULL)
		return NULL;
	close = strrchr(open, ')');
	if (close != NULL)
		*close = '\0';
	open[-1] = '\0';
	return open + 1;
}

/* "FILE:LINE" or "FILE:LINE:COLUMN" into file and line. */
static void
read_place(struct frame *frame, char *place)
{
	char *colon;
	int n, numbers[2] = {0, 0};

	if (*place == '\0' || *place == '<')
		return;
	for (n = 0; n < 2; n++) {
		colon = strrchr(place, ':');
		if (colon == NULL || colon[1] == '\0' ||
		    strspn(colon + 1, "0123456789") != strlen(colon + 1))
			break;
		numbers[n] = atoi(colon + 1);
		*colon = '\0';
	}
	/* The last number read is the line; a column may follow it. */
	if (n > 0)
		frame->line = numbers[n - 1];
	frame->file = place;
}

/*
 * "FUNCTION PLACE (MODULE+0x12) (BuildId: 34)", or "<null> <null> (0x56)" of no module. A function
 * of C++ may contain spaces and parentheses, and so may a path.
 */
static void
read_frame(struct stack *stack, const char *line)
{
	struct frame *frame;
	char *text, *module, *at;

	stack->frames = text_room(stack->frames, stack->count, sizeof *stack->frames);
	frame = &stack->frames[stack->count++];
	memset(frame, 0, sizeof *frame);
	text = text_copy(line, strlen(line));
	cut_tail(text, "BuildId:");
	at = cut_tail(text, "(0x");
	if (at != NULL)
		frame->address = strtoull(at, NULL, 16);
	module = cut_tail(text, "+0x");
	if (module != NULL) {
		*strstr(module, "+0x") = '\0';
		frame->module = module;
	}
	at = strstr(text, " /");
	if (at == NULL)
		at = strrchr(text, ' ');
	if (at != NULL) {
		*at = '\0';
		read_place(frame, at + 1);
	}
	frame->function = *text == '\0' || *text == '<' ? "??" : text;
}

/* ---- sections ------------------------------------------------------------------------------- */

/* "thread T1 (mutexes: write M1):" or "main thread:" */
static void
read_thread(struct access *access, const char *text)
{
	const char *thread = text_after(text, "thread ");

	if (thread == NULL)
		access->thread = "main thread";
	else
		access->thread = text_copy(thread, strcspn(thread, " :"));
}

/* "[Previous ][atomic ]write of size 8 at 0x12 by ..."; false: another line. */
static bool
read_access(struct parser *parser, const char *line)
{
	struct report *report = parser->report;
	struct access access;
	const char *at, *word = line;
	char *end;

	memset(&access, 0, sizeof access);
	if ((at = text_after(word, "Previous ")) != NULL)
		word = at;
	access.atomic = strncasecmp(word, "atomic ", 7) == 0;
	if (access.atomic)
		word += 7;
	access.write = strncasecmp(word, "write", 5) == 0;
	if (!access.write && strncasecmp(word, "read", 4) != 0)
		return false;
	at = strstr(word, " of size ");
	if (at == NULL)
		return false;
	access.size = (unsigned)strtoul(at + 9, &end, 10);
	if ((at = text_after(end, " at ")) == NULL)
		return false;
	access.address = strtoull(at, &end, 16);
	if ((at = text_after(end, " by ")) == NULL)
		return false;
	read_thread(&access, at);
	parser->stack = NULL;
	if (report->accesses_count < 2) {
		report->accesses[report->accesses_count] = access;
		parser->stack = &report->accesses[report->accesses_count++].stack;
	}
	return true;
}

static uint64_t
number_after(const char *text, const char *what, int base)
{
	const char *at = strstr(text, what);

	return at != NULL ? strtoull(at + strlen(what), NULL, base) : 0;
}

/* "counter.12" is part of counter, or a static variable of a function: compilers number them. */
static const char *
name_of_global(const char *name, size_t length)
{
	size_t end = length;

	while (end > 0 && isdigit((unsigned char)name[end - 1]))
		end--;
	return text_copy(name, end > 1 && end < length && name[end - 1] == '.' ? end - 1 : length);
}

/* "global 'counter' of size 4 at 0x12 (...)", "heap block of size 24 at 0x34 allocated by ..." */
static void
read_object(struct parser *parser, const char *line)
{
	struct object *object = &parser->report->object;
	const char *at;

	parser->stack = NULL;
	/* The mapping that contains a stack follows it, and says less. */
	if (object->kind != OBJECT_UNKNOWN)
		return;
	object->size = number_after(line, " of size ", 10);
	object->address = number_after(line, " at ", 16);
	if ((at = text_after(line, "global '")) != NULL) {
		object->kind = OBJECT_GLOBAL;
		if (*at != '?')
			object->name = name_of_global(at, strcspn(at, "'"));
	} else if (text_begins(line, "heap block")) {
		object->kind = OBJECT_HEAP;
		parser->stack = &object->allocated;
	} else if ((at = text_after(line, "stack of ")) != NULL) {
		object->kind = OBJECT_STACK;
		object->name = text_copy(at, strcspn(at, "."));
	} else if ((at = text_after(line, "TLS of ")) != NULL) {
		object->kind = OBJECT_TLS;
		object->name = text_copy(at, strcspn(at, "."));
	} else if (text_begins(line, "file descriptor")) {
		object->kind = OBJECT_FD;
		object->name = text_copy(line, strcspn(line, "c") - 1);
		parser->stack = &object->allocated;
	}
}

/* "T1 'color 7 (connection)' (tid=0, running) created by main thread at:"; the name may have a
 * quotation mark in it. */
static void
read_thread_name(struct parser *parser, const char *line)
{
	struct thread *thread;
	const char *open = strstr(line, " '"), *close = strstr(line, "' (tid=");

	parser->stack = NULL;
	if (open == NULL || close == NULL || close < open + 2)
		return;
	parser->threads =
	    text_room(parser->threads, parser->threads_count, sizeof *parser->threads);
	thread = &parser->threads[parser->threads_count++];
	thread->id = text_copy(line, strcspn(line, " "));
	thread->name = text_copy(open + 2, (size_t)(close - open - 2));
	memset(&thread->made, 0, sizeof thread->made);
	parser->stack = &thread->made;
}

/* NULL: it has none. */
static const char *
name_of_thread(const struct parser *parser, const char *id)
{
	size_t i;

	for (i = 0; i < parser->threads_count; i++)
		if (text_equal(parser->threads[i].id, id))
			return parser->threads[i].name;
	return NULL;
}

/* The stack of a color or of helper work: the checker's fibers are made in two frames that begin at
 * the bounds of the stack (melyint_fiber_new). */
static void
find_stack(const struct parser *parser, struct report *report)
{
	uint64_t address = report->accesses[0].address;
	size_t i, k;

	if (report->object.kind != OBJECT_UNKNOWN)
		return;
	for (i = 0; i < parser->threads_count; i++) {
		const struct thread *thread = &parser->threads[i];

		for (k = 1; k < thread->made.count; k++) {
			if (thread->made.frames[k - 1].address == 0 ||
			    thread->made.frames[k - 1].address > address ||
			    thread->made.frames[k].address <= address)
				continue;
			report->object.kind = OBJECT_STACK;
			report->object.name = thread->name;
		}
	}
}

static void
end_report(struct parser *parser)
{
	struct access *accesses;
	size_t i;

	if (parser->report == NULL)
		return;
	accesses = parser->report->accesses;
	for (i = 0; i < 2; i++)
		accesses[i].name = name_of_thread(parser, accesses[i].thread);
	find_stack(parser, parser->report);
	parser->report = NULL;
	parser->stack = NULL;
	parser->threads_count = 0;
	parser->threads = NULL;
}

static void
begin_report(struct parser *parser, struct reports *reports, const char *kind)
{
	const char *pid = strstr(kind, " (pid=");

	end_report(parser);
	reports->list = text_room(reports->list, reports->count, sizeof *reports->list);
	parser->report = &reports->list[reports->count++];
	memset(parser->report, 0, sizeof *parser->report);
	parser->report->kind = text_copy(kind, pid != NULL ? (size_t)(pid - kind) : strlen(kind));
}

static void
read_line(struct parser *parser, struct reports *reports, const char *line)
{
	const char *at;

	at = strstr(line, "WARNING: ThreadSanitizer: ");
	if (at != NULL) {
		begin_report(parser, reports, at + strlen("WARNING: ThreadSanitizer: "));
	} else if (parser->report == NULL) {
		return;
	} else if (text_begins(line, "SUMMARY:") || text_begins(line, "=====")) {
		end_report(parser);
	} else if ((at = text_after(line, "    #")) != NULL) {
		at += strspn(at, "0123456789");
		if (parser->stack != NULL && *at == ' ')
			read_frame(parser->stack, at + 1);
	} else if (text_begins(line, "  ") && line[2] != ' ' && line[2] != '\0') {
		if (read_access(parser, line + 2))
			return;
		if ((at = text_after(line, "  Location is ")) != NULL)
			read_object(parser, at);
		else if ((at = text_after(line, "  Thread ")) != NULL)
			read_thread_name(parser, at);
		else
			parser->stack = NULL;
	}
}

void
reports_read(struct reports *reports, FILE *file)
{
	struct parser parser;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	memset(&parser, 0, sizeof parser);
	while ((length = getline(&line, &size, file)) >= 0) {
		while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		read_line(&parser, reports, line);
	}
	end_report(&parser);
	free(line);
}
