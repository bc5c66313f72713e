/* SPDX-License-Identifier: MIT */
/*
 * user.h: giving up the rights of root: another root directory, and another user.
 */
#ifndef SWS_OPS_USER_H
#define SWS_OPS_USER_H

#include <sys/types.h>

#define SWS_GROUPS_MAX 256

/** The user to become. */
struct sws_user {
	uid_t uid;
	gid_t gid;
	gid_t groups[SWS_GROUPS_MAX];
	int groups_count;
};

/**
 * Look up USER or USER:GROUP, names or numbers. Before the root directory changes: the files that
 * name users are outside. 0, or -1 after one line on stderr.
 */
int sws_user_find(struct sws_user *user, const char *text);

/** Make DIR the root of all paths, and the current directory. 0, or -1 after one line. */
int sws_user_chroot(const char *dir);

/** Become the user, with no way back, before there is a second thread. 0, or -1 after one line. */
int sws_user_become(const struct sws_user *user);

#endif
