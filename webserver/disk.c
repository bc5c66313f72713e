/* SPDX-License-Identifier: MIT */
/*
 * disk.c: jobs of helper threads. A job belongs to the helper from mely_work until its handler
 * begins, and otherwise to the connection's color. Without memory or a helper for a job the core
 * does the work itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/assertion.h"
#include "disk.h"
#include "stream.h"

/* Files up to this size are copied by the core if the page cache has them. */
#define HERE_MAX (256 << 10)
/* How far ahead of a helper the kernel begins to read, in lengths of what is wanted. */
#define AHEAD 4
/* How often a file may be written while its answer waits. */
#define REST_TRIES 4

struct sws_job {
	struct sws_setup *setup; /* of the site, with a reference; NULL for bytes to warm */
	struct sws_site *site;
	struct sws_page *page;
	int status;
	int fd;
	struct stat st;
	uint32_t asked_s;        /* when st was true: the clock of the core */
	uint64_t at;             /* the bytes to warm */
	size_t len;
	struct sws_stream *stream; /* to be made more of */
	bool begins;             /* ... which is of no answer yet */
	struct sws_path path;
	char text[];             /* of the path */
};

/* ---- on a helper thread -------------------------------------------------------------------- */

/* Wait for a file that is being written, but not for one that is written all the time. */
static void
let_rest(struct sws_job *job)
{
	int64_t unrest;

	for (int i = 0; i < REST_TRIES && (unrest = sws_file_unrest_ns(&job->st)) > 0; i++) {
		nanosleep(&(struct timespec){.tv_nsec = unrest}, NULL);
		if (fstat(job->fd, &job->st) != 0)
			return; /* the build finds out what is wrong */
	}
}

static void
build_fn(void *arg)
{
	struct sws_asker *asker = arg;
	struct sws_job *job = asker->job;
	const struct sws_path *path = &job->path;
	enum sws_body body;

	let_rest(job);
	/* Of many that wait for the same file, the first one builds its page. */
	job->page = sws_store_get(job->site->store, path->site, path->hash, path->text,
	    path->len);
	if (job->page != NULL && sws_page_matches(job->page, &job->st)) {
		close(job->fd);
		job->fd = -1;
		return;
	}
	if (job->page != NULL)
		sws_page_unref(job->page);
	job->page = NULL;
	body = sws_site_body_of(job->site, (uint64_t)job->st.st_size);
	job->status = sws_site_build(job->site, path, &job->fd, &job->st,
	    body == SWS_BODY_NONE ? body : SWS_BODY_READ, &job->page);
	SWS_ASSERT((job->status == 0) == (job->page != NULL));
}

static void
warm_fn(void *arg)
{
	struct sws_asker *asker = arg;
	struct sws_job *job = asker->job;
	char waste[16384];

	(void)posix_fadvise(job->fd, (off_t)job->at, (off_t)(AHEAD * job->len),
	    POSIX_FADV_WILLNEED);
	for (size_t have = 0; have < job->len;) {
		ssize_t n = pread(job->fd, waste, sizeof waste, (off_t)(job->at + have));

		if (n <= 0)
			return; /* sendfile finds out what is wrong */
		have += (size_t)n;
	}
}

static void
more_fn(void *arg)
{
	struct sws_asker *asker = arg;
	struct sws_stream *stream = asker->job->stream;

	stream->ops->more(stream);
}

/* ---- in the connection's color ------------------------------------------------------------- */

static struct sws_job *
new_job(struct sws_asker *asker, int fd, size_t text_len)
{
	struct sws_job *job = calloc(1, sizeof *job + text_len);

	SWS_ASSERT(asker->job == NULL);
	if (job != NULL) {
		job->fd = fd;
		asker->job = job;
	}
	return job;
}

/* Free a job. In the conn's color, or after the runtime has ended. */
static void
free_job(struct sws_server *server, struct sws_job *job)
{
	if (job->setup != NULL && sws_setup_unref(job->setup))
		sws_cores_sweep(server);
	free(job);
}

/* The connection is busy already. */
static bool
start(struct sws_asker *asker, void (*fn)(void *arg), struct mely_handler *then)
{
	if (mely_work(&asker->conn->color, MELY_WORK_FILES, fn, then, asker, NULL) != 0) {
		free_job(asker->conn->server, asker->job);
		asker->job = NULL;
		return false;
	}
	return true;
}

static bool
start_build(struct sws_asker *asker, struct sws_site *site, const struct sws_path *path, int fd,
    const struct stat *st)
{
	struct sws_core *core = sws_core_here(asker->conn->server);
	struct sws_job *job = new_job(asker, fd, path->len);

	if (job == NULL)
		return false;
	job->setup = sws_core_setup(core);
	sws_setup_ref(job->setup);
	job->site = site;
	job->st = *st;
	job->asked_s = core->now_s;
	job->path = (struct sws_path){job->text, path->len, path->hash, path->site};
	memcpy(job->text, path->text, path->len);
	return start(asker, build_fn, asker->then->built);
}

int
sws_disk_page(struct sws_asker *asker, struct sws_site *site, const struct sws_path *path,
    int fd, struct stat *st, struct sws_page **page, int *body_fd)
{
	uint64_t size = (uint64_t)st->st_size;
	enum sws_body body = sws_site_body_of(site, size);
	int status = -EAGAIN;

	SWS_ASSERT(fd >= 0 && S_ISREG(st->st_mode));
	*body_fd = fd;
	if ((body == SWS_BODY_NONE || size <= HERE_MAX) && sws_file_unrest_ns(st) == 0)
		status = sws_site_build(site, path, body_fd, st, body, page);
	if (status != -EAGAIN)
		return status;
	/* From the start of the helper on, the answer is that of its end, which may run elsewhere:
	 * the caller need not be in the connection's color. */
	*body_fd = -1;
	if (start_build(asker, site, path, fd, st))
		return SWS_DISK_AWAY;
	*body_fd = fd;
	return sws_site_build(site, path, body_fd, st, body == SWS_BODY_NONE ? body : SWS_BODY_READ,
	    page);
}

/* Release what a job has built. */
static void
drop_result(struct sws_job *job)
{
	/* The descriptor of bytes to warm belongs to their answer. */
	if (job->len == 0 && job->fd >= 0)
		close(job->fd);
	if (job->page != NULL)
		sws_page_unref(job->page);
	job->fd = -1;
	job->page = NULL;
}

int
sws_disk_finish(struct sws_asker *asker, struct sws_page **page, int *body_fd)
{
	struct sws_conn *conn = asker->conn;
	struct sws_job *job = asker->job;
	int status = job->status;

	SWS_ASSERT(mely_current_color() == &conn->color);
	if (job->setup != NULL && job->setup != sws_core_setup(sws_core_here(conn->server))) {
		drop_result(job);
		status = SWS_DISK_STALE;
	}
	*page = job->page;
	*body_fd = job->fd;
	/* A page of the store has its time. This one is compared with its file at the next use. */
	if (job->page != NULL && job->page->account == NULL)
		atomic_init(&job->page->checked_s, job->asked_s);
	free_job(conn->server, job);
	asker->job = NULL;
	return status;
}

/* Is the byte at this place of the file in the page cache? Where the kernel does not say: yes. */
static bool
has_byte(int fd, uint64_t at)
{
	char byte;
	struct iovec iov = {&byte, 1};

	return preadv2(fd, &iov, 1, (off_t)at, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

bool
sws_disk_is_cached(int fd, uint64_t at, size_t len)
{
	SWS_ASSERT(fd >= 0 && len > 0);
	/* The kernel reads ahead in order: what lies between is there, or on its way. */
	return has_byte(fd, at) && has_byte(fd, at + len - 1);
}

bool
sws_disk_warm(struct sws_asker *asker, int fd, uint64_t at, size_t len)
{
	struct sws_job *job = new_job(asker, fd, 0);

	if (job == NULL)
		return false;
	job->at = at;
	job->len = len;
	return start(asker, warm_fn, asker->then->warm);
}

bool
sws_disk_more(struct sws_asker *asker, struct sws_stream *stream)
{
	struct sws_job *job = new_job(asker, -1, 0);

	if (job == NULL)
		return false;
	job->stream = stream;
	return start(asker, more_fn, asker->then->made);
}

bool
sws_disk_begin(struct sws_asker *asker, struct sws_stream *stream)
{
	struct sws_job *job = new_job(asker, -1, 0);

	if (job == NULL)
		return false;
	job->stream = stream;
	job->begins = true;
	return start(asker, more_fn, asker->then->built);
}

struct sws_stream *
sws_disk_begun(struct sws_asker *asker)
{
	struct sws_job *job = asker->job;
	struct sws_stream *stream = job->begins ? job->stream : NULL;

	SWS_ASSERT(mely_current_color() == &asker->conn->color);
	if (stream != NULL) {
		free_job(asker->conn->server, job);
		asker->job = NULL;
	}
	return stream;
}

void
sws_disk_abandon(struct sws_asker *asker)
{
	struct sws_job *job = asker->job;

	SWS_ASSERT(mely_current_core() < 0);
	if (job == NULL)
		return;
	drop_result(job);
	if (job->begins)
		job->stream->ops->free(job->stream, -1);
	/* The server has a reference to its setup, too. */
	if (job->setup != NULL && sws_setup_unref(job->setup))
		SWS_ASSERT(asker->job == job);
	free(job);
	asker->job = NULL;
}
