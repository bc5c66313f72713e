/* SPDX-License-Identifier: MIT */
/*
 * pipe2str.cc: reads a descriptor, or the output of a child, up to its end. Color 0.
 */
#include "async.h"
#include "rwfd.h"

namespace melycompat {

namespace {

enum { READ_BYTES = 8192 };

/* Reads until the end, then calls the program and deletes itself. */
class reader {
public:
	reader(int f, const cbs &c, int *fp, strbuf *s) : fd(f), cb(c), fdp(fp), sb(s)
	{
		make_async(fd);
		fdcb(fd, selread, wrap(this, &reader::ready));
	}

private:
	int fd;
	cbs cb;
	int *fdp;
	strbuf *sb;
	strbuf text;

	ssize_t
	read_some(char *bytes)
	{
		if (fdp != nullptr && *fdp < 0)
			return readfd(fd, bytes, READ_BYTES, fdp);
		return read(fd, bytes, READ_BYTES);
	}

	void
	ready()
	{
		char bytes[READ_BYTES];
		ssize_t n = read_some(bytes);

		if (n > 0) {
			/* A copy: the callee must not keep a pointer to this stack. */
			str part(bytes, static_cast<size_t>(n));

			text << part;
			if (sb != nullptr)
				*sb << part;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			finish(n == 0 ? 0 : errno);
	}

	void
	finish(int error)
	{
		cbs c = cb;
		str all;

		if (error == 0)
			all = text;
		fdcb(fd, selread, NULL);
		close(fd);
		delete this;
		errno = error;
		(*c)(all);
	}
};

void
tell_failure(cbs cb, int error)
{
	errno = error;
	(*cb)(NULL);
}

}

}

using namespace melycompat;

void
pipe2str(int fd, cbs cb, int *fdp, strbuf *sb)
{
	new reader(fd, cb, fdp, sb);
}

void
chldrun(cbi chld, cbs cb)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		delaycb(0, 0, wrap(tell_failure, cb, errno));
		return;
	}
	pid = afork();
	if (pid == 0) {
		close(fds[0]);
		(*chld)(fds[1]);
		_exit(0);
	}
	if (pid < 0) {
		delaycb(0, 0, wrap(tell_failure, cb, errno));
		close(fds[0]);
	} else
		pipe2str(fds[0], cb);
	close(fds[1]);
}
