/* SPDX-License-Identifier: MIT */
/*
 * find_program.cc: finds programs. Any thread, but for execdir.
 */
#include <string>

#include "async.h"

str execdir;

namespace melycompat {

namespace {

bool
may_execute(const char *path)
{
	struct stat sb;

	return stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && access(path, X_OK) == 0;
}

/* The first directory of a colon-separated list that has the program; an empty entry is the current
 * directory. */
str
find_in(const std::string &list, const char *program)
{
	size_t from, to;
	std::string path;

	for (from = 0; from <= list.size(); from = to + 1) {
		to = std::min(list.find(':', from), list.size());
		path = list.substr(from, to - from);
		path = (path.empty() ? "." : path) + "/" + program;
		if (may_execute(path.c_str()))
			return path.c_str();
	}
	return NULL;
}

}

}

using namespace melycompat;

str
fix_exec_path(str path, str dir)
{
	if (!dir)
		dir = execdir;
	if (!dir || strchr(path.cstr(), '/') != nullptr)
		return path;
	return strbuf() << dir << "/" << path;
}

str
find_program(const char *program)
{
	const char *list = getenv("PATH");

	if (*program == '\0')
		return NULL;
	if (strchr(program, '/') != nullptr)
		return may_execute(program) ? str(program) : str(NULL);
	return find_in(list != nullptr ? list : "/usr/bin:/bin", program);
}

str
find_program_plus_libsfs(const char *program)
{
	str path = fix_exec_path(program);

	if (strchr(path.cstr(), '/') != nullptr && may_execute(path.cstr()))
		return path;
	return find_program(program);
}
