/* SPDX-License-Identifier: MIT */
/*
 * mix.c: which files are asked for, and how often.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../unit.h"
#include "../../../webserver/load/mix.h"
#include "../../../webserver/load/specweb.h"

#define DRAWS 1000000

static uint64_t counts[100 * LOAD_SPECWEB_IN_DIR];

static void
draw(const struct load_mix *mix, uint64_t seed)
{
	struct load_cursor cursor;

	assert_true(mix->count <= sizeof counts / sizeof counts[0]);
	memset(counts, 0, sizeof counts);
	load_cursor_init(&cursor, mix, seed, 0, 1);
	for (int i = 0; i < DRAWS; i++)
		counts[load_mix_next(mix, &cursor)]++;
}

/* A count is within six standard deviations of what the weight says. */
static void
assert_share(uint64_t count, double share)
{
	double expected = share * DRAWS;

	assert_true(fabs((double)count - expected) <= 6 * sqrt(expected) + 1);
}

static struct load_options
options(void)
{
	struct load_options o = {.seed = 1};

	assert_null(load_url_parse(&o.url, "http://host/one?x=%20"));
	return o;
}

static void
one(void **state)
{
	static const char expected[] =
	    "GET /one?x=%20 HTTP/1.1\r\nHost: host\r\nA: b\r\nC: d\r\n\r\n";
	struct load_options o = options();
	struct load_mix mix;

	(void)state;
	strcpy(o.fields, "A: b\r\nC: d\r\n");
	assert_true(load_mix_init(&mix, &o, NULL));
	assert_int_equal(mix.count, 1);
	assert_int_equal(mix.targets[0].request_len, sizeof expected - 1);
	assert_string_equal(mix.targets[0].request, expected);
	load_mix_fini(&mix);
	/* The user's Host field replaces ours. */
	strcpy(o.fields, "host: other\r\n");
	o.head = true;
	assert_true(load_mix_init(&mix, &o, NULL));
	assert_string_equal(mix.targets[0].request,
	    "HEAD /one?x=%20 HTTP/1.1\r\nhost: other\r\n\r\n");
	load_mix_fini(&mix);
}

static void
list(void **state)
{
	struct load_options o = options();
	struct load_cursor cursor;
	struct load_mix mix;

	(void)state;
	o.list = "the list";
	assert_true(load_mix_init(&mix, &o, "/a\r\n# a comment\n\n/b\n/c"));
	assert_int_equal(mix.count, 3);
	assert_string_equal(mix.targets[0].path, "/a");
	assert_string_equal(mix.targets[2].path, "/c");
	load_cursor_init(&cursor, &mix, 1, 1, 3);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(load_mix_next(&mix, &cursor), (i + 1) % 3);
	load_mix_fini(&mix);
	assert_false(load_mix_init(&mix, &o, "/a\nb\n"));
	load_mix_fini(&mix);
	assert_false(load_mix_init(&mix, &o, "/a\n/b c\n"));
	load_mix_fini(&mix);
	assert_false(load_mix_init(&mix, &o, "# nothing\n"));
	load_mix_fini(&mix);
}

static void
zipf(void **state)
{
	static const double exponents[] = {0.5, 1, 2};
	struct load_options o = options();
	char text[100 * 8] = "";
	struct load_mix mix;

	(void)state;
	for (int i = 0; i < 100; i++)
		sprintf(text + strlen(text), "/%d\n", i);
	o.list = "the list";
	for (size_t e = 0; e < 3; e++) {
		double sum = 0;

		o.zipf = exponents[e];
		assert_true(load_mix_init(&mix, &o, text));
		draw(&mix, e);
		for (int i = 1; i <= 100; i++)
			sum += pow(i, -o.zipf);
		for (int i = 1; i <= 100; i++)
			assert_share(counts[i - 1], pow(i, -o.zipf) / sum);
		load_mix_fini(&mix);
	}
}

static void
specweb(void **state)
{
	/* The figures of SPECweb99, in a thousand. */
	static const double classes[] = {350, 500, 140, 10};
	static const double files[] = {39, 59, 88, 177, 353, 118, 71, 50, 44};
	uint64_t by_class[4] = {0}, by_file[9] = {0}, first = 0, second = 0;
	struct load_options o = options();
	struct load_mix mix;
	char path[64];

	(void)state;
	o.specweb_dirs = 100;
	assert_true(load_mix_init(&mix, &o, NULL));
	assert_int_equal(mix.count, 100 * LOAD_SPECWEB_IN_DIR);
	draw(&mix, 5);
	for (uint32_t i = 0; i < mix.count; i++) {
		by_class[i % 36 / 9] += counts[i];
		by_file[i % 9] += counts[i];
		first += i / 36 == 0 ? counts[i] : 0;
		second += i / 36 == 1 ? counts[i] : 0;
	}
	for (int i = 0; i < 4; i++)
		assert_share(by_class[i], classes[i] / 1000);
	/* Those figures are rounded, to a thousandth. */
	for (int i = 0; i < 9; i++)
		assert_true(fabs((double)by_file[i] * 1000 / DRAWS - files[i]) < 3);
	assert_true(fabs((double)first / (double)second - 2) < 0.05);
	load_specweb_path(36 * 42 + 9 + 4, path, sizeof path);
	assert_string_equal(path, "/file_set/dir00042/class1_4");
	assert_int_equal(load_specweb_size(0), 102);
	assert_int_equal(load_specweb_size(8), 921);
	assert_int_equal(load_specweb_size(9 + 4), 5120);
	assert_int_equal(load_specweb_size(35), 921600);
	load_mix_fini(&mix);
}

/* The same seed draws the same; cores draw different files. */
static void
seeds(void **state)
{
	struct load_cursor a, b, c;
	struct load_options o = options();
	struct load_mix mix;
	int same = 0;

	(void)state;
	o.specweb_dirs = 10;
	assert_true(load_mix_init(&mix, &o, NULL));
	load_cursor_init(&a, &mix, 9, 0, 2);
	load_cursor_init(&b, &mix, 9, 0, 2);
	load_cursor_init(&c, &mix, 9, 1, 2);
	for (int i = 0; i < 1000; i++) {
		uint32_t drawn = load_mix_next(&mix, &a);

		assert_int_equal(drawn, load_mix_next(&mix, &b));
		same += drawn == load_mix_next(&mix, &c);
	}
	assert_true(same < 500);
	load_mix_fini(&mix);
}

static void
urls(void **state)
{
	static const char *const bad[] = {
		"", "host/", "ftp://host/", "http://", "http:///x", "http://host:/", "http://h:0/",
		"http://h:65536/", "http://h:x/", "http://[::1/", "http://u@h/", "http://h/a b",
		"http://h/#x", "http://h:80x/"
	};
	struct load_url url;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_non_null(load_url_parse(&url, bad[i]));
	assert_null(load_url_parse(&url, "https://example.org"));
	assert_true(url.tls);
	assert_string_equal(url.host, "example.org");
	assert_string_equal(url.port, "443");
	assert_string_equal(url.path, "/");
	assert_null(load_url_parse(&url, "http://[::1]:8080?x"));
	assert_false(url.tls);
	assert_string_equal(url.host, "::1");
	assert_string_equal(url.port, "8080");
	assert_string_equal(url.authority, "[::1]:8080");
	assert_string_equal(url.path, "/?x");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one),
		cmocka_unit_test(list),
		cmocka_unit_test(zipf),
		cmocka_unit_test(specweb),
		cmocka_unit_test(seeds),
		cmocka_unit_test(urls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
