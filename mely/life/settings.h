/* SPDX-License-Identifier: MIT */
/*
 * settings.h: ranges of the settings in life/knobs.def. Any thread.
 */
#ifndef MELYINT_LIFE_SETTINGS_H
#define MELYINT_LIFE_SETTINGS_H

#include <stdbool.h>
#include <mely/runtime.h>

/* The settings of given, which may be of another size than ours, or NULL. 0, or -EINVAL after a
 * line on stderr for each setting that is out of range. */
int melyint_settings_take(struct mely_config *own, const struct mely_config *given);

/* May the setting called name, a number, have this value? Writes nothing. */
bool melyint_settings_allow(const char *name, int64_t value);

/* The settings that differ from the defaults, as in " batch_events=3 pollers=1", like snprintf. */
int melyint_settings_describe(const struct mely_config *config, char *buf, size_t size);

#endif
