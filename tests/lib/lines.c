/* SPDX-License-Identifier: MIT */
/* lines.c: catches the report lines of a runtime under a lock, and searches them. */
#include "lines.h"

enum { LINES = 64, LENGTH = 2100 };

_Atomic uint64_t lines_came;

static struct {
	pthread_mutex_t lock;
	char text[LINES][LENGTH];
	unsigned count;           /* under lock */
} lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
on_report(void *ctx, const char *line)
{
	TEST_CHECK(ctx == &lines);
	pthread_mutex_lock(&lines.lock);
	TEST_CHECK(lines.count < LINES);
	snprintf(lines.text[lines.count++], LENGTH, "%s", line);
	pthread_mutex_unlock(&lines.lock);
	printf("    %s\n", line);
	test_add(&lines_came, 1);
}

void
lines_catch(struct mely_config *config)
{
	config->report = on_report;
	config->report_ctx = &lines;
	lines.count = 0;
	atomic_store(&lines_came, 0);
}

unsigned
lines_count(void)
{
	return lines.count;
}

const char *
lines_at(unsigned i)
{
	return lines.text[i];
}

bool
lines_said(const char *one, const char *two)
{
	bool found = false;
	unsigned i;

	pthread_mutex_lock(&lines.lock);
	for (i = 0; i < lines.count; i++)
		found |= strstr(lines.text[i], one) != NULL && strstr(lines.text[i], two) != NULL;
	pthread_mutex_unlock(&lines.lock);
	return found;
}

void
lines_await(const char *one, const char *two)
{
	while (!lines_said(one, two))
		test_nap_us(500);
}

unsigned
lines_sum_after(const char *words)
{
	unsigned sum = 0, i;

	for (i = 0; i < lines.count; i++) {
		const char *at = lines.text[i], *last = NULL;

		while ((at = strstr(at, words)) != NULL)
			last = at += strlen(words);
		if (last != NULL)
			sum += (unsigned)strtoul(last, NULL, 10);
	}
	return sum;
}
