/* SPDX-License-Identifier: MIT */
/*
 * async_aiod.cc: files without waiting for them in dialect "async". Section 1.9 of the facts,
 * aiod.h.
 */
#include "vec.h"

#include <dirent.h>

#include "aiod_place.h"

static bool returned;

static ptr<aiobuf>
buffer_of(const char *text)
{
	ptr<aiobuf> b = files->bufalloc(strlen(text));

	FACT(b);
	memcpy(b->base(), text, b->size());
	return b;
}

static void
all_called(int n, int err)
{
	FACT_EQ(err, EBADF);
	FACT_EQ(calls, n);
	FACTS_END();
}

static void
expect_bytes(ssize_t wanted, int code, ptr<aiobuf>, ssize_t n, int err)
{
	FACT_EQ(n, wanted);
	FACT_EQ(err, code);
	calls++;
}

/* ---- files ---- */

static ptr<aiofh> file;

static void
read_back(ptr<aiobuf> wanted, ptr<aiobuf> buf, ssize_t n, int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(n, (ssize_t)wanted->size());
	FACT(memcmp(buf->base(), wanted->base(), n) == 0);
	FACT_EQ(buf->lim() - buf->base(), (ssize_t)buf->size());
	file->close(wrap(end));
}

static void
written(ptr<aiobuf> buf, ssize_t n, int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(n, (ssize_t)buf->size());
	file->read(0, files->bufalloc(n + 10), wrap(read_back, buf)); /* up to the end */
}

static void
opened(ptr<aiofh> fh, int err)
{
	FACT(returned); /* amain has been entered, but not the loop */
	FACT_EQ(err, 0);
	FACT(fh);
	FACT_EQ(get_current_color(), 0);
	file = fh;
	file->write(0, buffer_of("some text"), wrap(written));
}

static void
writes_and_reads()
{
	begin();
	files->open(in_place("a"), O_CREAT | O_RDWR, 0666, wrap(opened));
	returned = true;
	amain();
}

static void
open_in_callback()
{
	files->open(in_place("a"), O_CREAT | O_RDWR, 0666, wrap(opened));
	returned = true;
}

static void
never_before_it_returns()
{
	begin();
	delaycb(0, 0, wrap(open_in_callback));
	amain();
}

static void
not_opened(int code, ptr<aiofh> fh, int err)
{
	FACT(!fh);
	FACT_EQ(err, code);
	if (++calls == 3)
		FACTS_END();
}

static void
open_fails()
{
	begin();
	files->open(in_place("none"), O_RDONLY, 0, wrap(not_opened, ENOENT));
	files->open(place, O_WRONLY, 0, wrap(not_opened, EISDIR));
	files->opendir(in_place("none"), wrap(not_opened, ENOENT));
	amain();
}

static void
mode_is(struct stat *status, int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(status->st_mode & 0777, 0640);
	FACT_EQ(status->st_size, 0);
	FACTS_END();
}

static void
opened_for_mode(ptr<aiofh> fh, int err)
{
	FACT_EQ(err, 0);
	fh->fstat(wrap(mode_is));
}

static void
open_has_mode()
{
	begin();
	umask(0);
	files->open(in_place("a"), O_CREAT | O_WRONLY, 0640, wrap(opened_for_mode));
	amain();
}

static void
part_read(ptr<aiobuf> buf, ssize_t n, int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(n, 3);
	FACT(memcmp(buf->base(), "--bcd-", 6) == 0);
	FACTS_END();
}

static void
transfers_parts(ptr<aiofh> fh, int)
{
	ptr<aiobuf> from = buffer_of("xxabcdyy"), to = buffer_of("------");

	file = fh;
	fh->swrite(10, from, 2, 4, wrap(expect_bytes, 4, 0));
	fh->sread(11, to, 2, 3, wrap(part_read));
}

static void
bad_transfers(ptr<aiofh> fh, int)
{
	ptr<aiobuf> buf = buffer_of("12345");

	file = fh;
	fh->sread(0, buf, 3, 3, wrap(expect_bytes, -1, EINVAL));
	fh->sread(0, buf, 6, 0, wrap(expect_bytes, -1, EINVAL));
	fh->read(-1, buf, wrap(expect_bytes, -1, EINVAL));
	fh->read(0, NULL, wrap(expect_bytes, -1, EINVAL));
	fh->write(0, buf, wrap(expect_bytes, -1, EBADF)); /* it is open for reading only */
	fh->readdir(buf, wrap(expect_bytes, -1, ENOTDIR));
	fh->read(100, buf, wrap(expect_bytes, 0, 0));
	fh->closedir(wrap(end));
}

static void
parts_of_buffers()
{
	begin();
	files->open(in_place("a"), O_CREAT | O_RDWR, 0666, wrap(transfers_parts));
	amain();
}

static void
what_can_not_be_read()
{
	begin();
	put_file("a", "text");
	files->open(in_place("a"), O_RDONLY, 0, wrap(bad_transfers));
	amain();
}

static void
size_is(off_t size, struct stat *status, int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(status->st_size, size);
	calls++;
}

static void
truncates(ptr<aiofh> fh, int)
{
	file = fh;
	fh->fstat(wrap(size_is, (off_t)4));
	fh->ftrunc(1, wrap(no_error));
	fh->fsync(wrap(no_error));
	fh->fstat(wrap(size_is, (off_t)1));
	fh->close(wrap(no_error));
	/* Closed for later calls, though the helper has not closed it yet. */
	fh->fsync(wrap(error_is, EBADF));
	fh->fstat(wrap(no_status, EBADF));
	fh->read(0, buffer_of("x"), wrap(expect_bytes, -1, EBADF));
	fh->ftrunc(0, wrap(error_is, EBADF));
	fh->close(wrap(all_called, 9));
}

static void
calls_of_a_file()
{
	begin();
	put_file("a", "text");
	files->open(in_place("a"), O_RDWR, 0, wrap(truncates));
	amain();
}

/* ---- buffers ---- */

static vec<ptr<aiobuf> > held;
static bool may_be_called;

static void
there_is_room()
{
	FACT(may_be_called);
	FACT(files->bufalloc(1000));
	FACTS_END();
}

static void
free_one()
{
	may_be_called = true;
	held.pop_back();
}

static void
buffers_run_out()
{
	files = New aiod(1, 4096, 1024);
	ptr<aiobuf> b;
	while ((b = files->bufalloc(1024)))
		held.push_back(b);
	FACT_EQ(held.size(), 4);
	FACT(!files->bufalloc(1));
	files->bufwait(wrap(there_is_room));
	delaycb(0, 20000000, wrap(free_one));
	amain();
}

static void
buffer_too_large()
{
	files = New aiod(1, 4096, 1024);
	files->bufalloc(1025);
	FACTS_END();
}

static void
waited()
{
	FACT(returned);
	FACTS_END();
}

static void
wait_in_vain()
{
	files->bufwait(wrap(waited));
	returned = true;
}

/* There is room already, but the callback still comes later. */
static void
bufwait_without_need()
{
	files = New aiod;
	delaycb(0, wrap(wait_in_vain));
	amain();
}

/* ---- concurrency, and the end ---- */

static int finished;

struct worker : public virtual refcount {
	static int alive;
	aiod *a;
	ptr<aiobuf> buf;
	str path;

	worker(aiod *d, int number) : a(d), path(in_place(str(strbuf("w%d", number))))
	{
		alive++;
		start();
	}

	~worker()
	{
		if (--alive == 0) {
			FACT_EQ(finished, 32);
			FACTS_END();
		}
	}

	void
	start()
	{
		buf = a->bufalloc(path.len());
		if (!buf) {
			a->bufwait(wrap(mkref(this), &worker::start));
			return;
		}
		memcpy(buf->base(), path.cstr(), path.len());
		a->open(path, O_CREAT | O_RDWR, 0666, wrap(mkref(this), &worker::open_done));
	}

	void
	open_done(ptr<aiofh> fh, int err)
	{
		FACT_EQ(err, 0);
		fh->write(0, buf, wrap(mkref(this), &worker::write_done));
		/* closed behind it, by its last reference */
	}

	void
	write_done(ptr<aiobuf>, ssize_t n, int err)
	{
		FACT_EQ(err, 0);
		FACT_EQ(n, (ssize_t)path.len());
		a->stat(path, wrap(mkref(this), &worker::stat_done));
	}

	void
	stat_done(struct stat *status, int err)
	{
		FACT_EQ(err, 0);
		FACT_EQ(status->st_size, (off_t)path.len());
		finished++;
		buf = NULL;
		a->unlink(path, wrap(mkref(this), &worker::unlink_done));
	}

	void unlink_done(int err) { FACT_EQ(err, 0); }
};
int worker::alive;

/* Only three of them can have a buffer at a time. */
static void
many_on_one()
{
	begin();
	aiod *a = New aiod(4, 128, 64, false, "/no/such/aiod", "/no/such/place");
	for (int i = 0; i < 32; i++)
		ref<worker> w = New refcounted<worker>(a, i);
	amain();
}

/* One buffer for each, freed when its worker has finished. */
static void
finalize_when_idle()
{
	begin();
	for (int i = 0; i < 32; i++) {
		aiod *a = New aiod(1, 0x10000, 0x10000, false, "../async/aiod");
		ref<worker> w = New refcounted<worker>(a, i);
		a->finalize();
	}
	amain();
}

static void
finalize_at_once()
{
	aiod *a = New aiod;

	a->finalize(); /* the address sanitizer reports a leak if anything is left */
	FACTS_END();
}

static void
open_files_are_few(int)
{
	int fd = dup(0);

	FACT(fd >= 0 && fd < 200); /* dropped files have been closed */
	FACTS_END();
}

static void
opened_and_dropped(int left, ptr<aiofh> fh, int err)
{
	FACT_EQ(err, 0);
	FACT(fh);
	fh = NULL;
	if (left > 0)
		files->open(place, O_RDONLY, 0, wrap(opened_and_dropped, left - 1));
	else
		files->mkdir(in_place("d"), 0755, wrap(open_files_are_few));
}

static void
dropped_files_are_closed()
{
	begin();
	files->open(place, O_RDONLY, 0, wrap(opened_and_dropped, 500));
	amain();
}

static const struct fact facts[] = {
	CASE(writes_and_reads),
	CASE(never_before_it_returns),
	CASE(open_fails),
	CASE_ON(1, open_has_mode),
	CASE(parts_of_buffers),
	CASE_ON(2, what_can_not_be_read),
	CASE(calls_of_a_file),
	CASE(buffers_run_out),
	CASE_ENDS(buffer_too_large, 1000 + SIGABRT, "1024 at most"),
	CASE(bufwait_without_need),
	CASE(many_on_one),
	CASE(finalize_when_idle),
	CASE_ON(1, finalize_at_once),
	CASE(dropped_files_are_closed),
};

FACTS_MAIN(facts)
