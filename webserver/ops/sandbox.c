/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c: which files, and in which order: Landlock first, since seccomp forbids its calls.
 *
 * Both hold for the thread that asks for them and for those that it makes, so there may be no other
 * one yet. A path of the configuration is allowed if its row in the table of settings says that the
 * server needs it while it runs. What is used at the start only, such as a root's descriptor, needs
 * no rule; but a reload opens roots again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assertion.h"
#include "net/endpoint.h"
#include "ops/filter.h"
#include "ops/landlock.h"
#include "ops/log.h"
#include "ops/sandbox.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED true
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) \
    || __has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* The rules while they are made. status: the first error. */
struct plan {
	int rules;
	int status;
	char wrong[256];
};

/* ---- files --------------------------------------------------------------------------------- */

static void
allow(struct plan *plan, const char *path, unsigned use)
{
	int status = sws_landlock_allow(plan->rules, path, use);

	/* What is not there, such as /etc/mime.types, or not to be read, needs no rule. */
	if (status == 0 || status == -ENOENT || status == -EACCES || status == -ENOTDIR
	    || plan->status != 0)
		return;
	plan->status = status;
	snprintf(plan->wrong, sizeof plan->wrong, "%s: ", path);
}

/*
 * Allow the directory of a file, in which another file may take its place. `spared`: unless it is
 * the root or one beneath it, such as /etc, which has much that is none of our business.
 */
static void
allow_beside(struct plan *plan, const char *path, unsigned use, bool spared)
{
	char *whole = realpath(path, NULL), *slash;
	char *dir = whole != NULL ? whole : strdup(path);

	if (dir == NULL) {
		plan->status = -ENOMEM;
		return;
	}
	slash = strrchr(dir, '/');
	if (slash != NULL)
		slash[slash == dir ? 1 : 0] = '\0';
	if (!spared || strchr(dir + 1, '/') != NULL)
		allow(plan, slash != NULL ? dir : ".", use);
	free(dir);
}

static void
allow_path(struct plan *plan, const char *path, enum sws_setting_path kind)
{
	struct sws_endpoint endpoint;

	SWS_ASSERT(kind != SWS_PATH_NONE);
	if (kind == SWS_PATH_ENDPOINT) {
		if (sws_endpoint_parse(&endpoint, path) == NULL
		    && endpoint.kind == SWS_ENDPOINT_UNIX && endpoint.name[0] != '@')
			allow_beside(plan, endpoint.name, SWS_LANDLOCK_REMOVE, false);
		return;
	}
	if (kind == SWS_PATH_LOG) {
		if (!sws_log_is_off(path) && !sws_log_is_stdout(path))
			allow_beside(plan, path, SWS_LANDLOCK_WRITE, false);
		return;
	}
	if (kind == SWS_PATH_PAIR) {
		char *first = strdup(path), *comma = first != NULL ? strchr(first, ',') : NULL;

		if (comma != NULL) {
			*comma = '\0';
			allow_path(plan, comma + 1, SWS_PATH_REPLACED);
		}
		if (first != NULL)
			allow_path(plan, first, SWS_PATH_REPLACED);
		else
			plan->status = -ENOMEM;
		free(first);
		return;
	}
	allow(plan, path, SWS_LANDLOCK_READ);
	if (kind == SWS_PATH_REPLACED)
		allow_beside(plan, path, SWS_LANDLOCK_READ, true);
}

static void
allow_texts(struct plan *plan, const struct sws_texts *texts, enum sws_setting_path kind)
{
	for (int i = 0; i < texts->count; i++)
		allow_path(plan, texts->text[i], kind);
}

/* The paths that one row of the table has in its struct. */
static void
allow_setting(struct plan *plan, const struct sws_setting *s, const void *in)
{
	const void *at = (const char *)in + s->at;
	const char *text;

	SWS_ASSERT(s->kind == SWS_SETTING_TEXT || s->kind == SWS_SETTING_TEXTS);
	if (s->kind == SWS_SETTING_TEXTS) {
		allow_texts(plan, at, s->path);
		return;
	}
	memcpy(&text, at, sizeof text);
	if (text != NULL)
		allow_path(plan, text, s->path);
}

static void
allow_settings(struct plan *plan, const struct sws_options *o)
{
	for (const struct sws_setting *s = sws_settings; s->name != NULL; s++) {
		if (s->path == SWS_PATH_NONE)
			continue;
		if (!s->of_site)
			allow_setting(plan, s, o);
		for (int i = 0; s->of_site && i < o->sites_count; i++)
			allow_setting(plan, s, &o->sites[i]);
	}
	allow_texts(plan, &o->files, SWS_PATH_REPLACED);
}

/* What the runtime does at its end: it removes its socket, and names its trace. */
static void
allow_runtime(struct plan *plan, const char *socket)
{
	const char *trace = getenv("MELY_TRACE");

	if (socket[0] != '\0')
		allow_beside(plan, socket, SWS_LANDLOCK_REMOVE, false);
	if (trace != NULL && trace[0] != '\0')
		allow_beside(plan, trace, SWS_LANDLOCK_WRITE, false);
}

/* The ABI that is enforced, or a negative errno. */
static int
restrict_files(const struct sws_options *o, const char *socket, char wrong[256])
{
	const char *manager = getenv("NOTIFY_SOCKET");
	int abi = sws_landlock_abi();
	struct plan plan = {.status = 0};

	if (abi < 1)
		return abi < 0 ? abi : -EOPNOTSUPP;
	plan.rules = sws_landlock_begin(abi, manager != NULL && manager[0] == '@');
	if (plan.rules < 0)
		return plan.rules;
	allow_settings(&plan, o);
	allow_runtime(&plan, socket);
	if (plan.status == 0)
		plan.status = sws_landlock_enforce(plan.rules);
	memcpy(wrong, plan.wrong, sizeof plan.wrong);
	return plan.status == 0 ? abi : plan.status;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* Does this process have one thread, as far as can be seen? */
static bool
is_alone(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) != 0 || st.st_nlink <= 3;
}

static int
refuse(const char *what, const char *wrong, int error)
{
	fprintf(stderr, "sws: --sandbox=require: %s: %s%s\n", what, wrong, strerror(error));
	return -1;
}

int
sws_sandbox_enter(const struct sws_options *o, const char *socket, char text[SWS_SANDBOX_TEXT])
{
	bool required = o->sandbox == SWS_SANDBOX_REQUIRE;
	char wrong[256] = "", files[320];
	int abi, status;

	if (o->sandbox == SWS_SANDBOX_OFF || (SANITIZED && !required)) {
		snprintf(text, SWS_SANDBOX_TEXT, "off%s", SANITIZED ? ", for the sanitizer" : "");
		return 0;
	}
	/* A sanitizer makes calls of its own, and reads /proc. */
	if (SANITIZED)
		return refuse("not in a build with a sanitizer", "", ENOTSUP);
	SWS_ASSERT(is_alone());
	abi = restrict_files(o, socket, wrong);
	if (abi < 0 && required)
		return refuse("no Landlock", wrong, -abi);
	if (abi > 0)
		snprintf(files, sizeof files, "Landlock ABI %d", abi);
	else
		snprintf(files, sizeof files, "no Landlock (%s%s)", wrong, strerror(-abi));
	status = sws_filter_enforce();
	if (status != 0 && required)
		return refuse("no seccomp", "", -status);
	snprintf(text, SWS_SANDBOX_TEXT, "%s, %sseccomp%s%s%s", files, status == 0 ? "" : "no ",
	    status == 0 ? "" : " (", status == 0 ? "" : strerror(-status),
	    status == 0 ? "" : ")");
	if (abi < 0 || status != 0)
		fprintf(stderr, "sws: sandbox: %s\n", text);
	return 0;
}
