/* SPDX-License-Identifier: MIT */
/*
 * env.c: settings: the environment replaces defaults, the program replaces both, and bad values of
 * either are refused with a line that names them.
 */
#include <stddef.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "test.h"

static const char *const names[] = {"MELY_CORES", "MELY_PIN", "MELY_STEAL", "MELY_TIME_LEFT",
    "MELY_PENALTY", "MELY_LOCALITY", "MELY_MEASURE", "MELY_LEARN_PENALTY", "MELY_STEAL_NS",
    "MELY_BALANCE", "MELY_POLLERS", "MELY_BATCH", "MELY_BATCH_US", "MELY_SPIN_US", "MELY_STUCK_MS",
    "MELY_SOCKET", "MELY_DUMP_SIGNAL", "MELY_STALL_MS", "MELY_AGE_MS", "MELY_STALL_SIGNAL"};

static void
clear_environment(void)
{
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		unsetenv(names[i]);
}

/* ---- stderr of a call ----------------------------------------------------------------------- */

static int saved_stderr, pipe_end;

static void
capture(void)
{
	int ends[2];

	fflush(stderr);
	TEST_EQ(pipe2(ends, O_CLOEXEC), 0);
	saved_stderr = dup(STDERR_FILENO);
	TEST_CHECK(saved_stderr >= 0);
	TEST_CHECK(dup2(ends[1], STDERR_FILENO) >= 0);
	close(ends[1]);
	pipe_end = ends[0];
}

/* Read what stderr got since capture: a line at most. */
static void
captured(char *buf, size_t size)
{
	ssize_t n;

	fflush(stderr);
	TEST_CHECK(dup2(saved_stderr, STDERR_FILENO) >= 0);
	close(saved_stderr);
	n = read(pipe_end, buf, size - 1);
	TEST_CHECK(n >= 0);
	buf[n] = '\0';
	close(pipe_end);
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void
defaults(void)
{
	struct mely_config config;

	clear_environment();
	memset(&config, 0xff, sizeof config);
	TEST_OK(mely_config_init(&config));
	TEST_EQ(config.size, sizeof config);
	TEST_EQ(config.cores, 0);
	TEST_EQ(config.pinning, MELY_PIN_AUTO);
	TEST_EQ(config.pollers, 0);
	TEST_EQ(config.stealing, MELY_STEAL_ALL);
	TEST_EQ(config.steal_ns, 0);
	TEST_EQ(config.balance, 1);
	TEST_EQ(config.batch_events, 10);
	TEST_EQ(config.batch_us, 0);
	TEST_EQ(config.spin_us_max, 10);
	TEST_EQ(config.stuck_ms, 4);
	TEST_EQ(config.priority_rule, MELY_PRIORITY_HIGHEST);
	TEST_EQ(config.drain_deadline_ns, UINT64_C(30000000000));
	TEST_EQ(config.fd_residency_ms, 10);
	TEST_EQ(config.fd_residency_events, 1000);
	TEST_EQ(config.helpers_files, 4);
	TEST_EQ(config.helpers_names, 4);
	TEST_EQ(config.helpers_user, 4);
	TEST_EQ(config.dump_signal, 0);
	TEST_CHECK(config.handback == NULL && config.topology == NULL && config.socket == NULL);
}

static void
environment_is_read(void)
{
	struct mely_config config;
	struct mely_runtime *rt;

	clear_environment();
	setenv("MELY_CORES", "13", 1);
	setenv("MELY_PIN", "no", 1);
	setenv("MELY_STEAL", "0", 1);
	setenv("MELY_STEAL_NS", "2500", 1);
	setenv("MELY_BALANCE", "0", 1);
	setenv("MELY_POLLERS", "1", 1);
	setenv("MELY_BATCH", "3", 1);
	setenv("MELY_BATCH_US", "70", 1);
	setenv("MELY_SPIN_US", "0", 1);
	setenv("MELY_STUCK_MS", "25", 1);
	setenv("MELY_STALL_MS", "70", 1);
	setenv("MELY_AGE_MS", "0", 1);
	setenv("MELY_STALL_SIGNAL", "40", 1);
	TEST_OK(mely_config_init(&config));
	TEST_EQ(config.cores, 13);
	TEST_EQ(config.pinning, MELY_PIN_NO);
	TEST_EQ(config.stealing, MELY_STEAL_ALL & ~MELY_STEAL_ON);
	TEST_EQ(config.steal_ns, 2500);
	TEST_EQ(config.balance, 0);
	TEST_EQ(config.pollers, 1);
	TEST_EQ(config.batch_events, 3);
	TEST_EQ(config.batch_us, 70);
	TEST_EQ(config.spin_us_max, 0);
	TEST_EQ(config.stuck_ms, 25);
	TEST_EQ(config.stall_ms, 70);
	TEST_EQ(config.age_ms, 0);
	TEST_EQ(config.stall_signal, 40);
	TEST_OK(mely_runtime_new(&rt, NULL));
	TEST_EQ(mely_cores(rt), 13);
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	/* The program replaces the environment. */
	config.cores = 2;
	TEST_OK(mely_runtime_new(&rt, &config));
	TEST_EQ(mely_cores(rt), 2);
	TEST_OK(mely_runtime_free(rt));
	setenv("MELY_PIN", "yes", 1);
	setenv("MELY_POLLERS", "all", 1);
	TEST_OK(mely_config_init(&config));
	TEST_EQ(config.pinning, MELY_PIN_YES);
	TEST_EQ(config.pollers, 0);
	setenv("MELY_PIN", "auto", 1);
	TEST_OK(mely_config_init(&config));
	TEST_EQ(config.pinning, MELY_PIN_AUTO);
}

/* Each variable of stealing clears its own bit and no other. */
static void
switches(void)
{
	static const struct {
		const char *name;
		unsigned bit;
	} switched[] = {{"MELY_STEAL", MELY_STEAL_ON}, {"MELY_TIME_LEFT", MELY_STEAL_TIME_LEFT},
	    {"MELY_PENALTY", MELY_STEAL_PENALTY}, {"MELY_LOCALITY", MELY_STEAL_LOCALITY},
	    {"MELY_MEASURE", MELY_STEAL_MEASURE}, {"MELY_LEARN_PENALTY", MELY_STEAL_LEARN},
	    {"MELY_BALANCE", 0}};
	size_t i;

	for (i = 0; i < sizeof switched / sizeof switched[0]; i++) {
		struct mely_config config;

		clear_environment();
		setenv(switched[i].name, "0", 1);
		TEST_OK(mely_config_init(&config));
		TEST_EQ(config.stealing, MELY_STEAL_ALL & ~switched[i].bit);
		TEST_EQ(config.balance, switched[i].bit != 0);
		setenv(switched[i].name, "1", 1);
		TEST_OK(mely_config_init(&config));
		TEST_EQ(config.stealing, MELY_STEAL_ALL);
		TEST_EQ(config.balance, 1);
	}
	clear_environment();
}

/* The path of the socket, and the signal of the dump. */
static void
live_settings(void)
{
	static const struct {
		const char *text;
		int signo;
	} signals[] = {{"USR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}, {"HUP", SIGHUP}, {"12", 12},
	    {"URG", SIGURG}, {"SIGTERM", SIGTERM}, {"WINCH", SIGWINCH}, {"0", 0}};
	struct mely_config config;
	size_t i;

	clear_environment();
	setenv("MELY_SOCKET", "1", 1);
	TEST_OK(mely_config_init(&config));
	TEST_CHECK(config.socket != NULL && strcmp(config.socket, "") == 0);
	setenv("MELY_SOCKET", "/some/where", 1);
	TEST_OK(mely_config_init(&config));
	TEST_CHECK(config.socket != NULL && strcmp(config.socket, "/some/where") == 0);
	setenv("MELY_SOCKET", "0", 1);
	TEST_OK(mely_config_init(&config));
	TEST_CHECK(config.socket == NULL);
	for (i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		setenv("MELY_DUMP_SIGNAL", signals[i].text, 1);
		TEST_OK(mely_config_init(&config));
		TEST_EQ(config.dump_signal, signals[i].signo);
	}
	clear_environment();
}

struct bad {
	const char *name, *value;
};

static void
bad_environment(void)
{
	static const struct bad bad[] = {
	    {"MELY_CORES", "0"}, {"MELY_CORES", "-1"}, {"MELY_CORES", "257"},
	    {"MELY_CORES", "two"}, {"MELY_CORES", "2x"}, {"MELY_CORES", " "},
	    {"MELY_CORES", "99999999999999999999"}, {"MELY_PIN", "perhaps"},
	    {"MELY_STEAL", "2"}, {"MELY_STEAL", "yes"}, {"MELY_BALANCE", "-1"},
	    {"MELY_TIME_LEFT", "on"}, {"MELY_PENALTY", "2"}, {"MELY_LOCALITY", "-1"},
	    {"MELY_MEASURE", "01x"}, {"MELY_LEARN_PENALTY", "no"},
	    {"MELY_POLLERS", "2"}, {"MELY_POLLERS", "none"}, {"MELY_BATCH", "0"},
	    {"MELY_BATCH", "ten"}, {"MELY_BATCH_US", "-5"}, {"MELY_BATCH_US", "1.5"},
	    {"MELY_SPIN_US", "x"}, {"MELY_SPIN_US", "4294967296"},
	    {"MELY_STUCK_MS", "-1"}, {"MELY_STUCK_MS", "4ms"}, {"MELY_STUCK_MS", "3600001"},
	    {"MELY_DUMP_SIGNAL", "USR9"}, {"MELY_DUMP_SIGNAL", "65"}, {"MELY_DUMP_SIGNAL", "-1"},
	    {"MELY_STALL_MS", "-1"}, {"MELY_STALL_MS", "3600001"}, {"MELY_AGE_MS", "1s"},
	    {"MELY_STALL_SIGNAL", "65"}, {"MELY_STALL_SIGNAL", "URGE"},
	    {"MELY_STALL_SIGNAL", "9"}, {"MELY_STALL_SIGNAL", "KILL"},
	    {"MELY_STALL_SIGNAL", "urg"}, {"MELY_STALL_SIGNAL", "SIG"},
	};
	struct mely_config config;
	char line[512];
	size_t i;

	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		int rc;

		clear_environment();
		setenv(bad[i].name, bad[i].value, 1);
		capture();
		rc = mely_config_init(&config);
		captured(line, sizeof line);
		if (rc != -EINVAL)
			test_fail(__FILE__, __LINE__, "%s='%s' gives %d", bad[i].name,
			    bad[i].value, rc);
		/* One line names it, and the default stands. */
		TEST_CHECK(strstr(line, bad[i].name) != NULL);
		TEST_CHECK(strchr(line, '\n') == line + strlen(line) - 1);
		TEST_EQ(config.cores, 0);
		TEST_EQ(config.pinning, MELY_PIN_AUTO);
		TEST_EQ(config.stealing, MELY_STEAL_ALL);
		TEST_EQ(config.balance, 1);
		TEST_EQ(config.pollers, 0);
		TEST_EQ(config.batch_events, 10);
		TEST_EQ(config.batch_us, 0);
		TEST_EQ(config.spin_us_max, 10);
	}
	clear_environment();
}

static void
refuse(const struct mely_config *config, const char *what)
{
	struct mely_runtime *rt = NULL;
	char line[512];
	int rc;

	capture();
	rc = mely_runtime_new(&rt, config);
	captured(line, sizeof line);
	if (rc != -EINVAL)
		test_fail(__FILE__, __LINE__, "a bad %s gives %d", what, rc);
	TEST_CHECK(strstr(line, what) != NULL);
	TEST_CHECK(strchr(line, '\n') == line + strlen(line) - 1);
}

static void
bad_settings(void)
{
	struct mely_config good, config;

	clear_environment();
	TEST_OK(mely_config_init(&good));
	config = good, config.cores = -1;
	refuse(&config, "cores");
	config = good, config.cores = MELY_CORES_MAX + 1;
	refuse(&config, "cores");
	config = good, config.pinning = (enum mely_pinning)7;
	refuse(&config, "pinning");
	config = good, config.pollers = 2;
	refuse(&config, "pollers");
	config = good, config.stealing = MELY_STEAL_ALL + 1;
	refuse(&config, "stealing");
	config = good, config.steal_ns = 100000001;
	refuse(&config, "steal_ns");
	config = good, config.balance = -1;
	refuse(&config, "balance");
	config = good, config.batch_us = 1000001;
	refuse(&config, "batch_us");
	config = good, config.spin_us_max = 1001;
	refuse(&config, "spin_us_max");
	config = good, config.fd_residency_ms = 3600001;
	refuse(&config, "fd_residency_ms");
	config = good, config.stall_signal = 65;
	refuse(&config, "stall_signal");
	config = good, config.stall_signal = SIGKILL;
	refuse(&config, "stall_signal");
	config = good, config.dump_signal = SIGSEGV;
	refuse(&config, "dump_signal");
	config = good, config.drain_deadline_ns = UINT64_MAX;
	refuse(&config, "drain_deadline_ns");
	config = good, config.batch_events = 0;
	refuse(&config, "batch_events");
	config = good, config.priority_rule = (enum mely_priority_rule)9;
	refuse(&config, "priority_rule");
	config = good, config.helpers_files = -1;
	refuse(&config, "helpers_files");
	config = good, config.helpers_user = -1;
	refuse(&config, "helpers_user");
	config = good, config.size = 3;
	refuse(&config, "config: not initialised");
	config = good, config.topology = "no such machine";
	refuse(&config, "topology");
}

/* Programs that were built with an older header, or with a newer one. */
static void
sizes(void)
{
	struct {
		struct mely_config config;
		unsigned char more[16];
	} wide;
	const size_t older = offsetof(struct mely_config, helpers_files);
	struct mely_runtime *rt;
	size_t i;

	clear_environment();
	memset(&wide, 0xa5, sizeof wide);
	TEST_OK(mely_config_init_size(&wide.config, older));
	TEST_EQ(wide.config.size, older);
	for (i = older; i < sizeof wide; i++)
		TEST_EQ(((unsigned char *)&wide)[i], 0xa5);
	wide.config.cores = 2;
	TEST_OK(mely_runtime_new(&rt, &wide.config));
	TEST_EQ(mely_cores(rt), 2);
	TEST_OK(mely_runtime_free(rt));
	TEST_OK(mely_config_init_size(&wide.config, sizeof wide));
	TEST_EQ(wide.config.size, sizeof wide);
	for (i = 0; i < sizeof wide.more; i++)
		TEST_EQ(wide.more[i], 0);
	TEST_OK(mely_runtime_new(&rt, &wide.config));
	TEST_OK(mely_runtime_free(rt));
	wide.more[15] = 1;
	refuse(&wide.config, "config: it has a setting");
	TEST_EQ(mely_config_init_size(&wide.config, 1), -EINVAL);
	TEST_EQ(mely_config_init_size(NULL, sizeof wide), -EINVAL);
}

static _Atomic uint64_t ran;

static void
on_count(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

/* The exact lines about bad values. */
static void
lines(void)
{
	static const struct {
		const char *name, *value, *line;
	} bad[] = {
	    {"MELY_CORES", "x", "mely: MELY_CORES: 'x' is not a number between 1 and 256\n"},
	    {"MELY_BATCH_US", "-1",
	        "mely: MELY_BATCH_US: '-1' is not a number between 0 and 1000000\n"},
	    {"MELY_STEAL", "on", "mely: MELY_STEAL: 'on' is not a number between 0 and 1\n"},
	    {"MELY_PIN", "perhaps", "mely: MELY_PIN: 'perhaps' is not auto, yes or no\n"},
	    {"MELY_POLLERS", "2", "mely: MELY_POLLERS: '2' is not all or 1\n"},
	    {"MELY_STALL_SIGNAL", "URGE",
	        "mely: MELY_STALL_SIGNAL: 'URGE' is not the name or number of a signal\n"},
	};
	struct mely_config config;
	struct mely_runtime *rt;
	char line[512];
	size_t i;

	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		clear_environment();
		setenv(bad[i].name, bad[i].value, 1);
		capture();
		TEST_EQ(mely_config_init(&config), -EINVAL);
		captured(line, sizeof line);
		TEST_EQ(strcmp(line, bad[i].line), 0);
	}
	clear_environment();
	TEST_OK(mely_config_init(&config));
	config.spin_us_max = 5000;
	capture();
	TEST_EQ(mely_runtime_new(&rt, &config), -EINVAL);
	captured(line, sizeof line);
	TEST_EQ(strcmp(line,
	    "mely: config: spin_us_max is 5000, not a number between 0 and 1000\n"), 0);
}

/* The description names the settings that differ from the defaults, and no others. */
static void
description(void)
{
	struct mely_config config;
	struct mely_runtime *rt;
	char line[256];

	clear_environment();
	TEST_OK(mely_config_init(&config));
	TEST_OK(mely_runtime_new(&rt, &config));
	TEST_CHECK(mely_runtime_describe(rt, line, sizeof line) > 0);
	TEST_CHECK(strchr(line, '=') == NULL);
	TEST_OK(mely_runtime_free(rt));
	config.batch_events = 3;
	config.stealing &= ~(unsigned)MELY_STEAL_LOCALITY;
	TEST_OK(mely_runtime_new(&rt, &config));
	TEST_CHECK(mely_runtime_describe(rt, line, sizeof line) > 0);
	TEST_CHECK(strstr(line, "; stealing=55 batch_events=3") != NULL);
	TEST_OK(mely_runtime_free(rt));
}

/* The runtime has copies of the strings: the program may use their memory again. */
static void
strings_are_copied(void)
{
	char topology[] = "core:2 pu:1", trace[] = "no such folder/trace";
	struct mely_config config;
	struct mely_runtime *rt;
	char line[512];

	clear_environment();
	TEST_OK(mely_config_init(&config));
	config.topology = topology;
	config.trace = trace;
	capture();
	TEST_OK(mely_runtime_new(&rt, &config));
	captured(line, sizeof line);
	TEST_CHECK(strstr(line, "nothing is traced") != NULL);
	memset(topology, 'x', sizeof topology - 1);
	memset(trace, 'x', sizeof trace - 1);
	TEST_CHECK(mely_runtime_describe(rt, line, sizeof line) > 0);
	TEST_CHECK(strstr(line, " trace=no such folder/trace topology=core:2 pu:1") != NULL);
	TEST_OK(mely_runtime_free(rt));
}

/* The runtime starts and works on topologies of other machines. */
static void
topologies(void)
{
	static const char *const machines[] = {"pack:2 l2:2 core:2 pu:1", "core:1 pu:1",
	    "numa:4 core:4 pu:2", "pack:2 numa:2 l3:1 core:8 pu:2"};
	static struct mely_handler count = MELY_HANDLER(on_count);
	size_t i;

	clear_environment();
	for (i = 0; i < sizeof machines / sizeof machines[0]; i++) {
		struct mely_config config;
		struct mely_runtime *rt;
		char line[256];
		uint32_t k;

		atomic_store(&ran, 0);
		TEST_OK(mely_config_init(&config));
		config.topology = machines[i];
		config.cores = 8;
		TEST_OK(mely_runtime_new(&rt, &config));
		TEST_CHECK(mely_runtime_describe(rt, line, sizeof line) > 0);
		puts(line);
		for (k = 0; k < 1000; k++)
			TEST_OK(mely_post_id(rt, k, &count, NULL));
		test_run_dry(rt);
		TEST_EQ(test_get(&ran), 1000);
		TEST_OK(mely_runtime_free(rt));
	}
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(defaults);
	TEST_CASE(environment_is_read);
	TEST_CASE(switches);
	TEST_CASE(live_settings);
	TEST_CASE(bad_environment);
	TEST_CASE(bad_settings);
	TEST_CASE(sizes);
	TEST_CASE(lines);
	TEST_CASE(description);
	TEST_CASE(strings_are_copied);
	TEST_CASE(topologies);
	return test_done();
}
