/* SPDX-License-Identifier: MIT */
/*
 * seen.c: what is made of the end of an answer when it is to be seen: a line of the
 * log, and its time for the metrics.
 */
#include <time.h>

#include "conn.h"
#include "ended.h"
#include "http/forwarded.h"
#include "net/proxy.h"
#include "ops/log.h"

/* Most lines of X-Forwarded-For. */
#define LINES_MAX 16

/* The fields of a request that the log has. */
static void
add_fields(struct sws_log_entry *e, const struct sws_end *end)
{
	struct {
		const char *name;
		struct http_text *to;
	} fields[] = {{"host", &e->host}, {"referer", &e->referer}, {"user-agent", &e->agent}};

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		size_t at = 0;

		(void)http_find_field(end->head, end->head_room, fields[i].name, &at,
		    fields[i].to);
	}
	if (end->req->authority.len > 0)
		e->host = (struct http_text){end->head + end->req->authority.at,
			end->req->authority.len};
}

/* Are the clients at Unix sockets proxies that are trusted? */
static bool
has_unix(const struct sws_texts *trusted)
{
	for (int i = 0; i < trusted->count; i++)
		if (strcmp(trusted->text[i], SWS_PROXY_UNIX) == 0)
			return true;
	return false;
}

/* Is this the address of a proxy that is trusted? */
static bool
is_proxy(const struct sws_texts *trusted, struct http_text text)
{
	union sws_address address = {.any = {.sa_family = AF_INET}};
	char copy[INET6_ADDRSTRLEN];

	if (text.len == 0 || text.len >= sizeof copy)
		return false;
	memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	if (strcmp(copy, SWS_PROXY_UNIX) == 0)
		return has_unix(trusted);
	if (inet_pton(AF_INET, copy, &address.in4.sin_addr) == 1)
		return sws_networks_have(trusted, &address);
	address.any.sa_family = AF_INET6;
	return inet_pton(AF_INET6, copy, &address.in6.sin6_addr) == 1
	    && sws_networks_have(trusted, &address);
}

static bool
is_address(struct http_text text)
{
	return text.len > 0 && text.len < INET6_ADDRSTRLEN
	    && strspn(text.at, "0123456789abcdefABCDEF.:") >= text.len;
}

/*
 * While the address is that of a proxy that is trusted, the one that it names counts: of
 * X-Forwarded-For, the last that is none of them. What is before that may be anything.
 */
static void
find_client(struct sws_core *core, struct sws_log_entry *e, const struct sws_end *end)
{
	const struct sws_texts *trusted = &sws_core_setup(core)->options.trusted;
	struct http_text lines[LINES_MAX], address;
	size_t at = 0, n = 0;

	if (trusted->count > 0 && is_proxy(trusted, e->client)) {
		while (n < LINES_MAX && http_find_field(end->head, end->head_room,
		    "x-forwarded-for", &at, &lines[n]))
			n++;
		while (n > 0 && is_proxy(trusted, e->client)) {
			if (!http_forwarded_last(&lines[n - 1], &address))
				n--;
			else if (is_address(address))
				e->client = address;
			else
				break;
		}
	}
	sws_core_leave_setup(core);
}

static void
log_answer(struct sws_core *core, const struct sws_answer *a, const struct sws_end *end,
    uint64_t now)
{
	const struct sws_channel *channel = end->conn->transport.channel;
	const char *client = end->conn->client;
	struct sws_log_entry e = {
		.protocol = end->protocol,
		.tls = channel != NULL ? channel->version : NULL,
		.body_bytes = end->body_sent,
		.bytes = end->head_sent + end->body_sent,
		.status = sws_answer_status(a),
		.complete = end->complete
	};
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	e.wall_us = (uint64_t)wall.tv_sec * 1000000 + (uint64_t)wall.tv_nsec / 1000;
	e.duration_us = now > end->since_ns ? (now - end->since_ns) / 1000 : 0;
	e.range = e.status == 206;
	if (client != NULL)
		e.client = (struct http_text){client, strlen(client)};
	if (end->head != NULL)
		e.line = http_find_request_line(end->head, end->head_room);
	if (end->head != NULL && end->req != NULL) {
		add_fields(&e, end);
		find_client(core, &e, end);
	}
	sws_log_add(core->log, &e, now);
}

static void
count_duration(struct sws_core *core, uint64_t ns)
{
	static const double bounds[SWS_DURATIONS_COUNT] = SWS_DURATIONS;
	double seconds = (double)ns / 1e9;
	unsigned i = 0;

	while (i < SWS_DURATIONS_COUNT && seconds > bounds[i])
		i++;
	sws_count(&core->counters.durations[i], 1);
	sws_count(&core->counters.durations_ns, ns);
}

void
sws_answer_see(struct sws_core *core, const struct sws_answer *a, const struct sws_end *end)
{
	uint64_t now = mely_now_ns();

	SWS_ASSERT(core->sees);
	if (a->flags & SWS_INSIDE)
		return;
	count_duration(core, now > end->since_ns ? now - end->since_ns : 0);
	if (core->log != NULL)
		log_answer(core, a, end, now);
}
