/* SPDX-License-Identifier: MIT */
/*
 * lockfile.cc: lock files, which one process at a time can hold. One color at a time.
 *
 * The lock is the system's lock on the open file (flock), so it ends with the process. Another
 * process may remove or replace the file during the wait. Then the lock is worthless, and the
 * procedure starts over.
 */
#include "async.h"

bool
stat_unchanged(const struct stat *before, const struct stat *after)
{
	return before->st_dev == after->st_dev && before->st_ino == after->st_ino &&
	    before->st_size == after->st_size && before->st_mtim == after->st_mtim &&
	    before->st_ctim == after->st_ctim;
}

bool
lockfile::openit()
{
	if (fd < 0)
		fd = open(path.cstr(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd >= 0;
}

void
lockfile::closeit()
{
	if (fd >= 0)
		close(fd);
	fd = -1;
	islocked = false;
}

/* Does the name still refer to the open file? */
bool
lockfile::fdok()
{
	struct stat named, opened;

	return fd >= 0 && stat(path.cstr(), &named) == 0 && fstat(fd, &opened) == 0 &&
	    named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

bool
lockfile::acquire(bool wait)
{
	int how = wait ? LOCK_EX : LOCK_EX | LOCK_NB;

	if (ok())
		return true;
	closeit();
	while (openit()) {
		if (flock(fd, how) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (fdok()) {
			islocked = true;
			return true;
		}
		closeit();
	}
	return false;
}

void
lockfile::release()
{
	closeit();
}

ptr<lockfile>
lockfile::alloc(const str &path, bool wait)
{
	ref<lockfile> lock = New refcounted<lockfile>(path);

	if (lock->acquire(wait))
		return lock;
	return NULL;
}
