/* SPDX-License-Identifier: MIT */
/*
 * user.c: another user, or another root directory, is asked for in the name of safety, so anything
 * that fails ends the start.
 */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/assertion.h"
#include "ops/user.h"

static int
refuse(const char *option, const char *value, const char *why)
{
	fprintf(stderr, "sws: --%s: %s: %s\n", option, value, why);
	return -1;
}

/* A number from 1 on; 0: it is none. */
static unsigned
number_of(const char *text)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && n < UINT_MAX
	    ? (unsigned)n : 0;
}

/* 0, or -1 after one line. */
static int
find_group(struct sws_user *user, const char *text, const char *group)
{
	const struct group *g = getgrnam(group);

	user->gid = g != NULL ? g->gr_gid : number_of(group);
	return user->gid != 0 ? 0 : refuse("user", text, "there is no such group but that of root");
}

int
sws_user_find(struct sws_user *user, const char *text)
{
	char name[256];
	const char *colon = strchr(text, ':');
	size_t len = colon != NULL ? (size_t)(colon - text) : strlen(text);
	const struct passwd *p;

	if (geteuid() != 0)
		return refuse("user", text, "only root can become another user");
	if (len == 0 || len >= sizeof name)
		return refuse("user", text, "there is no such user");
	memcpy(name, text, len);
	name[len] = '\0';
	p = getpwnam(name);
	if (p == NULL && number_of(name) != 0)
		p = getpwuid(number_of(name));
	user->uid = p != NULL ? p->pw_uid : number_of(name);
	user->gid = p != NULL ? p->pw_gid : 0;
	if (p == NULL && user->uid == 0)
		return refuse("user", text, "there is no such user");
	if (user->uid == 0)
		return refuse("user", text, "that is root");
	if (colon != NULL) {
		if (p != NULL)
			snprintf(name, sizeof name, "%s", p->pw_name);
		if (find_group(user, text, colon + 1) != 0)
			return -1;
	} else if (p == NULL) {
		return refuse("user", text, "a number that has no name needs a group, too");
	}
	user->groups_count = SWS_GROUPS_MAX;
	if (p == NULL) {
		user->groups[0] = user->gid;
		user->groups_count = 1;
	} else if (getgrouplist(p->pw_name, user->gid, user->groups, &user->groups_count) < 0) {
		return refuse("user", text, "it is in too many groups");
	}
	return 0;
}

int
sws_user_chroot(const char *dir)
{
	if (geteuid() != 0)
		return refuse("chroot", dir, "only root can change its root directory");
	if (chdir(dir) != 0 || chroot(".") != 0 || chdir("/") != 0)
		return refuse("chroot", dir, strerror(errno));
	return 0;
}

/* Is the process this user in every respect, and can it not go back? */
static bool
is(const struct sws_user *user)
{
	uid_t real, effective, saved;
	gid_t greal, geffective, gsaved;

	return getresuid(&real, &effective, &saved) == 0 && getresgid(&greal, &geffective, &gsaved)
	    == 0 && real == user->uid && effective == user->uid && saved == user->uid
	    && greal == user->gid && geffective == user->gid && gsaved == user->gid
	    && getgroups(0, NULL) == user->groups_count && setuid(0) != 0;
}

int
sws_user_become(const struct sws_user *user)
{
	char number[16];

	SWS_ASSERT(user->uid != 0 && user->groups_count >= 1);
	snprintf(number, sizeof number, "%u", (unsigned)user->uid);
	/* The groups first: afterwards they may not be changed. */
	if (setgroups((size_t)user->groups_count, user->groups) != 0
	    || setresgid(user->gid, user->gid, user->gid) != 0
	    || setresuid(user->uid, user->uid, user->uid) != 0)
		return refuse("user", number, strerror(errno));
	if (!is(user))
		return refuse("user", number, "the change of user has no effect");
	/* Others of that user may not look into the memory, which may hold keys. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return 0;
}
