/* SPDX-License-Identifier: MIT */
/*
 * filter.h: the list of system calls that sws may use, enforced by seccomp.
 */
#ifndef SWS_OPS_FILTER_H
#define SWS_OPS_FILTER_H

/**
 * From here on this process makes the system calls of the list only. What starts programs or looks
 * into other processes ends it; all else fails with ENOSYS. 0 or a negative errno: -ENOSYS if sws
 * is built without libseccomp.
 */
int sws_filter_enforce(void);

#endif
