/* SPDX-License-Identifier: MIT */
/*
 * predict_steal.c: around the library's steals and readings of the clock, for the meters of a
 * prediction. The linker leads the library's calls here (--wrap). Compiled as the library is.
 */
#include "core/core.h"
#include "sched/loop.h"
#include "sched/steal.h"
#include "predict.h"

bool __real_melyint_steal(struct melyint_core *thief);
bool __wrap_melyint_steal(struct melyint_core *thief);
bool __real_melyint_steal_glanced(struct melyint_core *thief);
bool __wrap_melyint_steal_glanced(struct melyint_core *thief);
void __real_melyint_balance(struct melyint_core *core, uint64_t now_ticks);
void __wrap_melyint_balance(struct melyint_core *core, uint64_t now_ticks);
void __real_melyint_core_loop(struct melyint_core *core);
void __wrap_melyint_core_loop(struct melyint_core *core);
int __real_sim_clock_gettime(struct timespec *now);
int __wrap_sim_clock_gettime(struct timespec *now);

void
__wrap_melyint_core_loop(struct melyint_core *core)
{
	sim_on_core(core->index);
	__real_melyint_core_loop(core);
}

bool
__wrap_melyint_steal(struct melyint_core *thief)
{
	bool stolen;

	sim_steal_begin(&thief->lock);
	stolen = __real_melyint_steal(thief);
	sim_steal_end();
	return stolen;
}

bool
__wrap_melyint_steal_glanced(struct melyint_core *thief)
{
	bool stolen;

	sim_steal_begin(&thief->lock);
	stolen = __real_melyint_steal_glanced(thief);
	sim_steal_end();
	return stolen;
}

void
__wrap_melyint_balance(struct melyint_core *core, uint64_t now_ticks)
{
	sim_steal_begin(&core->lock);
	__real_melyint_balance(core, now_ticks);
	sim_steal_end();
}

int
__wrap_sim_clock_gettime(struct timespec *now)
{
	sim_clock_read();
	return __real_sim_clock_gettime(now);
}
