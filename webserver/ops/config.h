/* SPDX-License-Identifier: MIT */
/*
 * config.h: the configuration file: the settings of the command line without the dashes, and sites
 * (libconfig's format).
 */
#ifndef SWS_OPS_CONFIG_H
#define SWS_OPS_CONFIG_H

#include <stdbool.h>

#include "ops/options.h"

struct sws_config;

/**
 * Read a file; NULL after one line on stderr. The name must last as long as the options, which note
 * it and the files that it includes.
 */
struct sws_config *sws_config_open(const char *file, struct sws_options *options);

/** Take over what the file says outside of sites. False after one line on stderr. */
bool sws_config_top(const struct sws_config *config, struct sws_options *options);

/** How many sites the file has; 0 without one. */
int sws_config_sites_count(const struct sws_config *config);

/** Add the sites of the file, each of which begins as options->site. False after one line. */
bool sws_config_sites(const struct sws_config *config, struct sws_options *options);

void sws_config_close(struct sws_config *config);

#endif
