/* SPDX-License-Identifier: MIT */
/*
 * burst.h: what a connection needs while it has input: the bytes, the requests among them and
 * the answers. An idle connection has none; they are kept per core, the last used first, so that
 * many quiet connections share a few warm ones. Belongs to the connection's color.
 */
#ifndef SWS_BURST_H
#define SWS_BURST_H

#include <unistd.h>

#include "core.h"
#include "http_parse.h"
#include "index.h"

/** Most requests that are answered together. */
#define SWS_BURST_MAX 64

enum sws_answer_flags {
	SWS_HEAD_ONLY = 1,
	SWS_NOT_MODIFIED = 2,
	SWS_SAY_CLOSE = 4,
	SWS_SAY_KEEP = 8
};

struct sws_answer {
	struct sws_page *page;
	struct sws_entry *entry; /* holds the page; NULL: a reference of our own */
	uint64_t file_at;        /* of a body sent from the file: next byte */
	uint32_t len;            /* bytes in memory, head and body, once put together */
	int fd;                  /* of such a body, or -1 */
	uint8_t flags;
};

struct sws_asked {
	struct http_request request;
	uint16_t base;           /* of its head in the input */
};

struct sws_burst {
	struct sws_burst *next;  /* among the spare ones */
	uint16_t in_len;         /* input there is */
	uint16_t in_at;          /* input understood */
	uint8_t count;           /* requests */
	uint8_t checked;         /* of these, have an answer */
	uint8_t out;             /* of these, are sent */
	bool stalled;            /* the rest of the input is no complete head */
	int bad;                 /* status for what follows the requests, or 0 */
	int bad_path;            /* status for the next request to be checked, on its way to 404 */
	uint32_t out_at;         /* bytes sent of answer out */
	char date[HTTP_DATE_LEN];/* of a response that was cut off in the middle */
	struct sws_asked asked[SWS_BURST_MAX + 1];
	struct sws_answer answers[SWS_BURST_MAX + 1];
	char in[HTTP_HEAD_MAX + HTTP_PAD];
};

/** Memory for one, or NULL. */
struct sws_burst *sws_burst_new(void);

/** An empty one, or NULL. */
static inline struct sws_burst *
sws_burst_get(struct sws_core *core)
{
	struct sws_burst *burst = core->bursts;

	if (burst != NULL) {
		SWS_LOCAL_TAKE(burst);
		SWS_DEBUG_ASSERT(core->bursts_count > 0);
		core->bursts = burst->next;
		core->bursts_count--;
	} else {
		burst = sws_burst_new();
		if (burst == NULL)
			return NULL;
	}
	burst->in_len = burst->in_at = 0;
	burst->count = burst->checked = burst->out = 0;
	burst->stalled = false;
	burst->bad = 0;
	burst->out_at = 0;
	return burst;
}

/** Back to the spare ones of the core we are on; there must be no answers in it. */
void sws_burst_put(struct sws_core *core, struct sws_burst *burst);
/** Give up what the answers not yet sent hold. core: where we are, or -1 when nothing runs. */
void sws_burst_drop_answers(struct sws_burst *burst, int core);

/** Answer a is sent, or given up. */
static inline void
sws_answer_release(struct sws_answer *a, int core)
{
	SWS_DEBUG_ASSERT(a->entry == NULL || a->entry->page == a->page);
	if (a->fd >= 0)
		close(a->fd);
	if (a->entry != NULL)
		sws_entry_unref(a->entry, core);
	else
		sws_page_unref(a->page);
}

#endif
