/* SPDX-License-Identifier: MIT */
/*
 * topo.h: the machine: which processors this process has, and how far they are from each other.
 */
#ifndef MELYINT_LIFE_TOPO_H
#define MELYINT_LIFE_TOPO_H

#include "core/core.h"

/* Set cores_count, the PU of each core and the core sets of rt. 0 or a negative errno code. */
int melyint_topo_count(struct mely_runtime *rt);
int melyint_topo_place(struct mely_runtime *rt);
void melyint_topo_free(struct mely_runtime *rt);

/* Bind the calling thread to its core's PU, if cores are pinned. Failure is said once and the
 * thread runs unpinned. */
void melyint_topo_bind(struct melyint_core *core);

/*
 * Processors that a quota allows, rounded up; 0: no limit. root is where the cgroup file systems
 * are mounted and self the file that names the cgroups of the process; tests give others.
 */
int melyint_topo_quota(const char *root, const char *self);

#endif
