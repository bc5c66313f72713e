/* SPDX-License-Identifier: MIT */
/* statics.c: see statics.h. */
#include "statics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LASTING_MAX = 32 << 10 };

extern char __start_sim_tls[], __stop_sim_tls[];
extern char __start_sim_lasting[], __stop_sim_lasting[];

/* Make the section exist even in a program without a library variable in it. */
static char sim_tls_filler __attribute__((section("sim_tls"), used));

/* Like sim_tls_filler, but for the variables that outlive a runtime. */
static char sim_lasting_filler __attribute__((section("sim_lasting"), used));

struct sim_statics sim_statics;

static size_t lasting_size;
static char lasting_clean[LASTING_MAX];

static void
keep(void)
{
	sim_statics.tls_size = (size_t)(__stop_sim_tls - __start_sim_tls);
	if (sim_statics.tls_size > SIM_TLS_MAX) {
		fprintf(stderr, "sim: %zu bytes of thread-local variables\n",
		    sim_statics.tls_size);
		exit(2);
	}
	memcpy(sim_statics.tls_clean, __start_sim_tls, sim_statics.tls_size);
	lasting_size = (size_t)(__stop_sim_lasting - __start_sim_lasting);
	if (lasting_size > LASTING_MAX) {
		fprintf(stderr, "sim: %zu bytes that outlive a runtime\n", lasting_size);
		exit(2);
	}
	memcpy(lasting_clean, __start_sim_lasting, lasting_size);
}

void
sim_statics_begin(void)
{
	if (sim_statics.tls_size == 0)
		keep();
	memcpy(__start_sim_lasting, lasting_clean, lasting_size);
}
