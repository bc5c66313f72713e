/* SPDX-License-Identifier: MIT */
/*
 * async_host.cc: daemons, locks between processes, the names of host and user, in dialect "async".
 * Of sections 1.4 and 1.9 of the facts.
 */
#include "async.h"

#include <sched.h>

#include "facts.h"

/* ---- names ---- */

static void
names()
{
	char host[256];
	str name, domain = mydomain();

	FACT(gethostname(host, sizeof host) == 0);
	name = myname();
	FACT(strncmp(name.cstr(), host, strlen(host)) == 0);
	FACT(!domain || domain.len() > 0);
	if (domain && strchr(host, '.') == NULL)
		FACT(name == strbuf() << host << "." << domain);
	setenv("SFS_HOSTNAME", "another.name", 1);
	FACT(myname() == "another.name");
	FACT(!myusername() || myusername().len() > 0);
	FACTS_END();
}

static void
addresses()
{
	vec<in_addr> addrs;
	bool loopback = false;
	size_t i;

	addrs.push_back().s_addr = 1; /* its old content must be dropped */
	FACT(myipaddrs(&addrs));
	for (i = 0; i < addrs.size(); i++) {
		FACT(addrs[i].s_addr != 1);
		loopback = loopback || addrs[i].s_addr == htonl(INADDR_LOOPBACK);
	}
	FACT(loopback);
	FACTS_END();
}

/* ---- locks ---- */

static char dir[] = "/tmp/async_host.XXXXXX";

static str
in_dir(const char *name)
{
	return strbuf() << dir << "/" << name;
}

static void
make_dir()
{
	FACT(mkdtemp(dir) != NULL);
}

static void
remove_dir()
{
	rc_ignore(system(str(strbuf("rm -r %s", dir))));
}

/* Can another process lock it? */
static bool
other_can_lock(const str &path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(lockfile::alloc(path) ? 0 : 1);
	FACT(waitpid(pid, &status, 0) == pid);
	return status == 0;
}

static void
locks()
{
	ptr<lockfile> lock;
	str path;

	make_dir();
	path = in_dir("lock");
	lock = lockfile::alloc(path);
	FACT(lock && lock->locked() && lock->ok() && lock->getfd() >= 0);
	FACT(lock->path == path);
	FACT(!other_can_lock(path));
	FACT(!lockfile::alloc(path)); /* nor can this process, a second time */
	lock->release();
	FACT(!lock->locked() && !lock->ok());
	FACT(other_can_lock(path));
	FACT(lock->acquire());
	FACT(!other_can_lock(path));
	lock = NULL;
	FACT(other_can_lock(path));
	FACT(access(path, F_OK) == 0);
	FACT(!lockfile::alloc(in_dir("no/such/directory")));
	remove_dir();
	FACTS_END();
}

static void
lock_of_a_lost_file()
{
	ptr<lockfile> lock, other;
	str path;

	make_dir();
	path = in_dir("lock");
	lock = lockfile::alloc(path);
	FACT(lock->ok());
	unlink(path);
	FACT(!lock->ok());
	other = lockfile::alloc(path); /* by now the name refers to another file */
	FACT(other);
	FACT(!lock->acquire());
	other = NULL;
	FACT(lock->acquire() && lock->ok());
	remove_dir();
	FACTS_END();
}

static void
waits_for_a_lock()
{
	int fds[2];
	char c;
	str path;

	make_dir();
	path = in_dir("lock");
	FACT(pipe(fds) == 0);
	if (fork() == 0) {
		ptr<lockfile> lock = lockfile::alloc(path);

		FACT(lock);
		FACT(write(fds[1], "l", 1) == 1);
		usleep(50000);
		FACT(write(fds[1], "u", 1) == 1);
		_exit(0);
	}
	FACT(read(fds[0], &c, 1) == 1);
	FACT(lockfile::alloc(path, true));
	make_async(fds[0]);
	FACT(read(fds[0], &c, 1) == 1 && c == 'u'); /* not before */
	remove_dir();
	FACTS_END();
}

static void
unchanged()
{
	struct stat a, b;
	str path;
	int fd;

	make_dir();
	path = in_dir("file");
	fd = open(path.cstr(), O_CREAT | O_RDWR, 0600);
	FACT(fstat(fd, &a) == 0 && stat(path.cstr(), &b) == 0);
	FACT(stat_unchanged(&a, &b));
	FACT(write(fd, "x", 1) == 1);
	FACT(fstat(fd, &b) == 0);
	FACT(!stat_unchanged(&a, &b));
	FACT(stat(dir, &a) == 0);
	FACT(!stat_unchanged(&a, &b));
	remove_dir();
	FACTS_END();
}

/* ---- daemons ---- */

/* What the daemon of a test reports to it. */
struct report {
	pid_t pid, session, parent;
	bool null_in, null_out, in_root;
};

static bool
is_null(int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat("/dev/null", &b) == 0 && a.st_rdev == b.st_rdev;
}

static void
report_to(int fd)
{
	struct report r;
	char where[64];

	memset(&r, 0, sizeof r);
	r.pid = getpid();
	r.session = getsid(0);
	r.parent = getppid();
	r.null_in = is_null(0);
	r.null_out = is_null(1);
	r.in_root = getcwd(where, sizeof where) != NULL && strcmp(where, "/") == 0;
	warn("the daemon's message\n"); /* to the log */
	FACT(write(fd, &r, sizeof r) == (ssize_t)sizeof r);
	exit(0);
}

/* The loop runs in the daemon. */
static void
daemon_with_a_loop()
{
	struct report r;
	int fds[2], status;
	pid_t pid;

	FACT(pipe(fds) == 0);
	pid = fork();
	if (pid == 0) {
		daemonize("async_host");
		delaycb(0, 1000000, wrap(report_to, fds[1]));
		amain();
	}
	FACT(waitpid(pid, &status, 0) == pid);
	FACT_EQ(status, 0);
	FACT(read(fds[0], &r, sizeof r) == (ssize_t)sizeof r);
	FACT(r.pid != pid);
	FACT_EQ(r.session, r.pid);
	FACT(r.null_in && r.null_out && r.in_root);
	FACTS_END();
}

static void
daemonize_too_late()
{
	daemonize();
}

static void
daemon_of_threads()
{
	delaycb(0, 0, wrap(daemonize_too_late));
	amain();
}

/* ---- logs ---- */

static void
log_to_file()
{
	char text[64];
	ssize_t n;
	str path;
	int fd;

	make_dir();
	path = in_dir("log");
	fd = start_logger("daemon.notice", "tag", "first line\n", path,
	    O_CREAT | O_WRONLY | O_APPEND, 0644);
	FACT(fd >= 0);
	FACT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	FACT(write(fd, "second line\n", 12) == 12);
	fd = open(path.cstr(), O_RDONLY);
	n = read(fd, text, sizeof text);
	FACT_EQ(n, 23);
	FACT(memcmp(text, "first line\nsecond line\n", 23) == 0);
	FACT_EQ(start_log_to_file(NULL, in_dir("no/such"), O_CREAT | O_WRONLY, 0644), -1);
	FACT_EQ(errno, ENOENT);
	remove_dir();
	FACTS_END();
}

/* Output no longer arrives here, and no callback runs when the logging process ends. */
static void
logs()
{
	int fds[2];
	char c;

	FACT(pipe(fds) == 0);
	FACT(dup2(fds[1], 2) == 2);
	close(fds[1]);
	FACT(syslog_priority == "daemon.notice");
	syslog_priority = "local7.debug";
	start_logger();
	warn("a line for the log\n");
	FACT(read(fds[0], &c, 1) == 0);
	FACT_EQ(waitpid(-1, NULL, WNOHANG), -1);
	FACTS_END();
}

/* A program's own logger reads standard error; its output is that of the program. */
static void
own_logger(bool as_words)
{
	static const char said[] = "a line for the logger\n";
	char text[64];
	int fds[2];

	FACT(pipe(fds) == 0);
	FACT(dup2(fds[1], 1) == 1);
	if (as_words) {
		vec<str> argv;

		argv.push_back("/bin/sh");
		argv.push_back("-c");
		argv.push_back("exec cat");
		set_syslog_logger(argv);
		FACT(!set_syslog_logger(str("/no/such/logger -x")));
		FACT(!set_syslog_logger(str(" ")));
	} else {
		FACT(set_syslog_logger(" /bin/cat  -u "));
	}
	start_logger();
	warn("%s", said);
	FACT_EQ(read(fds[0], text, sizeof text), (ssize_t)sizeof said - 1);
	FACT(memcmp(text, said, sizeof said - 1) == 0);
	FACTS_END();
}

static void
logger_by_words()
{
	own_logger(true);
}

static void
logger_by_command()
{
	own_logger(false);
}

/* ---- changes of addresses ---- */

static bool changed;
static ifchgcb_t *removed;

static void
on_change(int which)
{
	FACT_EQ(which, 1);
	FACT(changed);
	FACT_EQ(ifchg_count, 1);
	FACT(ifchg_addrs.size() >= 1);
	FACTS_END();
}

static void
set_address()
{
	struct ifreq request;
	sockaddr_in address;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memset(&request, 0, sizeof request);
	strcpy(request.ifr_name, "lo");
	memset(&address, 0, sizeof address);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(0x7f000011);
	memcpy(&request.ifr_addr, &address, sizeof address);
	changed = true;
	if (ioctl(fd, SIOCSIFADDR, &request) < 0)
		FACTS_END(); /* the system does not permit a separate network */
	request.ifr_flags = IFF_UP | IFF_LOOPBACK;
	FACT(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
}

/* In a separate network namespace, where the system permits one. */
static void
address_changes()
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		FACTS_END();
	removed = ifchgcb(wrap(on_change, 2));
	ifchgcb(wrap(on_change, 1));
	ifchgcb_remove(removed);
	FACT_EQ(ifchg_count, 0);
	delaycb(0, 10000000, wrap(set_address));
	amain();
}

static const struct fact facts[] = {
	CASE_ON(1, names),
	CASE_ON(1, addresses),
	CASE_ON(1, locks),
	CASE_ON(1, lock_of_a_lost_file),
	CASE_ON(1, waits_for_a_lock),
	CASE_ON(1, unchanged),
	CASE(daemon_with_a_loop),
	CASE_ENDS(daemon_of_threads, 1, "before amain"),
	CASE_ON(1, log_to_file),
	CASE_ON(1, logs),
	CASE_ON(1, logger_by_words),
	CASE_ON(1, logger_by_command),
	CASE_ON(2, address_changes),
};

FACTS_MAIN(facts)
