/* SPDX-License-Identifier: MIT */
/*
 * inside.c: the pages of the inner endpoint. They are made for each request, and no store has them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

static const char uncached[] = "Cache-Control: no-store\r\n";

static bool
is_path(const struct http_request *req, const char *head, const char *path)
{
	return req->path.len == strlen(path)
	    && memcmp(head + req->path.at, path, req->path.len) == 0;
}

static int
text_page(struct sws_page **page, int status, const char *text)
{
	return sws_page_text(page, status, "text/plain; charset=utf-8", uncached, text,
	    strlen(text));
}

static int
make_page(struct sws_core *core, const struct http_request *req, const char *head,
    struct sws_page **page)
{
	char *text;
	size_t len;
	int status;

	if (is_path(req, head, "/health")) {
		/* relaxed: a client that asks a moment later learns it. */
		bool drains = atomic_load_explicit(&core->server->draining, memory_order_relaxed);

		return drains ? text_page(page, 503, "draining\n") : text_page(page, 200, "ok\n");
	}
	if (!is_path(req, head, "/metrics"))
		return text_page(page, 404, "See /health and /metrics.\n");
	text = sws_metrics_text(core, &len);
	status = text != NULL ? sws_page_text(page, 200,
	    "text/plain; version=0.0.4; charset=utf-8", uncached, text, len) : -ENOMEM;
	free(text);
	return status;
}

int
sws_inside_answer(struct sws_core *core, const struct http_request *req, const char *head,
    uint8_t flags, struct sws_answer *a)
{
	struct sws_page *page;

	if (make_page(core, req, head, &page) != 0)
		return -503;
	*a = sws_answer_of(page, flags | SWS_INSIDE);
	return 0;
}
