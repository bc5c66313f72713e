/* SPDX-License-Identifier: MIT */
/*
 * aiod.h: files and directories without waiting for the disk. Helper threads of the runtime do what
 * helper processes with shared memory did in the original.
 */
#ifndef _ASYNC_AIOD_H_
#define _ASYNC_AIOD_H_ 1

#include "async.h"

#pragma GCC system_header

class aiod;
class aiofh;

namespace melycompat {
class file_work;
struct open_file;
}

/** Memory for reads and writes: aiod::bufalloc. It counts against the limit of its aiod while it
 * lives. Once a call has it, do not touch it until the call's callback. */
class aiobuf : public virtual refcount
{
	friend class aiod;

public:
	char *base() { return bytes; }
	const char *base() const { return bytes; }
	/** The size in bytes, as requested. */
	size_t size() const { return length; }
	char *lim() { return bytes + length; }
	const char *lim() const { return bytes + length; }

protected:
	aiobuf(melycompat::file_work *w, size_t n);
	~aiobuf();

private:
	melycompat::file_work *const work;
	char *const bytes;
	const size_t length;

	aiobuf(const aiobuf &);
	aiobuf &operator=(const aiobuf &);
};

/**
 * Runs calls in the order made, up to nproc of them at a time. For color 0, where the callbacks
 * run, too: never before the call returns. A call before amain is accepted. The last argument of a
 * callback is 0 or an errno code.
 */
class aiod
{
	friend class melycompat::file_work;

public:
	typedef callback<void, str, int>::ref cbsi;
	/** The status is valid during the call only; NULL on an error. */
	typedef callback<void, struct stat *, int>::ref cbstat;
	typedef callback<void, ptr<aiofh>, int>::ref cbopen;

	/**
	 * nproc: the number of calls that run at a time; with 1 each call sees the effects of the
	 * previous one. shmsize: the total size of all buffers, in bytes. maxbuf: the size of the
	 * largest buffer. The rest is ignored, since no helper program is run from path. Create
	 * objects only with New.
	 */
	aiod(u_int nproc = 1, ssize_t shmsize = 0x400000, size_t maxbuf = 0x100000,
	    bool pin = false, str path = str(), str tmpdir = str());

	/** Delete the object after its last call, buffer and open file, possibly now. Callbacks
	 * that hold one of these may still use the object until then. */
	void finalize();

	/** A buffer of at most maxbuf bytes; null if there is no room for it now. */
	ptr<aiobuf> bufalloc(size_t bytes);
	/** Call cb once when there may be room again. */
	void bufwait(cbv cb);

	void open(str path, int flags, int mode, cbopen cb);
	void opendir(str path, cbopen cb);
	void stat(str path, cbstat cb);
	void lstat(str path, cbstat cb);
	void readlink(str path, cbsi cb);
	void link(str from, str to, cbi cb);
	void symlink(str from, str to, cbi cb);
	void rename(str from, str to, cbi cb);
	void unlink(str path, cbi cb);
	void mkdir(str path, int mode, cbi cb);
	void rmdir(str path, cbi cb);

private:
	melycompat::file_work *const work;

	~aiod();
	aiod(const aiod &);
	aiod &operator=(const aiod &);
};

/** An open file or directory: aiod::open, opendir. The rules of aiod apply; dropping the last
 * reference closes it. */
class aiofh : public virtual refcount
{
	friend class aiod;

public:
	/** The buffer, the number of bytes (0: the end; -1: an error), and 0 or an errno code. */
	typedef callback<void, ptr<aiobuf>, ssize_t, int>::ref cbrw;

	/** Fill buf from offset `at` of the file, up to its end; or write all of buf there. */
	void read(off_t at, ptr<aiobuf> buf, cbrw cb);
	void write(off_t at, ptr<aiobuf> buf, cbrw cb);
	/** Like read and write, but with the n bytes of buf from its byte `start` on. */
	void sread(off_t at, ptr<aiobuf> buf, u_int32_t start, u_int32_t n, cbrw cb);
	void swrite(off_t at, ptr<aiobuf> buf, u_int32_t start, u_int32_t n, cbrw cb);
	/** Fill buf with the next entries of a directory: struct dirents of d_reclen bytes. */
	void readdir(ptr<aiobuf> buf, cbrw cb);
	void ftrunc(off_t bytes, cbi cb);
	void fsync(cbi cb);
	void fstat(aiod::cbstat cb);
	/** Close the file after the earlier calls. Later calls get EBADF. */
	void close(cbi cb);
	void closedir(cbi cb);

protected:
	aiofh(melycompat::file_work *w, melycompat::open_file *f);
	~aiofh();

private:
	melycompat::file_work *const work;
	melycompat::open_file *const file;

	void transfer(bool writes, off_t at, ptr<aiobuf> buf, size_t start, size_t n, cbrw cb);
	aiofh(const aiofh &);
	aiofh &operator=(const aiofh &);
};

#endif
