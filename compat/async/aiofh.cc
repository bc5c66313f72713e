/* SPDX-License-Identifier: MIT */
/*
 * aiofh.cc: calls on open files and directories; works like aiod.cc.
 */
#include <cerrno>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "file_work.h"

using melycompat::file_call;
using melycompat::file_reply;
using melycompat::file_work;
using melycompat::open_file;

aiofh::aiofh(file_work *w, open_file *f)
    : work(w), file(f)
{
	work->hold();
}

static int
close_file(open_file *file)
{
	int result = file->dir != nullptr ? ::closedir(file->dir) : ::close(file->fd);

	file->dir = nullptr;
	file->fd = -1;
	return result < 0 ? errno : 0;
}

/* A helper thread closes the file, since close may block, too. */
aiofh::~aiofh()
{
	open_file *f = file;

	if (!f->closing && f->fd >= 0)
		work->submit(f, true, [f] { return close_file(f); }, [](int) { });
	work->leave(f);
	work->release();
}

void
aiofh::close(cbi cb)
{
	open_file *f = file;
	file_reply reply = [cb](int code) { (*cb)(code); };

	if (f->closing) {
		work->refuse(EBADF, reply);
		return;
	}
	f->closing = true;
	work->submit(f, true, [f] { return close_file(f); }, reply);
}

void
aiofh::closedir(cbi cb)
{
	close(cb);
}

/* Submit a call on a file that is still open. */
static void
on_file(file_work *work, open_file *f, file_call call, file_reply reply)
{
	if (f->closing)
		work->refuse(EBADF, std::move(reply));
	else
		work->submit(f, false, std::move(call), std::move(reply));
}

/* ---- reading and writing ---- */

/* Runs on a helper thread; reads or writes everything, up to the end of the file. */
static int
transfer_all(bool writes, int fd, off_t at, char *base, size_t n, size_t *done)
{
	*done = 0;
	while (*done < n) {
		off_t here = at + (off_t)*done;
		ssize_t part = writes ? ::pwrite(fd, base + *done, n - *done, here) :
		    ::pread(fd, base + *done, n - *done, here);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return errno;
		if (part == 0)
			break;
		*done += (size_t)part;
	}
	return 0;
}

void
aiofh::transfer(bool writes, off_t at, ptr<aiobuf> buf, size_t start, size_t n, cbrw cb)
{
	std::shared_ptr<size_t> done = std::make_shared<size_t>(0);
	file_reply reply = [=](int code) { (*cb)(buf, code == 0 ? (ssize_t)*done : -1, code); };
	open_file *f = file;

	if (!buf || at < 0 || start > buf->size() || n > buf->size() - start) {
		work->refuse(EINVAL, reply);
		return;
	}
	char *base = buf->base() + start;
	on_file(work, f, [=] { return transfer_all(writes, f->fd, at, base, n, done.get()); },
	    reply);
}

void
aiofh::read(off_t at, ptr<aiobuf> buf, cbrw cb)
{
	transfer(false, at, buf, 0, buf ? buf->size() : 0, cb);
}

void
aiofh::write(off_t at, ptr<aiobuf> buf, cbrw cb)
{
	transfer(true, at, buf, 0, buf ? buf->size() : 0, cb);
}

void
aiofh::sread(off_t at, ptr<aiobuf> buf, u_int32_t start, u_int32_t n, cbrw cb)
{
	transfer(false, at, buf, start, n, cb);
}

void
aiofh::swrite(off_t at, ptr<aiobuf> buf, u_int32_t start, u_int32_t n, cbrw cb)
{
	transfer(true, at, buf, start, n, cb);
}

/* Runs on a helper thread; reads as many entries as fit. */
static int
entries(DIR *dir, char *base, size_t n, size_t *done)
{
	*done = 0;
	if (dir == nullptr)
		return ENOTDIR;
	for (;;) {
		long here = telldir(dir);
		errno = 0;
		const struct dirent *entry = ::readdir(dir);
		if (entry == nullptr)
			return errno;
		if (entry->d_reclen > n - *done) {
			seekdir(dir, here);
			return *done == 0 ? EINVAL : 0;
		}
		std::memcpy(base + *done, entry, entry->d_reclen);
		*done += entry->d_reclen;
	}
}

void
aiofh::readdir(ptr<aiobuf> buf, cbrw cb)
{
	std::shared_ptr<size_t> done = std::make_shared<size_t>(0);
	file_reply reply = [=](int code) { (*cb)(buf, code == 0 ? (ssize_t)*done : -1, code); };
	open_file *f = file;

	if (!buf) {
		work->refuse(EINVAL, reply);
		return;
	}
	char *base = buf->base();
	size_t n = buf->size();
	on_file(work, f, [=] { return entries(f->dir, base, n, done.get()); }, reply);
}

/* ---- other calls ---- */

void
aiofh::ftrunc(off_t bytes, cbi cb)
{
	open_file *f = file;

	on_file(work, f, [=] { return ::ftruncate(f->fd, bytes) < 0 ? errno : 0; },
	    [=](int code) { (*cb)(code); });
}

void
aiofh::fsync(cbi cb)
{
	open_file *f = file;

	on_file(work, f, [=] { return ::fsync(f->fd) < 0 ? errno : 0; },
	    [=](int code) { (*cb)(code); });
}

void
aiofh::fstat(aiod::cbstat cb)
{
	std::shared_ptr<struct stat> status = std::make_shared<struct stat>();
	open_file *f = file;

	on_file(work, f, [=] { return ::fstat(f->fd, status.get()) < 0 ? errno : 0; },
	    [=](int code) { (*cb)(code == 0 ? status.get() : nullptr, code); });
}
