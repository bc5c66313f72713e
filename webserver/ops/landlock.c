/* SPDX-License-Identifier: MIT */
/*
 * landlock.c: the numbers are those of the kernel's documentation, so that sws uses all that the
 * kernel has, however old the headers are that it is built with.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assertion.h"
#include "ops/landlock.h"

/* The calls have the same numbers on all machines. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446

#define CREATE_VERSION 1u
#define RULE_PATH_BENEATH 1

/* What can be done with files. The first 13 are those of ABI 1. */
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define REMOVE_FILE (UINT64_C(1) << 5)
#define MAKE_REG (UINT64_C(1) << 8)
#define ALL_1 ((UINT64_C(1) << 13) - 1)
#define REFER (UINT64_C(1) << 13)       /* ABI 2 */
#define TRUNCATE (UINT64_C(1) << 14)    /* ABI 3 */
#define IOCTL_DEV (UINT64_C(1) << 15)   /* ABI 5 */
/* ABI 4: TCP. */
#define NET_BIND UINT64_C(1)
#define NET_CONNECT UINT64_C(2)
/* ABI 6: processes outside of the sandbox. */
#define SCOPE_ABSTRACT UINT64_C(1)
#define SCOPE_SIGNAL UINT64_C(2)

struct rules {
	uint64_t files, net, scope;
};

struct beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

int
sws_landlock_abi(void)
{
	long abi = syscall(CREATE_RULESET, NULL, 0, CREATE_VERSION);

	return abi >= 0 ? (int)abi : -errno;
}

int
sws_landlock_begin(int abi, bool abstract)
{
	struct rules rules = {.files = ALL_1};
	long fd;

	SWS_ASSERT(abi >= 1);
	if (abi >= 2)
		rules.files |= REFER;
	if (abi >= 3)
		rules.files |= TRUNCATE;
	/* The listening sockets are there already. */
	if (abi >= 4)
		rules.net = NET_BIND | NET_CONNECT;
	if (abi >= 5)
		rules.files |= IOCTL_DEV;
	if (abi >= 6)
		rules.scope = SCOPE_SIGNAL | (abstract ? 0 : SCOPE_ABSTRACT);
	/* An older kernel takes a longer struct whose rest is zero. */
	fd = syscall(CREATE_RULESET, &rules, sizeof rules, 0);
	return fd >= 0 ? (int)fd : -errno;
}

int
sws_landlock_allow(int rules, const char *path, unsigned use)
{
	struct beneath b = {.fd = open(path, O_PATH | O_CLOEXEC)};
	struct stat st;
	int status = 0;

	SWS_ASSERT(rules >= 0 && use != 0);
	if (b.fd < 0)
		return -errno;
	/* The kernel refuses the rights of directories for a file. */
	if (fstat(b.fd, &st) == 0 && S_ISDIR(st.st_mode))
		b.allowed = (use & SWS_LANDLOCK_READ ? READ_FILE | READ_DIR : 0)
		    | (use & SWS_LANDLOCK_WRITE ? WRITE_FILE | MAKE_REG | REMOVE_FILE : 0)
		    | (use & SWS_LANDLOCK_REMOVE ? REMOVE_FILE : 0);
	else
		b.allowed = (use & SWS_LANDLOCK_READ ? READ_FILE : 0)
		    | (use & SWS_LANDLOCK_WRITE ? WRITE_FILE : 0);
	if (b.allowed != 0 && syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &b, 0) != 0)
		status = -errno;
	close(b.fd);
	return status;
}

int
sws_landlock_enforce(int rules)
{
	int status = 0;

	SWS_ASSERT(rules >= 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
	    || syscall(RESTRICT_SELF, rules, 0) != 0)
		status = -errno;
	close(rules);
	return status;
}
