/* SPDX-License-Identifier: MIT */
/*
 * settings.c: defaults, the environment, and what is out of range. Any thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <mely/runtime.h>

#include "check.h"
#include "settings.h"

enum {
	HELPERS_MAX = 1024,
	STUCK_MS_MAX = 3600000,
	STEAL_NS_MAX = 100000000
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
	config->drain_deadline_ns = 30000000000u;
	config->fd_residency_ms = 10;
	config->fd_residency_events = 1000;
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
	bool good = true;

	defaults(config);
	cores = config->cores;
	batch = config->batch_events;
	batch_us = config->batch_us;
	spin = config->spin_us_max;
	stuck = config->stuck_ms;
	price = config->steal_ns;
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
	good &= env_number("MELY_STUCK_MS", 0, STUCK_MS_MAX, &stuck);
	config->cores = (int)cores;
	config->pinning = (enum mely_pinning)pin;
	config->pollers = (int)poller;
	config->batch_events = (uint32_t)batch;
	config->batch_us = (uint32_t)batch_us;
	config->spin_us_max = (uint32_t)spin;
	config->stuck_ms = (uint32_t)stuck;
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
	    in_range("stuck_ms", config->stuck_ms, 0, STUCK_MS_MAX) &&
	    in_range("helpers_files", config->helpers_files, 1, HELPERS_MAX) &&
	    in_range("helpers_names", config->helpers_names, 1, HELPERS_MAX) &&
	    in_range("helpers_user", config->helpers_user, 1, HELPERS_MAX);

	return good ? 0 : -EINVAL;
}
