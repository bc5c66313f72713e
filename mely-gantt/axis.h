/* SPDX-License-Identifier: MIT */
/*
 * axis.h: times as people write them, and where the ticks of a time axis go. No state.
 */
#ifndef GANTT_AXIS_H
#define GANTT_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A number with ns, us, ms or s behind it (0 needs none), as nanoseconds. */
bool gantt_time_parse(const char *text, int64_t *ns);

/** A duration in the unit that suits it, three digits: "1.24 ms". */
void gantt_time_text(int64_t ns, char *text, size_t size);

/** A time to the nanosecond, without the zeros at its end: "1.0377 s". */
void gantt_time_exact(int64_t ns, char *text, size_t size);

/** A step of 1, 2 or 5 times a power of ten such that there are at most `most` of them. */
int64_t gantt_axis_step(int64_t span, int most);

/**
 * The label of a tick, in the unit that suits the largest one. The digits behind the point are as
 * many as tell two ticks apart.
 */
void gantt_axis_label(int64_t ns, int64_t step, int64_t largest, char *text, size_t size);

#endif
