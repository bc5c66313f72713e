/* SPDX-License-Identifier: MIT */
/*
 * mb_rounds.h: the frame of the paper's microbenchmarks (section 5.2): rounds of fork and join.
 * An event of core 0 posts the first events of a round. After the last event has reported, core 0
 * checks the results, stolen colors return to their first core, and the next round begins. The
 * check and the return are not timed: the paper's rounds begin with everything on one core.
 */
#ifndef MB_ROUNDS_H
#define MB_ROUNDS_H

#include "mb_config.h"
#include "mb_mely.h"

/* The totals of a round. */
struct mb_tally {
	uint64_t events; /* run, all in all */
	uint64_t cycles; /* of work requested in them; 0: not known */
	uint64_t away_events; /* of these, run on another core than the first of their kind */
	uint64_t away_cycles;
};

/* One of the programs. */
struct mb_rounds_bench {
	/* Before the first run, in the parent: how long handlers take, where that is not given. */
	void (*profile)(void);
	/* In the child, before the runtime runs: count is the value of --colors. Returns how many
	 * mb_rounds_done calls end a round. */
	uint32_t (*setup)(struct mely_runtime *rt, const struct mb_config *config, int count);
	void (*begin)(void);                  /* post a round, in a handler on core 0 */
	void (*end)(struct mb_tally *tally);  /* check a round, take colors home */
	void (*teardown)(void);
};

/* The main function of one of them; program without what they have in common: --config, and the
 * paper's length of a run. */
int mb_rounds_main(const struct mb_program *program, const struct mb_rounds_bench *bench,
    int argc, char **argv);

/* One report of the round; after the last, the next round begins. In handlers. */
void mb_rounds_done(void);

/*
 * Let an idle color live on this core again, free to be stolen. One that is about to become idle,
 * as that of a round's last event, may stay where it is.
 */
void mb_rounds_home(struct mely_color *color, int core);

/* An annotation in ns from a time in cycles, at least 1. */
uint32_t mb_rounds_ns(uint64_t cycles);

/* Cycles that mb_burn takes beyond its argument; set by mb_rounds_main. */
extern uint64_t mb_burn_excess;

/*
 * Work for a number of cycles of the machine's clock, including the calls and clock readings; exact
 * on average, within the resolution of the clock.
 */
static inline void
mb_burn(uint64_t cycles)
{
	mb_spin(cycles > mb_burn_excess ? cycles - mb_burn_excess : 0);
}

#endif
