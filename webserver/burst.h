/* SPDX-License-Identifier: MIT */
/*
 * burst.h: a burst is the working memory of a connection while it has input: the bytes, the
 * requests among them, and the answers. An idle connection has none. Each core keeps spare
 * bursts, the last used first, so that many quiet connections share a few that are in the cache.
 * A burst belongs to the connection's color.
 */
#ifndef SWS_BURST_H
#define SWS_BURST_H

#include <stdlib.h>

#include "http/parse.h"
#include "site/index.h"
#include "core.h"

/** Most requests that one burst answers. */
#define SWS_BURST_MAX 64

enum sws_answer_flags {
	SWS_HEAD_ONLY = 1,
	SWS_NOT_MODIFIED = 2,
	SWS_SAY_CLOSE = 4,
	SWS_SAY_KEEP = 8,
	SWS_PARTIAL = 16,
	SWS_INSIDE = 32          /* of what the server says about itself */,
	SWS_TO_END = 64          /**< the body ends where the connection does */
};

/** In place of a descriptor: what the body of an answer is sent from. */
enum {
	SWS_FD_NONE = -1,        /**< memory */
	SWS_FD_STREAM = -2
};

struct sws_conn;
struct sws_job;
struct sws_stream;

/** The stages that follow the work of a helper (disk.h): each gets the asker. */
struct sws_helped {
	struct mely_handler *built;  /**< a page */
	struct mely_handler *warm;   /**< bytes of a file are in memory */
	struct mely_handler *made;   /**< more of a stream */
};

/** What a helper works for: a burst, for its request number checked or its answer number out. */
struct sws_asker {
	struct sws_conn *conn;
	struct sws_job *job;         /* of a helper thread, or NULL */
	const struct sws_helped *then;
};

struct sws_answer {
	struct sws_page *page;
	struct sws_entry *entry; /* holds the page; NULL: the answer has its own reference */
	uint64_t from, to;       /* the part of the body, without the byte at `to`. While it is sent
	                          * from a file, `from` is the next byte */
	uint32_t len;            /* bytes of head and body in memory, set by write.c */
	uint32_t head_len;       /* of these, the head's */
	int fd;                  /* the file of a body that is sent from it, or SWS_FD_... */
	uint8_t flags;
	struct sws_stream *stream; /* of SWS_FD_STREAM */
	uint64_t sent;           /* bytes sent from a file or a stream */
};

/* An answer that is a whole page with its own reference. */
static inline struct sws_answer
sws_answer_of(struct sws_page *page, uint8_t flags)
{
	return (struct sws_answer){
		.page = page, .to = page->body_len, .fd = -1, .flags = flags
	};
}

struct sws_asked {
	struct http_request request;
	uint16_t base;           /* offset of its head in the input */
};

struct sws_burst {
	struct sws_burst *next;  /* in the list of spare ones */
	uint16_t in_len;         /* bytes of input */
	uint16_t in_at;          /* bytes parsed */
	uint8_t count;           /* requests parsed */
	uint8_t checked;         /* requests that have an answer */
	uint8_t out;             /* answers sent */
	bool stalled;            /* the rest of the input is not a complete head */
	struct sws_asker asker;
	int bad;                 /* error status for what follows the requests, or 0 */
	int bad_path;            /* error status for request number checked; for the 404 stage */
	uint32_t out_at;         /* bytes sent of answer number out */
	uint64_t warm_until;     /* up to here its file is in memory, as far as is known */
	char *rest;              /* what is left of the head of answer number out, or NULL */
	uint32_t rest_at;        /* the offset of rest in that head */
	struct sws_asked asked[SWS_BURST_MAX + 1];
	struct sws_answer answers[SWS_BURST_MAX + 1];
	char in[HTTP_HEAD_MAX + HTTP_PAD];
};

/**
 * What holds of a burst when a stage begins: nothing is sent that has no answer, nothing is
 * answered that is not parsed, and nothing is parsed that has not arrived.
 */
static inline void
sws_burst_assert(const struct sws_burst *burst)
{
	SWS_DEBUG_ASSERT(burst->out <= burst->checked && burst->checked <= burst->count);
	SWS_DEBUG_ASSERT(burst->count <= SWS_BURST_MAX + 1);
	SWS_DEBUG_ASSERT(burst->in_at <= burst->in_len && burst->in_len <= HTTP_HEAD_MAX);
}

/** Allocate a burst; NULL: no memory. */
struct sws_burst *sws_burst_new(void);

/** An empty burst, a spare one if there is any; NULL: no memory. */
static inline struct sws_burst *
sws_burst_get(struct sws_core *core)
{
	struct sws_burst *burst = core->bursts;

	SWS_DEBUG_ASSERT((burst == NULL) == (core->bursts_count == 0));
	if (burst != NULL) {
		SWS_LOCAL_TAKE(burst);
		/* What a spare burst still held would never be released. */
		SWS_DEBUG_ASSERT(burst->out == burst->checked);
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
	burst->warm_until = 0;
	burst->asker.job = NULL;
	burst->rest = NULL;
	return burst;
}

/** Return a burst without unsent answers to the spare ones of the current core. */
void sws_burst_put(struct sws_core *core, struct sws_burst *burst);
/** Forget the rest of a head: it is sent, or given up. */
static inline void
sws_burst_drop_rest(struct sws_burst *burst)
{
	free(burst->rest);
	burst->rest = NULL;
}

/** Close the file of an answer, or end its stream. */
void sws_answer_close(struct sws_answer *a, int core);

/** Release what answer a holds. Its end is in ended.h. core: the current one; -1: nothing runs. */
static inline void
sws_answer_release(struct sws_answer *a, int core)
{
	SWS_DEBUG_ASSERT(a->entry == NULL || a->entry->page == a->page);
	/* The page of a body in a file is in no index. */
	SWS_DEBUG_ASSERT(a->entry == NULL || a->fd == SWS_FD_NONE);
	if (a->fd != SWS_FD_NONE)
		sws_answer_close(a, core);
	if (a->entry != NULL)
		sws_entry_unref(a->entry, core);
	else
		sws_page_unref(a->page);
}

#endif
