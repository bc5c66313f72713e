/* SPDX-License-Identifier: MIT */
/*
 * blocking.c: blocking calls on helper threads. The helpers count the bytes of files while the
 * color runs other events; each result arrives as an event of the color.
 *
 *     blocking FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <mely/mely.h>

struct file {
	const char *name;
	long bytes; /* -1: cannot be read */
};

static int left;

/* On a helper thread: it may block, and must not touch the color's data. */
static void
measure(void *arg)
{
	struct file *file = arg;
	FILE *stream = fopen(file->name, "rb");
	int c;

	file->bytes = stream != NULL ? 0 : -1;
	if (stream == NULL)
		return;
	while ((c = getc(stream)) != EOF)
		file->bytes++;
	fclose(stream);
}

/* An event of the color. */
static void
on_measured(void *arg)
{
	struct file *file = arg;

	if (file->bytes < 0)
		printf("%s: cannot be read\n", file->name);
	else
		printf("%s: %ld bytes\n", file->name, file->bytes);
	if (--left == 0)
		mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
}

static struct mely_handler measured = MELY_HANDLER(on_measured);

int
main(int argc, char **argv)
{
	struct mely_runtime *rt;
	struct mely_color *color;
	struct file *files;
	int i;

	if (argc < 2) {
		fprintf(stderr, "usage: blocking FILE...\n");
		return 2;
	}
	files = calloc((size_t)argc, sizeof *files);
	if (files == NULL || mely_runtime_new(&rt, NULL) != 0 ||
	    mely_color_of_id(rt, 1, &color) != 0)
		return 1;
	left = argc - 1;
	for (i = 1; i < argc; i++) {
		files[i].name = argv[i];
		if (mely_work(color, MELY_WORK_FILES, measure, &measured, &files[i], NULL) != 0)
			return 1;
	}
	if (mely_run(rt) != 0)
		return 1;
	free(files);
	return mely_runtime_free(rt);
}
