/* SPDX-License-Identifier: MIT */
/*
 * nofilter.c: in place of filter.c, where libseccomp is missing.
 */
#include <errno.h>

#include "ops/filter.h"

int
sws_filter_enforce(void)
{
	return -ENOSYS;
}
