/* SPDX-License-Identifier: MIT */
/*
 * async_rwfd.cc: descriptors passed along with bytes in dialect "async". Of section 1.4 of the
 * facts.
 */
#include "async.h"

#include "facts.h"

static int ends[2], pipes[2];

static void
make_pairs(int type)
{
	FACT(socketpair(AF_UNIX, type, 0, ends) == 0);
	FACT(pipe(pipes) == 0);
	make_async(ends[1]);
}

static int
descriptors()
{
	int n = 0, fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Is it the reading end of the pipe? */
static void
check_passed(int fd)
{
	char c = 0;

	FACT(fd >= 0 && fd != pipes[0]);
	FACT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	FACT(write(pipes[1], "y", 1) == 1);
	FACT(read(fd, &c, 1) == 1 && c == 'y');
}

static void
passes()
{
	char buf[16];
	int fd = 5;

	make_pairs(SOCK_STREAM);
	FACT_EQ(writefd(ends[0], "hello", 5, pipes[0]), 5);
	FACT(fcntl(pipes[0], F_GETFD) >= 0); /* still open here */
	FACT_EQ(readfd(ends[1], buf, sizeof buf, &fd), 5);
	FACT(memcmp(buf, "hello", 5) == 0);
	check_passed(fd);
	FACTS_END();
}

static void
only_bytes()
{
	char buf[16];
	int fd = 5;

	make_pairs(SOCK_STREAM);
	FACT_EQ(writefd(ends[0], "abc", 3, -1), 3);
	FACT_EQ(readfd(ends[1], buf, sizeof buf, &fd), 3);
	FACT_EQ(fd, -1);
	FACTS_END();
}

static void
vectors()
{
	char hel[4] = "hel", lo[3] = "lo", one[1], rest[16];
	iovec out[2] = {{hel, 3}, {lo, 2}}, in[2] = {{one, 1}, {rest, sizeof rest}};
	int fd = -1;

	make_pairs(SOCK_STREAM);
	FACT_EQ(writevfd(ends[0], out, 2, pipes[0]), 5);
	FACT_EQ(readvfd(ends[1], in, 2, &fd), 5);
	FACT(one[0] == 'h' && memcmp(rest, "ello", 4) == 0);
	check_passed(fd);
	FACT_EQ(writevfd(ends[0], out, 2, -1), 5);
	FACT_EQ(readvfd(ends[1], in, 2, &fd), 5);
	FACT_EQ(fd, -1);
	FACTS_END();
}

static void
the_end()
{
	char buf[16];
	int fd = 5;

	make_pairs(SOCK_STREAM);
	FACT_EQ(readfd(ends[1], buf, sizeof buf, &fd), -1);
	FACT_EQ(errno, EAGAIN);
	FACT_EQ(fd, -1);
	close(ends[0]);
	FACT_EQ(readfd(ends[1], buf, sizeof buf, &fd), 0);
	FACT_EQ(fd, -1);
	FACT_EQ(readfd(777, buf, sizeof buf, &fd), -1);
	FACT_EQ(errno, EBADF);
	FACT_EQ(writefd(ends[1], "x", 1, pipes[0]), -1); /* and no SIGPIPE */
	FACT_EQ(errno, EPIPE);
	FACTS_END();
}

/* A descriptor without any byte is not the end. */
static void
no_bytes()
{
	char buf[16];
	int fd = -1;

	make_pairs(SOCK_DGRAM);
	FACT_EQ(writefd(ends[0], buf, 0, pipes[0]), 0);
	errno = 0;
	FACT_EQ(readfd(ends[1], buf, sizeof buf, &fd), -1);
	FACT_EQ(errno, EAGAIN);
	check_passed(fd);
	FACTS_END();
}

static void
send_three()
{
	union {
		cmsghdr first;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} space;
	int fds[3] = {pipes[0], pipes[1], pipes[1]};
	char x[1] = {'x'};
	iovec iov = {x, 1};
	msghdr message;
	cmsghdr *c;

	memset(&space, 0, sizeof space);
	memset(&message, 0, sizeof message);
	message.msg_iov = &iov;
	message.msg_iovlen = 1;
	message.msg_control = space.bytes;
	message.msg_controllen = sizeof space.bytes;
	c = CMSG_FIRSTHDR(&message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fds);
	memcpy(CMSG_DATA(c), fds, sizeof fds);
	FACT_EQ(sendmsg(ends[0], &message, 0), 1);
}

/* When a peer sends too many descriptors, only the first stays open here. */
static void
too_many()
{
	int fd = -1, before;
	char buf[16];

	make_pairs(SOCK_STREAM);
	send_three();
	before = descriptors();
	FACT_EQ(readfd(ends[1], buf, sizeof buf, &fd), 1);
	FACT_EQ(descriptors(), before + 1);
	check_passed(fd);
	FACTS_END();
}

static const struct fact facts[] = {
	CASE_ON(1, passes),
	CASE_ON(1, only_bytes),
	CASE_ON(1, vectors),
	CASE_ON(1, the_end),
	CASE_ON(1, no_bytes),
	CASE_ON(1, too_many),
};

FACTS_MAIN(facts)
