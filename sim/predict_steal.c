/* SPDX-License-Identifier: MIT */
/*
 * predict_steal.c: wraps the library's steals and clock reads, for the meters of a prediction. The
 * linker redirects the library's calls to it (--wrap). It is compiled like the library.
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
