/* SPDX-License-Identifier: MIT */
/*
 * settings.c: defaults, the environment, ranges and a description, all from the rows of
 * life/knobs.def. Any thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mely/runtime.h>

#include "base/assert.h"
#include "life/settings.h"

/* How the environment writes a setting; see life/knobs.def. */
enum form { NUMBER, AUTO, WORDS, SIGNAL, BITS, SOCKET, PATH, NONE };

/* The type of the member. */
enum type { INT, UNSIGNED, UNSIGNED_64, STRING, OTHER };

struct knob {
	const char *name;
	const char *environment; /* "": no variable */
	const char *unit;
	size_t at;               /* in struct mely_config */
	enum form form;
	enum type type;
	int64_t least, most, standard;
};

struct knob_bit {
	const char *field, *environment;
	unsigned bit;
};

#define MEMBER(field) (((struct mely_config *)0)->field)
#define TYPE_OF(field) _Generic(MEMBER(field), int: INT, unsigned: UNSIGNED, \
	uint64_t: UNSIGNED_64, const char *: STRING, default: OTHER)

static const struct knob knobs[] = {
#define KNOB(type, field, form, least, most, standard, unit, environment, help) \
	{#field, environment, unit, offsetof(struct mely_config, field), form, TYPE_OF(field), \
	    least, most, standard},
#define KNOB_POINTER(type, field, form, environment, help) \
	{#field, environment, "", offsetof(struct mely_config, field), form, TYPE_OF(field), \
	    0, 0, 0},
#include "life/knobs.def"
};

static const struct knob_bit bits[] = {
#define KNOB_BIT(field, bit, environment, help) {#field, environment, bit},
#include "life/knobs.def"
};

/* The rows give the members their types; every switch has a variable. */
#define IS_A(type, field) _Static_assert(_Generic(&MEMBER(field), type *: 1, default: 0), #field);
#define KNOB(type, field, form, least, most, standard, unit, environment, help) IS_A(type, field)
#define KNOB_POINTER(type, field, form, environment, help) IS_A(type, field)
#include "life/knobs.def"
#define KNOB_BIT(field, bit, environment, help) | bit
_Static_assert((0
#include "life/knobs.def"
) == MELY_STEAL_ALL, "MELY_STEAL_ALL");

enum { KNOBS = sizeof knobs / sizeof knobs[0], BITS_COUNT = sizeof bits / sizeof bits[0] };

static bool
is_number(const struct knob *knob)
{
	return knob->type == INT || knob->type == UNSIGNED || knob->type == UNSIGNED_64;
}

/* A number that no int64_t holds counts as INT64_MAX, which is out of every range. */
static int64_t
value_of(const struct mely_config *config, const struct knob *knob)
{
	const void *at = (const char *)config + knob->at;
	uint64_t large;

	if (knob->type == INT)
		return *(const int *)at;
	if (knob->type == UNSIGNED)
		return *(const unsigned *)at;
	large = *(const uint64_t *)at;
	return large < INT64_MAX ? (int64_t)large : INT64_MAX;
}

static void
set(struct mely_config *config, const struct knob *knob, int64_t value)
{
	void *at = (char *)config + knob->at;

	if (knob->type == INT)
		*(int *)at = (int)value;
	else if (knob->type == UNSIGNED)
		*(unsigned *)at = (unsigned)value;
	else
		*(uint64_t *)at = (uint64_t)value;
}

/* ---- the environment ----------------------------------------------------------------------- */

/* A decimal number between least and most. */
static bool
read_number(const char *text, int64_t least, int64_t most, int64_t *value)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || number < least || number > most)
		return false;
	*value = number;
	return true;
}

/* One of the words in "one|two|three", as its place. */
static bool
read_word(const char *text, const char *words, int64_t *value)
{
	size_t length = strlen(text);
	int64_t place;

	for (place = 0; words != NULL; place++) {
		const char *end = strchr(words, '|');
		size_t size = end != NULL ? (size_t)(end - words) : strlen(words);

		if (size == length && memcmp(words, text, size) == 0) {
			*value = place;
			return true;
		}
		words = end != NULL ? end + 1 : NULL;
	}
	return false;
}

/* Is this a signal that no program can catch, or that a thread sends itself by a fault? */
static bool
is_no_choice(int64_t signo)
{
	return signo == SIGKILL || signo == SIGSTOP || signo == SIGSEGV || signo == SIGBUS ||
	    signo == SIGILL || signo == SIGFPE || signo == SIGTRAP || signo == SIGSYS ||
	    signo == SIGABRT;
}

/* A signal by name, with or without SIG, or by number. */
static bool
read_signal(const char *text, const struct knob *knob, int64_t *value)
{
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text, *known;
	int signo;

	for (signo = 1; signo <= knob->most; signo++) {
		known = sigabbrev_np(signo); /* NULL: it has none */
		if (known != NULL && strcmp(name, known) == 0) {
			*value = signo;
			return true;
		}
	}
	return read_number(text, knob->least, knob->most, value);
}

static void
say_range(const char *name, const char *text, int64_t least, int64_t most)
{
	melyint_say("%s: '%s' is not a number between %" PRId64 " and %" PRId64, name, text, least,
	    most);
}

/* "auto|yes|no" as "auto, yes or no". */
static void
say_words(const char *name, const char *text, const char *words)
{
	const char *last = strrchr(words, '|');
	char list[64];
	size_t used = 0;

	for (; *words != '\0' && used < sizeof list - 5; words++) {
		const char *between = words == last ? " or " : ", ";

		if (*words != '|') {
			list[used++] = *words;
			continue;
		}
		memcpy(list + used, between, strlen(between));
		used += strlen(between);
	}
	list[used] = '\0';
	melyint_say("%s: '%s' is not %s", name, text, list);
}

/* The variable of a number, which is set. False after a line that names it. */
static bool
read_variable(struct mely_config *config, const struct knob *knob, const char *text)
{
	int64_t least = knob->form == AUTO ? 1 : knob->least, value;
	bool good;

	if (knob->form == WORDS)
		good = read_word(text, knob->unit, &value);
	else if (knob->form == SIGNAL)
		good = read_signal(text, knob, &value);
	else
		good = read_number(text, least, knob->most, &value);
	if (good && knob->form == SIGNAL && is_no_choice(value)) {
		melyint_say("%s: '%s' is a signal that cannot be caught or means a fault",
		    knob->environment, text);
		return false;
	}
	if (good)
		set(config, knob, value);
	else if (knob->form == WORDS)
		say_words(knob->environment, text, knob->unit);
	else if (knob->form == SIGNAL)
		melyint_say("%s: '%s' is not the name or number of a signal", knob->environment,
		    text);
	else
		say_range(knob->environment, text, least, knob->most);
	return good;
}

/* The library makes and removes files at these paths: a program with more rights than its caller
 * must not take them from the caller. A simulated runtime writes no files. */
static void
read_path(struct mely_config *config, const struct knob *knob)
{
	const char *text = secure_getenv(knob->environment);
	const char **path = (const char **)(void *)((char *)config + knob->at);

	if (text == NULL || *text == '\0')
		return;
	if (knob->form == SOCKET)
		*path = strcmp(text, "0") == 0 ? NULL : strcmp(text, "1") == 0 ? "" : text;
#ifndef MELYINT_SIM
	else
		*path = text;
#endif
}

static bool
read_bits(struct mely_config *config, const struct knob *knob)
{
	unsigned word = (unsigned)value_of(config, knob);
	bool good = true;
	size_t i;

	for (i = 0; i < BITS_COUNT; i++) {
		const char *text = getenv(bits[i].environment);
		int64_t on;

		if (strcmp(bits[i].field, knob->name) != 0 || text == NULL || *text == '\0')
			continue;
		if (!read_number(text, 0, 1, &on)) {
			say_range(bits[i].environment, text, 0, 1);
			good = false;
		} else {
			word = on != 0 ? word | bits[i].bit : word & ~bits[i].bit;
		}
	}
	set(config, knob, word);
	return good;
}

static void
set_defaults(struct mely_config *config)
{
	size_t i;

	memset(config, 0, sizeof *config);
	config->size = sizeof *config;
	for (i = 0; i < KNOBS; i++)
		if (is_number(&knobs[i]))
			set(config, &knobs[i], knobs[i].standard);
}

/* The defaults, then the environment. False: a variable has a bad value. */
static bool
fill(struct mely_config *config)
{
	bool good = true;
	size_t i;

	set_defaults(config);
	for (i = 0; i < KNOBS; i++) {
		const struct knob *knob = &knobs[i];
		const char *text;

		if (knob->form == BITS) {
			good &= read_bits(config, knob);
		} else if (knob->form == SOCKET || knob->form == PATH) {
			read_path(config, knob);
		} else if (knob->environment[0] != '\0') {
			text = getenv(knob->environment);
			if (text != NULL && *text != '\0')
				good &= read_variable(config, knob, text);
		}
	}
	return good;
}

int
mely_config_init_size(struct mely_config *config, size_t size)
{
	struct mely_config own;
	bool good;

	if (config == NULL || size < sizeof config->size)
		return -EINVAL;
	good = fill(&own);
	memset(config, 0, size);
	memcpy(config, &own, size < sizeof own ? size : sizeof own);
	config->size = size;
	return good ? 0 : -EINVAL;
}

/* The parentheses keep the macro away that makes of each call one with the caller's size. */
int
(mely_config_init)(struct mely_config *config)
{
	return mely_config_init_size(config, sizeof *config);
}

/* ---- ranges -------------------------------------------------------------------------------- */

static int
check(const struct mely_config *config)
{
	bool good = true;
	size_t i;

	for (i = 0; i < KNOBS; i++) {
		const struct knob *knob = &knobs[i];
		int64_t value;

		if (!is_number(knob))
			continue;
		value = value_of(config, knob);
		if (knob->form == SIGNAL && is_no_choice(value)) {
			melyint_say("config: %s is %" PRId64 ", a signal that cannot be caught or "
			    "means a fault", knob->name, value);
			good = false;
			continue;
		}
		if (value >= knob->least && value <= knob->most)
			continue;
		melyint_say("config: %s is %" PRId64 ", not a number between %" PRId64 " and %"
		    PRId64, knob->name, value, knob->least, knob->most);
		good = false;
	}
	return good ? 0 : -EINVAL;
}

/* Is all that the caller's struct has beyond the one known here 0? */
static bool
rest_is_0(const struct mely_config *given)
{
	const unsigned char *bytes = (const unsigned char *)given;
	size_t i;

	for (i = sizeof *given; i < given->size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

int
melyint_settings_take(struct mely_config *own, const struct mely_config *given)
{
	/* It has reported what it could not read; the defaults stand. */
	(void)fill(own);
	if (given == NULL)
		return 0;
	if (given->size < sizeof given->size) {
		melyint_say("config: not initialised with mely_config_init");
		return -EINVAL;
	}
	if (!rest_is_0(given)) {
		melyint_say("config: it has a setting that this version of the library lacks");
		return -EINVAL;
	}
	memcpy(own, given, given->size < sizeof *own ? given->size : sizeof *own);
	own->size = sizeof *own;
	return check(own);
}

bool
melyint_settings_allow(const char *name, int64_t value)
{
	size_t i = 0;

	while (i < KNOBS && strcmp(knobs[i].name, name) != 0)
		i++;
	MELY_ASSERT(i < KNOBS && is_number(&knobs[i]));
	return value >= knobs[i].least && value <= knobs[i].most;
}

int
melyint_settings_describe(const struct mely_config *config, char *buf, size_t size)
{
	size_t i;
	int used = 0;

	if (size > 0)
		buf[0] = '\0';
	for (i = 0; i < KNOBS; i++) {
		const struct knob *knob = &knobs[i];
		size_t room = (size_t)used < size ? size - (size_t)used : 0;
		char *at = room > 0 ? buf + used : NULL;

		if (is_number(knob) && value_of(config, knob) != knob->standard)
			used += snprintf(at, room, " %s=%" PRId64, knob->name,
			    value_of(config, knob));
		else if (knob->type == STRING &&
		    *(const char *const *)(const void *)((const char *)config + knob->at) != NULL)
			used += snprintf(at, room, " %s=%s", knob->name,
			    *(const char *const *)(const void *)((const char *)config + knob->at));
	}
	return used;
}
