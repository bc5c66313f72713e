/* SPDX-License-Identifier: MIT */
/*
 * noconfig.c: in place of config.c, where libconfig is missing.
 */
#include <stdio.h>

#include "ops/config.h"

struct sws_config *
sws_config_open(const char *file, struct sws_options *options)
{
	(void)options;
	fprintf(stderr, "sws: --config: cannot read %s: sws is built without libconfig\n", file);
	return NULL;
}

bool
sws_config_top(const struct sws_config *c, struct sws_options *o)
{
	(void)c;
	(void)o;
	return false;
}

int
sws_config_sites_count(const struct sws_config *c)
{
	(void)c;
	return 0;
}

bool
sws_config_sites(const struct sws_config *c, struct sws_options *o)
{
	(void)c;
	(void)o;
	return false;
}

void
sws_config_close(struct sws_config *c)
{
	(void)c;
}
