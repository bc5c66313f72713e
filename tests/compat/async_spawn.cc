/* SPDX-License-Identifier: MIT */
/*
 * async_spawn.cc: children, programs and their output in dialect "async". Part of section 1.9 of
 * the facts.
 */
#include "async.h"
#include "rwfd.h"

#include "facts.h"

static const char *const sh = "/bin/sh";

static void
check_text(const char *wanted, str text)
{
	FACT_EQ(get_current_color(), 0);
	if (!text || strcmp(text.cstr(), wanted) != 0) {
		fprintf(stderr, "got '%s', not '%s'\n", text ? text.cstr() : "(null)", wanted);
		facts_fail(__FILE__, __LINE__, "text");
	}
	FACTS_END();
}

/* Run a shell command with its output in a pipe; returns the reading end. */
static int
output_of(const char *command, cbv::ptr postfork = NULL, char *const *env = NULL)
{
	const char *argv[4] = {"sh", "-c", command, NULL};
	int fds[2];

	FACT(pipe(fds) == 0);
	close_on_exec(fds[0]);
	FACT(spawn(sh, argv, 0, fds[1], 2, postfork, env) > 0);
	FACT(fcntl(fds[1], F_GETFD) >= 0); /* the caller still has it */
	close(fds[1]);
	return fds[0];
}

/* ---- spawn ---- */

static void
ended(int wanted, int status)
{
	FACT(WIFEXITED(status));
	FACT_EQ(WEXITSTATUS(status), wanted);
	FACTS_END();
}

static void
run_seven()
{
	const char *argv[4] = {"sh", "-c", "exit 7", NULL};
	pid_t pid = spawn(sh, argv);

	FACT(pid > 0);
	chldcb(pid, wrap(ended, 7));
}

static void
spawns()
{
	delaycb(0, 0, wrap(run_seven));
	amain();
}

static void
spawns_before()
{
	run_seven();
	amain();
}

static void
try_what_can_not_run()
{
	char *argv[2] = {const_cast<char *>("x"), NULL};
	char dir[] = "/tmp/async_spawn.XXXXXX";

	FACT_EQ(spawn("/nonexistent/program", argv), -1);
	FACT_EQ(errno, ENOENT);
	FACT_EQ(spawn("/etc", argv), -1);
	FACT_EQ(errno, EACCES);
	FACT(mkdtemp(dir) != NULL);
	str path = strbuf("%s/empty", dir);
	FACT(close(open(path.cstr(), O_CREAT | O_WRONLY, 0755)) == 0);
	FACT_EQ(spawn(path, argv), -1);
	FACT_EQ(errno, ENOEXEC);
	unlink(path);
	rmdir(dir);
	FACT_EQ(waitpid(-1, NULL, WNOHANG), -1); /* all children have been reaped */
	FACTS_END();
}

static void
spawn_tells_why_not()
{
	delaycb(0, 0, wrap(try_what_can_not_run));
	amain();
}

static void
three_descriptors()
{
	const char *argv[4] = {"sh", "-c", "cat; echo error >&2", NULL};
	int in[2], out[2];

	FACT(pipe(in) == 0 && pipe(out) == 0);
	close_on_exec(in[1]);
	FACT(write(in[1], "input ", 6) == 6);
	FACT(spawn(sh, argv, in[0], out[1], out[1]) > 0);
	close(in[0]);
	close(in[1]);
	close(out[1]);
	pipe2str(out[0], wrap(check_text, "input error\n"));
	amain();
}

static void
say_it()
{
	FACT(write(1, "postfork ", 9) == 9);
}

static void
calls_postfork()
{
	int fd = output_of("echo program", wrap(say_it));

	pipe2str(fd, wrap(check_text, "postfork program\n"));
	amain();
}

static void
environment()
{
	char set[] = "WHAT=ever";
	char *env[2] = {set, NULL};

	setenv("WHAT", "wrong", 1);
	pipe2str(output_of("echo $WHAT", NULL, env), wrap(check_text, "ever\n"));
	amain();
}

static void
own_environment()
{
	setenv("WHAT", "mine", 1);
	pipe2str(output_of("echo $WHAT"), wrap(check_text, "mine\n"));
	amain();
}

/* This program ignores SIGPIPE, and some of its threads block all signals. */
static void
look_at_signals()
{
	pipe2str(output_of("sed -n -e 's/^SigBlk:[[:space:]]*0*[1-9a-f].*/blocked/p' "
	                   "-e 's/^SigIgn:.*\\(.\\)...$/\\1/p' /proc/self/status"),
	    wrap(check_text, "0\n"));
}

static void
signals_are_back()
{
	delaycb(0, 0, wrap(look_at_signals));
	amain();
}

/* ---- aspawn ---- */

static void
run_nothing()
{
	const char *argv[2] = {"x", NULL};
	pid_t pid = aspawn("/nonexistent/program", argv);

	FACT(pid > 0); /* the child exists, and reports the error itself */
	chldcb(pid, wrap(ended, 1));
}

static void
aspawn_does_not_tell()
{
	delaycb(0, 0, wrap(run_nothing));
	amain();
}

static void
said(str text)
{
	FACT(text && strstr(text.cstr(), "/nonexistent/program") != NULL);
	FACT(strstr(text.cstr(), strerror(ENOENT)) != NULL);
	FACTS_END();
}

/* The message goes to this program's standard error, not to the child's descriptor. */
static void
aspawn_prints()
{
	const char *argv[2] = {"x", NULL};
	int fds[2];

	FACT(pipe(fds) == 0);
	FACT(dup2(fds[1], 2) == 2);
	close(fds[1]);
	FACT(aspawn("/nonexistent/program", argv, 0, 1, open("/dev/null", O_WRONLY)) > 0);
	FACT(dup2(1, 2) == 2);
	pipe2str(fds[0], wrap(said));
	amain();
}

static void
aspawns()
{
	const char *argv[4] = {"sh", "-c", "echo on 1; echo on 2 >&2", NULL};
	int fds[2];

	FACT(pipe(fds) == 0);
	FACT(aspawn(sh, argv, 0, fds[1], fds[1]) > 0);
	close(fds[1]);
	pipe2str(fds[0], wrap(check_text, "on 1\non 2\n"));
	amain();
}

/* ---- afork and related functions ---- */

static void
fork_one()
{
	struct sigaction action;
	sigset_t mask;
	pid_t pid = afork();

	if (pid == 0) {
		sigaction(SIGPIPE, NULL, &action);
		pthread_sigmask(SIG_BLOCK, NULL, &mask);
		_exit(action.sa_handler == SIG_DFL && !sigismember(&mask, SIGTERM) &&
		            errfd > 2 && fcntl(errfd, F_GETFD) == FD_CLOEXEC
		        ? 0
		        : 1);
	}
	FACT(pid > 0);
	FACT_EQ(errfd, 2);
	chldcb(pid, wrap(ended, 0));
}

static void
aforks()
{
	delaycb(0, 0, wrap(fork_one));
	amain();
}

/* Two descriptors swapped; one descriptor given twice. */
static void
set_three()
{
	int a[2], b[2], status;
	char c = 0;

	FACT(pipe(a) == 0 && pipe(b) == 0);
	if (fork() == 0) {
		dup2(a[1], 0);
		dup2(b[0], 1);
		setstdfds(1, 0, 0);
		_exit(read(0, &c, 1) == 1 && c == 'b' && write(1, "1", 1) == 1 &&
		            write(2, "2", 1) == 1
		        ? 0
		        : 1);
	}
	FACT(write(b[1], "b", 1) == 1);
	FACT(read(a[0], &c, 1) == 1 && c == '1');
	FACT(read(a[0], &c, 1) == 1 && c == '2');
	FACT(wait(&status) > 0);
	FACT_EQ(status, 0);
	FACTS_END();
}

static void
set_three_high()
{
	int in[2], out[2], status;
	char c = 0;

	FACT(pipe(in) == 0 && pipe(out) == 0);
	if (fork() == 0) {
		setstdfds(in[0], out[1], out[1]);
		_exit(fcntl(in[0], F_GETFD) < 0 && fcntl(out[1], F_GETFD) < 0 &&
		            read(0, &c, 1) == 1 && write(2, &c, 1) == 1
		        ? 0
		        : 1);
	}
	FACT(write(in[1], "x", 1) == 1);
	FACT(read(out[0], &c, 1) == 1 && c == 'x');
	FACT(wait(&status) > 0);
	FACT_EQ(status, 0);
	FACTS_END();
}

/* ---- programs ---- */

static void
finds_programs()
{
	char dir[] = "/tmp/async_spawn.XXXXXX";

	FACT(mkdtemp(dir) != NULL);
	str path = strbuf("%s/tool", dir);
	FACT(close(open(path.cstr(), O_CREAT | O_WRONLY, 0755)) == 0);
	str plain = strbuf("%s/plain", dir);
	FACT(close(open(plain.cstr(), O_CREAT | O_WRONLY, 0644)) == 0);
	setenv("PATH", str(strbuf("/nonexistent:%s:/bin", dir)), 1);
	FACT(find_program("tool") == path);
	FACT(find_program("sh") == "/bin/sh");
	FACT(!find_program("plain")); /* may not be executed */
	FACT(!find_program("no-such-program"));
	FACT(!find_program(""));
	FACT(find_program("/bin/sh") == "/bin/sh");
	FACT(!find_program("/bin/no-such-program"));
	FACT(chdir(dir) == 0);
	setenv("PATH", ":/bin", 1); /* an empty part is the current directory */
	FACT(find_program("tool") == "./tool");
	FACT(chdir("/") == 0);

	FACT(fix_exec_path("tool") == "tool");
	FACT(fix_exec_path("a/tool", dir) == "a/tool");
	FACT(fix_exec_path("tool", dir) == path);
	FACT(!find_program_plus_libsfs("tool"));
	execdir = dir;
	FACT(fix_exec_path("tool") == path);
	FACT(find_program_plus_libsfs("tool") == path);
	FACT(find_program_plus_libsfs("sh") == "/bin/sh");
	unlink(path);
	unlink(plain);
	rmdir(dir);
	FACTS_END();
}

/* ---- pipe2str ---- */

static bool returned;

static void
check_long(str text)
{
	size_t i;

	FACT(returned);
	FACT_EQ(text.len(), 100000);
	for (i = 0; i < text.len(); i++)
		FACT_EQ(text[i], i % 251 == 0 ? '\0' : 'x');
	FACTS_END();
}

static void
write_long(int fd)
{
	char buf[1000];
	int i, j;

	for (i = 0; i < 100; i++) {
		for (j = 0; j < 1000; j++)
			buf[j] = (i * 1000 + j) % 251 == 0 ? '\0' : 'x';
		if (write(fd, buf, sizeof buf) != (ssize_t)sizeof buf)
			_exit(1);
	}
}

static void
long_text()
{
	chldrun(wrap(write_long), wrap(check_long));
	returned = true;
	amain();
}

static void
check_empty(int fd, str text)
{
	FACT(returned);
	FACT(text); /* empty, but not null */
	FACT_EQ(text.len(), 0);
	FACT(fcntl(fd, F_GETFD) < 0); /* closed */
	FACTS_END();
}

static void
empty_text()
{
	int fds[2];

	FACT(pipe(fds) == 0);
	close(fds[1]);
	pipe2str(fds[0], wrap(check_empty, fds[0]));
	returned = true;
	amain();
}

static void
check_null(str text)
{
	FACT_EQ(errno, ENOTCONN);
	FACT(!text);
	FACTS_END();
}

static void
null_for_an_error()
{
	int fd = socket(AF_INET, SOCK_STREAM, 0); /* not connected, so not readable */

	pipe2str(fd, wrap(check_null));
	amain();
}

static int passed = -1;
static strbuf before;

static void
check_passed(str text)
{
	char c = 0;

	FACT(text == "some text");
	FACT(passed >= 0);
	FACT(read(passed, &c, 1) == 1 && c == 'p');
	FACT(str(before) == "before some text");
	FACTS_END();
}

static void
with_a_descriptor()
{
	int ends[2], pipes[2];

	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && pipe(pipes) == 0);
	FACT(write(pipes[1], "p", 1) == 1);
	FACT_EQ(writefd(ends[1], "some ", 5, pipes[0]), 5);
	FACT(write(ends[1], "text", 4) == 4);
	close(ends[1]);
	before << "before ";
	pipe2str(ends[0], wrap(check_passed), &passed, &before);
	amain();
}

/* ---- chldrun ---- */

static int in_parent = 1;

static void
in_child(int fd)
{
	in_parent = 0; /* changes the copy of the child only */
	FACT(write(fd, "from the child", 14) == 14);
}

static void
check_child(str text)
{
	FACT_EQ(in_parent, 1);
	check_text("from the child", text);
}

static void
run_child()
{
	chldrun(wrap(in_child), wrap(check_child));
}

static void
runs_in_a_child()
{
	delaycb(0, 0, wrap(run_child));
	amain();
}

static void
exit_in_child(int fd)
{
	FACT(write(fd, "bye", 3) == 3);
	exit(3);
}

static void
run_child_that_exits()
{
	chldrun(wrap(exit_in_child), wrap(check_text, "bye"));
}

static void
child_may_exit()
{
	delaycb(0, 0, wrap(run_child_that_exits));
	amain();
}

/* ---- messages of children ---- */

static void
message_in_child(int)
{
	warnx << "child ";
}

static void
close_messages()
{
	dup2(1, 2);
}

static void
message_of_parent(str)
{
	warnx << "parent\n";
	delaycb(0, 100000000, wrap(close_messages)); /* after the line has been written */
}

static void
run_child_that_warns()
{
	warnx << "held by the ";
	chldrun(wrap(message_in_child), wrap(message_of_parent));
}

/* Text of the parent that waits for a newline is not printed by the child as well. The child's own
 * output appears at once, although the child ends by _exit. */
static void
children_have_messages()
{
	int fds[2];

	FACT(pipe(fds) == 0);
	FACT(dup2(fds[1], 2) == 2);
	close(fds[1]);
	delaycb(0, 0, wrap(run_child_that_warns));
	pipe2str(fds[0], wrap(check_text, "child held by the parent\n"));
	amain();
}

static const struct fact facts[] = {
	CASE(spawns),
	CASE_ON(2, spawns_before),
	CASE(spawn_tells_why_not),
	CASE_ON(2, three_descriptors),
	CASE_ON(2, calls_postfork),
	CASE_ON(2, environment),
	CASE_ON(2, own_environment),
	CASE(signals_are_back),
	CASE(aspawn_does_not_tell),
	CASE_ON(2, aspawn_prints),
	CASE_ON(2, aspawns),
	CASE(aforks),
	CASE_ON(1, set_three),
	CASE_ON(1, set_three_high),
	CASE_ON(1, finds_programs),
	CASE(long_text),
	CASE_ON(2, empty_text),
	CASE_ON(2, null_for_an_error),
	CASE_ON(2, with_a_descriptor),
	CASE(runs_in_a_child),
	CASE(child_may_exit),
	CASE(children_have_messages),
};

FACTS_MAIN(facts)
