/* SPDX-License-Identifier: MIT */
/*
 * settings.c: defaults, the environment, and what is out of range. Any thread.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <mely/runtime.h>

#include "base/assert.h"
#include "life/settings.h"

enum {
	HELPERS_MAX = 1024,
	STUCK_MS_MAX = 3600000,
	TRACE_EVENTS = 65536,
	TRACE_EVENTS_MAX = 1 << 24,
	TRACE_SAMPLE_MAX = 1000000,
	STALL_MS_MAX = 3600000,
	STEAL_NS_MAX = 100000000,
	SIGNAL_MAX = 64
};

/* A whole number between min and max from the environment; false when it is there and is none. */
static bool
env_number(const char *name, long min, long max, long *value)
{
	const char *text = getenv(name);
	char *end;
	long number;

	if (text == NULL || *text == '\0')
		return true;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno != 0 || *end != '\0' || number < min || number > max) {
		melyint_say("%s=%s: a number from %ld to %ld is wanted", name, text, min, max);
		return false;
	}
	*value = number;
	return true;
}

static bool
env_word(const char *name, const char *const words[], const char *wanted, long *value)
{
	const char *text = getenv(name);
	int i;

	if (text == NULL || *text == '\0')
		return true;
	for (i = 0; words[i] != NULL; i++) {
		if (strcmp(text, words[i]) == 0) {
			*value = i;
			return true;
		}
	}
	melyint_say("%s=%s: %s is wanted", name, text, wanted);
	return false;
}

static bool
env_switch(const char *name, int *on)
{
	long value = *on;
	bool good = env_number(name, 0, 1, &value);

	*on = (int)value;
	return good;
}

/* A signal by name, with or without SIG, or by number; 0 is none. */
static bool
env_signal(const char *name, int *signo)
{
	static const struct {
		const char *name;
		int signo;
	} known[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"QUIT", SIGQUIT}};
	const char *text = getenv(name);
	long value = *signo;
	size_t i;

	for (i = 0; text != NULL && i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(strncmp(text, "SIG", 3) == 0 ? text + 3 : text, known[i].name) == 0) {
			*signo = known[i].signo;
			return true;
		}
	}
	if (!env_number(name, 0, SIGNAL_MAX, &value))
		return false;
	*signo = (int)value;
	return true;
}

/* "0" is none, "1" the default place, anything else a path. */
static void
env_socket(const char *name, const char **path)
{
	const char *text = secure_getenv(name); /* files are made and removed there */

	if (text == NULL || *text == '\0')
		return;
	*path = strcmp(text, "0") == 0 ? NULL : strcmp(text, "1") == 0 ? "" : text;
}

static void
defaults(struct mely_config *config)
{
	memset(config, 0, sizeof *config);
	config->size = sizeof *config;
	config->steal = 1;
	config->time_left = 1;
	config->penalty = 1;
	config->locality = 1;
	config->measure = 1;
	config->learn_penalty = 1;
	config->balance = 1;
	config->batch_events = 10;
	config->spin_us_max = 10;
	config->stuck_ms = 4;
	config->stall_ms = 100;
	config->age_ms = 1000;
	config->stall_signal = SIGURG;
	config->drain_deadline_ns = 30000000000u;
	config->fd_residency_ms = 10;
	config->fd_residency_events = 1000;
	config->trace_events = TRACE_EVENTS;
	config->trace_sample = 1;
	config->helpers_files = 4;
	config->helpers_names = 4;
	config->helpers_user = 4;
}

int
mely_config_init(struct mely_config *config)
{
	static const char *const pins[] = {"auto", "yes", "no", NULL};
	static const char *const pollers[] = {"all", "1", NULL};
	long cores, pin = MELY_PIN_AUTO, poller = 0, batch, batch_us, spin, stuck, price;
	long events, sample;
	long stall, age, signum;
	bool good = true;

	defaults(config);
	cores = config->cores;
	batch = config->batch_events;
	batch_us = config->batch_us;
	spin = config->spin_us_max;
	stuck = config->stuck_ms;
	stall = config->stall_ms;
	age = config->age_ms;
	signum = config->stall_signal;
	price = config->steal_ns;
	events = config->trace_events;
	sample = config->trace_sample;
	good &= env_number("MELY_CORES", 1, MELY_CORES_MAX, &cores);
	good &= env_word("MELY_PIN", pins, "auto, yes or no", &pin);
	good &= env_switch("MELY_STEAL", &config->steal);
	good &= env_switch("MELY_TIME_LEFT", &config->time_left);
	good &= env_switch("MELY_PENALTY", &config->penalty);
	good &= env_switch("MELY_LOCALITY", &config->locality);
	good &= env_switch("MELY_MEASURE", &config->measure);
	good &= env_switch("MELY_LEARN_PENALTY", &config->learn_penalty);
	good &= env_number("MELY_STEAL_NS", 0, STEAL_NS_MAX, &price);
	good &= env_switch("MELY_BALANCE", &config->balance);
	good &= env_word("MELY_POLLERS", pollers, "all or 1", &poller);
	good &= env_number("MELY_BATCH", 1, MELYINT_BATCH_EVENTS_MAX, &batch);
	good &= env_number("MELY_BATCH_US", 0, 1000000, &batch_us);
	good &= env_number("MELY_SPIN_US", 0, 1000, &spin);
	good &= env_signal("MELY_DUMP_SIGNAL", &config->dump_signal);
	env_socket("MELY_SOCKET", &config->socket);
	good &= env_number("MELY_STUCK_MS", 0, STUCK_MS_MAX, &stuck);
	good &= env_number("MELY_TRACE_EVENTS", 1, TRACE_EVENTS_MAX, &events);
	good &= env_number("MELY_TRACE_SAMPLE", 1, TRACE_SAMPLE_MAX, &sample);
#ifndef MELYINT_SIM
	/* A file of the caller's choice is nothing for a program with more rights than he has. */
	config->trace = secure_getenv("MELY_TRACE");
#endif
	config->trace_events = (uint32_t)events;
	config->trace_sample = (uint32_t)sample;
	good &= env_number("MELY_STALL_MS", 0, STALL_MS_MAX, &stall);
	good &= env_number("MELY_AGE_MS", 0, STALL_MS_MAX, &age);
	good &= env_number("MELY_STALL_SIGNAL", 0, SIGRTMAX, &signum);
	config->cores = (int)cores;
	config->pinning = (enum mely_pinning)pin;
	config->pollers = (int)poller;
	config->batch_events = (uint32_t)batch;
	config->batch_us = (uint32_t)batch_us;
	config->spin_us_max = (uint32_t)spin;
	config->stuck_ms = (uint32_t)stuck;
	config->stall_ms = (uint32_t)stall;
	config->age_ms = (uint32_t)age;
	config->stall_signal = (int)signum;
	config->steal_ns = (uint32_t)price;
	return good ? 0 : -EINVAL;
}

static bool
in_range(const char *name, long value, long min, long max)
{
	if (value >= min && value <= max)
		return true;
	melyint_say("config: %s is %ld, not from %ld to %ld", name, value, min, max);
	return false;
}

int
melyint_settings_check(const struct mely_config *config)
{
	bool good = in_range("size", (long)config->size, (long)sizeof *config,
	    (long)sizeof *config) &&
	    in_range("cores", config->cores, 0, MELY_CORES_MAX) &&
	    in_range("pinning", (long)config->pinning, MELY_PIN_AUTO, MELY_PIN_NO) &&
	    in_range("pollers", config->pollers, 0, 1) &&
	    in_range("steal", config->steal, 0, 1) &&
	    in_range("time_left", config->time_left, 0, 1) &&
	    in_range("penalty", config->penalty, 0, 1) &&
	    in_range("locality", config->locality, 0, 1) &&
	    in_range("measure", config->measure, 0, 1) &&
	    in_range("learn_penalty", config->learn_penalty, 0, 1) &&
	    in_range("steal_ns", config->steal_ns, 0, STEAL_NS_MAX) &&
	    in_range("balance", config->balance, 0, 1) &&
	    in_range("batch_events", config->batch_events, 1, MELYINT_BATCH_EVENTS_MAX) &&
	    in_range("priority_rule", (long)config->priority_rule, MELY_PRIORITY_HIGHEST,
	        MELY_PRIORITY_LAST_POST) &&
	    in_range("dump_signal", config->dump_signal, 0, SIGNAL_MAX) &&
	    in_range("stuck_ms", config->stuck_ms, 0, STUCK_MS_MAX) &&
	    in_range("trace_events", config->trace_events, 1, TRACE_EVENTS_MAX) &&
	    in_range("trace_sample", config->trace_sample, 1, TRACE_SAMPLE_MAX) &&
	    in_range("stall_ms", config->stall_ms, 0, STALL_MS_MAX) &&
	    in_range("age_ms", config->age_ms, 0, STALL_MS_MAX) &&
	    in_range("stall_signal", config->stall_signal, 0, SIGRTMAX) &&
	    in_range("helpers_files", config->helpers_files, 1, HELPERS_MAX) &&
	    in_range("helpers_names", config->helpers_names, 1, HELPERS_MAX) &&
	    in_range("helpers_user", config->helpers_user, 1, HELPERS_MAX);

	return good ? 0 : -EINVAL;
}
