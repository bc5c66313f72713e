/* SPDX-License-Identifier: MIT */
/*
 * compress.c: while a page is made, a vain page holds its place in the store, so that no other
 * helper makes it. It stays if the result is hardly smaller. Both are compared with the file as any
 * page is, so a change of the file begins it again.
 *
 * A job belongs to its helper, and then to the control color.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "site/encode.h"
#include "compress.h"

/* Most helpers at work: the cores have other things to do. */
#define JOBS_MAX 2

struct sws_compress_job {
	struct sws_server *server;
	struct sws_setup *setup;   /* of the site, with a reference */
	struct sws_site *site;
	struct sws_page *place;    /* the vain page, with a reference */
	struct sws_compress_job *next, **link; /* of all jobs, with the lock */
	char *bytes, *coded;
	size_t coded_len;
};

static void done_fn(void *arg);

static struct mely_handler done = SWS_COMPRESSED(done_fn);

/* ---- on a helper thread -------------------------------------------------------------------- */

/* Read the file if it is still the one of the place. */
static bool
read_file(struct sws_compress_job *job, struct stat *st)
{
	char key[HTTP_TARGET_MAX + SWS_KEY_MORE];
	size_t len = sws_key_plain(key, job->place->key, job->place->key_len), have = 0;
	struct stat after;
	int fd;

	if (sws_file_open(&job->site->root, key, len, &fd, st) != SWS_FILE_REGULAR)
		return false;
	if (sws_page_matches(job->place, st))
		job->bytes = malloc((size_t)st->st_size);
	while (job->bytes != NULL && have < (size_t)st->st_size) {
		ssize_t n = read(fd, job->bytes + have, (size_t)st->st_size - have);

		if (n <= 0)
			break;
		have += (size_t)n;
	}
	/* The bytes are of one version only if the file is the same before and after. */
	if (fstat(fd, &after) != 0 || !sws_page_matches(job->place, &after))
		have = 0;
	close(fd);
	return job->bytes != NULL && have == (size_t)st->st_size;
}

/* 0: the page has taken the place; -E2BIG: it is of no use. */
static int
make(struct sws_compress_job *job)
{
	const struct sws_page *place = job->place;
	struct sws_path path = {place->key, place->key_len, place->hash, place->site};
	struct sws_page *page;
	struct stat st;
	bool crowded;
	int status;

	if (!read_file(job, &st))
		return -ESTALE;
	/* Less than a tenth saved is not worth a page. */
	job->coded_len = (size_t)st.st_size - (size_t)st.st_size / 10;
	job->coded = malloc(job->coded_len);
	if (job->coded == NULL)
		return -ENOMEM;
	status = sws_encode((enum http_coding)place->coding, job->bytes, (size_t)st.st_size,
	    job->coded, &job->coded_len);
	if (status != 0)
		return status;
	status = sws_site_encoded(job->site, &path, &st, job->coded, job->coded_len, &page);
	if (status != 0)
		return status;
	if (!sws_store_put(job->site->store, page, &crowded))
		status = -E2BIG;
	sws_page_unref(page);
	return status;
}

static void
make_fn(void *arg)
{
	struct sws_compress_job *job = arg;
	int status = make(job);

	/* Another request may try again. */
	if (status != 0 && status != -E2BIG)
		sws_store_remove(job->site->store, job->place);
	free(job->bytes);
	free(job->coded);
	job->bytes = job->coded = NULL;
}

/* ---- handlers ------------------------------------------------------------------------------ */

static void
free_job(struct sws_compress_job *job)
{
	struct sws_server *server = job->server;

	pthread_mutex_lock(&server->compressing.lock);
	*job->link = job->next;
	if (job->next != NULL)
		job->next->link = job->link;
	server->compressing.count--;
	pthread_mutex_unlock(&server->compressing.lock);
	if (job->place != NULL)
		sws_page_unref(job->place);
	if (sws_setup_unref(job->setup) && mely_current_core() >= 0)
		sws_cores_sweep(server);
	free(job);
}

static void
done_fn(void *arg)
{
	free_job(arg);
}

/* A job, if there are not too many. */
static struct sws_compress_job *
new_job(struct sws_core *core, struct sws_site *site)
{
	struct sws_server *server = core->server;
	struct sws_compress_job *job = NULL;

	pthread_mutex_lock(&server->compressing.lock);
	if (server->compressing.count < JOBS_MAX)
		job = calloc(1, sizeof *job);
	if (job != NULL) {
		server->compressing.count++;
		job->next = server->compressing.jobs;
		job->link = &server->compressing.jobs;
		if (job->next != NULL)
			job->next->link = &job->next;
		server->compressing.jobs = job;
	}
	pthread_mutex_unlock(&server->compressing.lock);
	if (job == NULL)
		return NULL;
	job->server = server;
	job->site = site;
	job->setup = sws_core_setup(core);
	sws_setup_ref(job->setup);
	return job;
}

void
sws_compress(struct sws_core *core, struct sws_site *site, const struct sws_path *path,
    const struct sws_page *plain)
{
	struct sws_compress_job *job;

	/* A file that has just changed changes again soon, for all that is known. */
	if (plain->young)
		return;
	job = new_job(core, site);
	if (job == NULL)
		return;
	if (sws_site_vain(site, path, plain, &job->place) != 0)
		job->place = NULL;
	if (job->place == NULL || !sws_store_add(site->store, job->place)) {
		free_job(job);
		return;
	}
	if (mely_work(core->server->control, MELY_WORK_USER, make_fn, &done, job, NULL) != 0) {
		sws_store_remove(site->store, job->place);
		free_job(job);
	}
}

void
sws_compress_fini(struct sws_server *server)
{
	SWS_ASSERT(mely_current_core() < 0);
	while (server->compressing.jobs != NULL)
		free_job(server->compressing.jobs);
}
