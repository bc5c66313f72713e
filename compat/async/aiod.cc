/* SPDX-License-Identifier: MIT */
/*
 * aiod.cc: calls on paths, and buffers. Each call consists of two functions that share the result:
 * one runs on a helper thread and touches copies only, the other runs in color 0 and uses the
 * result.
 */
#include "../include/async/aiod.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "file_work.h"

using melycompat::file_call;
using melycompat::open_file;

namespace {

int
code_of(int result)
{
	return result < 0 ? errno : 0;
}

/* A null str is not a path. Neither is a str with a NUL, because the system would use only the part
 * before it. Both become the empty path, for which every call fails with ENOENT. */
std::string
copy(const str &s)
{
	return s && std::memchr(s.cstr(), '\0', s.len()) == nullptr ?
	    std::string(s.cstr(), s.len()) : std::string();
}

}

/* ---- buffers ---- */

aiobuf::aiobuf(melycompat::file_work *w, size_t n)
    : work(w), bytes(new char[n]()), length(n)
{
	work->buffer_made(length);
}

aiobuf::~aiobuf()
{
	delete[] bytes;
	work->buffer_gone(length);
}

ptr<aiobuf>
aiod::bufalloc(size_t bytes)
{
	if (!work->buffer_fits(bytes))
		return nullptr;
	return New refcounted<aiobuf>(work, bytes);
}

void
aiod::bufwait(cbv cb)
{
	work->when_room(cb);
}

/* ---- construction and destruction ---- */

aiod::aiod(u_int nproc, ssize_t shmsize, size_t maxbuf, bool, str, str)
    : work(new melycompat::file_work(this, nproc, shmsize > 0 ? (size_t)shmsize : 0, maxbuf))
{
}

/* Only file_work deletes it, and then deletes itself. */
aiod::~aiod()
{
}

void
aiod::finalize()
{
	work->finalize();
}

/* ---- calls on paths ---- */

void
aiod::open(str path, int flags, int mode, cbopen cb)
{
	open_file *file = new open_file{-1, nullptr, 0, 1, false};
	ref<aiofh> fh = New refcounted<aiofh>(work, file);
	std::string name = copy(path);

	work->submit(file, false, [=] {
		file->fd = ::open(name.c_str(), flags | O_CLOEXEC, (mode_t)mode);
		return code_of(file->fd);
	}, [=](int code) { (*cb)(code == 0 ? ptr<aiofh>(fh) : ptr<aiofh>(), code); });
}

void
aiod::opendir(str path, cbopen cb)
{
	open_file *file = new open_file{-1, nullptr, 0, 1, false};
	ref<aiofh> fh = New refcounted<aiofh>(work, file);
	std::string name = copy(path);

	work->submit(file, false, [=] {
		file->dir = ::opendir(name.c_str());
		if (file->dir == nullptr)
			return errno;
		file->fd = dirfd(file->dir);
		return 0;
	}, [=](int code) { (*cb)(code == 0 ? ptr<aiofh>(fh) : ptr<aiofh>(), code); });
}

void
aiod::stat(str path, cbstat cb)
{
	std::shared_ptr<struct stat> status = std::make_shared<struct stat>();
	std::string name = copy(path);

	work->submit(nullptr, false,
	    [=] { return code_of(::stat(name.c_str(), status.get())); },
	    [=](int code) { (*cb)(code == 0 ? status.get() : nullptr, code); });
}

void
aiod::lstat(str path, cbstat cb)
{
	std::shared_ptr<struct stat> status = std::make_shared<struct stat>();
	std::string name = copy(path);

	work->submit(nullptr, false,
	    [=] { return code_of(::lstat(name.c_str(), status.get())); },
	    [=](int code) { (*cb)(code == 0 ? status.get() : nullptr, code); });
}

void
aiod::readlink(str path, cbsi cb)
{
	std::shared_ptr<std::string> target = std::make_shared<std::string>();
	std::string name = copy(path);

	work->submit(nullptr, false, [=] {
		char buffer[PATH_MAX];
		ssize_t n = ::readlink(name.c_str(), buffer, sizeof buffer);
		if (n < 0)
			return errno;
		target->assign(buffer, (size_t)n);
		return 0;
	}, [=](int code) { (*cb)(code == 0 ? str(target->data(), target->size()) : str(), code); });
}

/* Submit a call that only succeeds or fails. */
static void
simple(melycompat::file_work *work, file_call call, cbi cb)
{
	work->submit(nullptr, false, std::move(call), [=](int code) { (*cb)(code); });
}

void
aiod::link(str from, str to, cbi cb)
{
	std::string a = copy(from), b = copy(to);

	simple(work, [=] { return code_of(::link(a.c_str(), b.c_str())); }, cb);
}

void
aiod::symlink(str from, str to, cbi cb)
{
	std::string a = copy(from), b = copy(to);

	simple(work, [=] { return code_of(::symlink(a.c_str(), b.c_str())); }, cb);
}

void
aiod::rename(str from, str to, cbi cb)
{
	std::string a = copy(from), b = copy(to);

	simple(work, [=] { return code_of(::rename(a.c_str(), b.c_str())); }, cb);
}

void
aiod::unlink(str path, cbi cb)
{
	std::string name = copy(path);

	simple(work, [=] { return code_of(::unlink(name.c_str())); }, cb);
}

void
aiod::mkdir(str path, int mode, cbi cb)
{
	std::string name = copy(path);

	simple(work, [=] { return code_of(::mkdir(name.c_str(), (mode_t)mode)); }, cb);
}

void
aiod::rmdir(str path, cbi cb)
{
	std::string name = copy(path);

	simple(work, [=] { return code_of(::rmdir(name.c_str())); }, cb);
}
