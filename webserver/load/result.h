/* SPDX-License-Identifier: MIT */
/*
 * result.h: what a core, a process or all slaves have measured. One thread at a time.
 */
#ifndef LOAD_RESULT_H
#define LOAD_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "load/hist.h"

enum load_counter {
#define LOAD_COUNTER(name, what) LOAD_##name,
#define LOAD_ERROR(name, what) LOAD_##name,
#include "load/counters.def"
#undef LOAD_COUNTER
#undef LOAD_ERROR
	LOAD_COUNTERS
};

struct load_counter_name {
	const char *name;
	const char *what;
	bool error;
};
extern const struct load_counter_name load_counter_names[LOAD_COUNTERS];

#define LOAD_STATUS_MAX 999
#define LOAD_SAMPLES 8
#define LOAD_SAMPLE_LEN 240

/** One second of the measured time. */
struct load_second {
	uint64_t responses, errors, bytes;
	struct load_hist *latency; /* coarse; NULL: nothing was answered */
};

struct load_result {
	uint64_t counters[LOAD_COUNTERS];
	uint64_t statuses[LOAD_STATUS_MAX + 1];
	struct load_hist *latency; /* of requests */
	struct load_hist *connect; /* until a connection is usable: with TLS, after the handshake */
	struct load_second *seconds;
	uint32_t seconds_count, seconds_size;
	uint64_t duration_ns;
	/* The first errors, for people. */
	char samples[LOAD_SAMPLES][LOAD_SAMPLE_LEN];
	uint32_t samples_count;
};

/** False when there is no memory. */
bool load_result_init(struct load_result *r);
void load_result_fini(struct load_result *r);

/** The record of a second of the measured time, made when needed; NULL: no memory. */
struct load_second *load_result_second(struct load_result *r, uint32_t number);

/** Count a response of that second. False when there is no memory. */
bool load_result_second_record(struct load_second *second, uint64_t latency_ns);

/** Keep the text of an error, if it is among the first. */
void load_result_sample(struct load_result *r, const char *text);

/** Add what from has measured at the same time. False when there is no memory. */
bool load_result_add(struct load_result *to, const struct load_result *from);

uint64_t load_result_errors(const struct load_result *r);

/** Write r as text, for a master. */
void load_result_write(const struct load_result *r, FILE *out);

/** Read such text into r, which is empty. False: it is another text, or there is no memory. */
bool load_result_read(struct load_result *r, char *text);

#endif
