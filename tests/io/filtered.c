/* SPDX-License-Identifier: MIT */
/*
 * filtered.c: a filter of system calls, as containers have them, refuses epoll_pwait2 with an error
 * that is not ENOSYS. Cores wait with epoll_wait then; they do not spin.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;

static bool
refuse(long call, unsigned error)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void
on_busy(void *arg)
{
	(void)arg;
	test_spin_ns(300000000);
	TEST_OK(mely_stop(rt, MELY_STOP_DISCARD));
}

static struct mely_handler busy = MELY_HANDLER(on_busy), never = MELY_HANDLER(on_busy);

/* One core is busy; the other one keeps watch and waits a few milliseconds at a time. */
static void
waits_are_not_spins(void)
{
	enum { POLLS_MAX = 3000 };
	struct mely_color *color;
	struct mely_config config;
	mely_watch watch;
	uint64_t polls;
	int ends[2];

#ifdef SYS_epoll_pwait2
	if (!refuse(SYS_epoll_pwait2, EPERM)) {
		printf("    no filters here\n");
		return;
	}
#endif
	test_config(&config, 2);
	config.spin_us_max = 0;
	config.stall_ms = 0;
	rt = test_runtime_with(&config);
	color = test_color(rt);
	TEST_CHECK(pipe(ends) == 0); /* with a descriptor, cores wait in epoll */
	TEST_OK(mely_fd_watch(color, ends[0], MELY_FD_READ, &never, NULL, &watch));
	TEST_OK(mely_post_id(rt, 1, &busy, NULL));
	TEST_OK(mely_run(rt));
	polls = test_counters(rt).polls;
	printf("    %llu polls\n", (unsigned long long)polls);
	TEST_CHECK(polls < POLLS_MAX);
	TEST_OK(mely_runtime_free(rt));
	close(ends[0]);
	close(ends[1]);
	free(color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(waits_are_not_spins);
	return test_done();
}
