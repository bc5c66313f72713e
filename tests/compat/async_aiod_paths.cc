/* SPDX-License-Identifier: MIT */
/*
 * async_aiod_paths.cc: paths and directories without waiting in dialect "async". Section 1.9 of the
 * facts, aiod.h.
 */
#include <dirent.h>

#include "aiod_place.h"

static str
get_file(const char *name)
{
	char text[4096];
	FILE *f = fopen(in_place(name), "r");

	FACT(f != NULL);
	size_t n = fread(text, 1, sizeof text, f);
	fclose(f);
	return str(text, n);
}

static void
all_called_well(int n, int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(calls, n);
	FACTS_END();
}

/* ---- paths ---- */

static void
status_is(mode_t type, struct stat *status, int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(status->st_mode & S_IFMT, type);
	calls++;
}

static void
target_is(str path, int err)
{
	FACT_EQ(err, 0);
	FACT(path == "b");
	calls++;
}

static void
no_target(str path, int err)
{
	FACT(!path);
	FACT_EQ(err, EINVAL);
	calls++;
}

static void
check_paths(int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(calls, 13);
	FACT(get_file("c") == "text");
	FACT(access(in_place("a"), F_OK) < 0 && access(in_place("d"), F_OK) < 0);
	FACTS_END();
}

/* One helper: each call sees the effects of the previous one. */
static void
paths()
{
	begin();
	put_file("a", "text");
	files->link(in_place("a"), in_place("b"), wrap(no_error));
	files->unlink(in_place("a"), wrap(no_error));
	files->symlink("b", in_place("s"), wrap(no_error));
	files->stat(in_place("s"), wrap(status_is, (mode_t)S_IFREG));
	files->lstat(in_place("s"), wrap(status_is, (mode_t)S_IFLNK));
	files->readlink(in_place("s"), wrap(target_is));
	files->readlink(in_place("b"), wrap(no_target));
	files->rename(in_place("b"), in_place("c"), wrap(no_error));
	files->mkdir(in_place("d"), 0755, wrap(no_error));
	files->stat(in_place("d"), wrap(status_is, (mode_t)S_IFDIR));
	files->rmdir(in_place("d"), wrap(no_error));
	files->stat(in_place("d"), wrap(no_status, ENOENT));
	files->lstat(in_place("d"), wrap(no_status, ENOENT));
	files->unlink(in_place("s"), wrap(check_paths));
	amain();
}

static void
paths_that_fail()
{
	begin();
	files->link(in_place("a"), in_place("b"), wrap(error_is, ENOENT));
	files->symlink("x", place, wrap(error_is, EEXIST));
	files->rename(in_place("a"), in_place("b"), wrap(error_is, ENOENT));
	files->unlink(in_place("a"), wrap(error_is, ENOENT));
	files->mkdir(place, 0755, wrap(error_is, EEXIST));
	files->rmdir(in_place("a"), wrap(error_is, ENOENT));
	files->unlink(str(), wrap(error_is, ENOENT));
	files->mkdir(in_place("d"), 0755, wrap(all_called_well, 7));
	amain();
}

static void
not_opened(ptr<aiofh> fh, int err)
{
	FACT(!fh);
	FACT_EQ(err, ENOENT);
	calls++;
}

static void
no_link(str path, int err)
{
	FACT(!path);
	FACT_EQ(err, ENOENT);
	calls++;
}

static void
check_untouched(int err)
{
	FACT_EQ(err, ENOENT);
	FACT_EQ(calls, 14);
	FACT(get_file("a") == "text");
	FACT(access(in_place("b"), F_OK) < 0 && access(in_place("d"), F_OK) == 0);
	FACTS_END();
}

/* The part before the NUL exists, or could be created; it stays unchanged. */
static void
paths_with_a_nul()
{
	begin();
	put_file("a", "text");
	FACT(mkdir(in_place("d"), 0755) == 0 && symlink("a", in_place("s")) == 0);
	str a = in_place("a") << str("\0x", 2), b = in_place("b") << str("\0x", 2);
	str d = in_place("d") << str("\0x", 2), s = in_place("s") << str("\0x", 2);
	files->open(a, O_RDONLY, 0, wrap(not_opened));
	files->open(b, O_CREAT | O_RDWR, 0644, wrap(not_opened));
	files->opendir(d, wrap(not_opened));
	files->stat(a, wrap(no_status, ENOENT));
	files->lstat(a, wrap(no_status, ENOENT));
	files->readlink(s, wrap(no_link));
	files->link(a, in_place("b"), wrap(error_is, ENOENT));
	files->link(in_place("a"), b, wrap(error_is, ENOENT));
	files->symlink(a, in_place("b"), wrap(error_is, ENOENT));
	files->symlink("a", b, wrap(error_is, ENOENT));
	files->rename(a, in_place("b"), wrap(error_is, ENOENT));
	files->rename(in_place("a"), b, wrap(error_is, ENOENT));
	files->mkdir(b, 0755, wrap(error_is, ENOENT));
	files->rmdir(d, wrap(error_is, ENOENT));
	files->unlink(a, wrap(check_untouched));
	amain();
}

/* ---- directories ---- */

static int names;

static void
entries(ptr<aiofh> fh, ptr<aiobuf> buf, ssize_t n, int err)
{
	FACT_EQ(err, 0);
	if (n == 0) {
		FACT_EQ(names, 50 + 2);
		fh->closedir(wrap(end));
		return;
	}
	for (ssize_t at = 0; at < n; names++) {
		struct dirent *d = (struct dirent *)(buf->base() + at);
		FACT(d->d_name[0] == '.' || d->d_name[0] == 'f');
		at += d->d_reclen;
	}
	fh->readdir(buf, wrap(entries, fh));
}

static void
directory_opened(ptr<aiofh> fh, int err)
{
	FACT_EQ(err, 0);
	fh->readdir(files->bufalloc(400), wrap(entries, fh));
}

static void
reads_directories()
{
	begin();
	for (int i = 0; i < 50; i++)
		put_file(str(strbuf("f%d", i)), "");
	files->opendir(place, wrap(directory_opened));
	amain();
}

static const struct fact facts[] = {
	CASE(paths),
	CASE(paths_that_fail),
	CASE(paths_with_a_nul),
	CASE(reads_directories),
};

FACTS_MAIN(facts)
