/* SPDX-License-Identifier: MIT */
/*
 * settings.h: is a configuration sound?
 */
#ifndef MELYINT_LIFE_SETTINGS_H
#define MELYINT_LIFE_SETTINGS_H

#include <stdbool.h>
#include <mely/runtime.h>

enum { MELYINT_BATCH_EVENTS_MAX = 1000000 };

/* 0, or -EINVAL after a line on stderr that names the setting. */
int melyint_settings_check(const struct mely_config *config);

#endif
