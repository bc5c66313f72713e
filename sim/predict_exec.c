/* SPDX-License-Identifier: MIT */
/*
 * predict_exec.c: "mely-sim predict" executes a separate program in the same directory, whose
 * library is compiled in another way (predict.am).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "hunt.h"

int
predict_main(int argc, char **argv)
{
	static const char name[] = "/mely-sim-predict";
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name);
	char *slash;

	(void)argc;
	if (length > 0) {
		path[length] = '\0';
		slash = strrchr(path, '/');
		strcpy(slash != NULL ? slash : path, name);
		execv(path, argv);
	}
	fprintf(stderr, "%s predict: %s: %s\n", MELY_SIM_NAME, path, strerror(errno));
	return 2;
}
