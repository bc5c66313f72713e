/* SPDX-License-Identifier: MIT */
/*
 * sws_files.h: the files below a folder as responses, made once, before the server starts; from
 * then on nobody changes them, so that callbacks of any color may read them.
 */
#ifndef SWS_FILES_H
#define SWS_FILES_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <map>
#include <stdio.h>
#include <string>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct response {
	std::string head[2]; /* when the connection is closed then; when it is kept */
	std::string body;
};

static std::map<std::string, response> files; /* by path, as requests have it */
static std::map<int, response> errors;        /* by status */

static inline void
make_response(response *r, const char *status, const char *type, const std::string &more)
{
	static const char *const connection[] = {"close", "keep-alive"};
	char length[32];

	snprintf(length, sizeof length, "%lu", (unsigned long)r->body.size());
	for (int keep = 0; keep < 2; keep++)
		r->head[keep] = std::string("HTTP/1.1 ") + status + "\r\nServer: sws\r\n" +
		    "Content-Type: " + type + "\r\nContent-Length: " + length + "\r\n" + more +
		    "Connection: " + connection[keep] + "\r\n\r\n";
}

static inline void
make_errors()
{
	static const struct {
		int status;
		const char *text, *more;
	} all[] = {
		{400, "400 Bad Request", ""},
		{403, "403 Forbidden", ""},
		{404, "404 Not Found", ""},
		{405, "405 Method Not Allowed", "Allow: GET, HEAD\r\n"},
		{431, "431 Request Header Fields Too Large", ""},
		{505, "505 HTTP Version Not Supported", ""},
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		response &r = errors[all[i].status];
		r.body = std::string("<h1>") + all[i].text + "</h1>\n";
		make_response(&r, all[i].text, "text/html", all[i].more);
	}
}

static inline const char *
type_of(const std::string &path)
{
	static const char *const types[][2] = {
		{".html", "text/html"}, {".txt", "text/plain"}, {".css", "text/css"},
		{".js", "text/javascript"}, {".png", "image/png"}, {".jpg", "image/jpeg"},
		{".gif", "image/gif"}, {".svg", "image/svg+xml"}, {".pdf", "application/pdf"},
	};

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		size_t length = strlen(types[i][0]);
		if (path.size() >= length &&
		    path.compare(path.size() - length, length, types[i][0]) == 0)
			return types[i][1];
	}
	return "application/octet-stream";
}

/* One that may not be read is the answer 403. A link is not followed, wherever it leads. */
static inline void
load_file(const std::string &name, const std::string &path)
{
	int fd = open(name.c_str(), O_RDONLY | O_NOFOLLOW);
	char buffer[65536];
	ssize_t n = -1;
	response r;

	while (fd >= 0 && (n = read(fd, buffer, sizeof buffer)) > 0)
		r.body.append(buffer, n);
	if (fd >= 0)
		close(fd);
	if (n == 0)
		make_response(&r, "200 OK", type_of(path), "");
	else
		r = errors[403];
	files[path] = r;
	if (path.size() >= 11 && path.compare(path.size() - 11, 11, "/index.html") == 0)
		files[path.substr(0, path.size() - 10)] = r;
}

/* All below a folder whose path ends with a slash. False: it can not be read. */
static inline bool
load_folder(const std::string &name, const std::string &path)
{
	DIR *folder = opendir(name.c_str());
	struct dirent *entry;

	if (folder == NULL)
		return false;
	while ((entry = readdir(folder)) != NULL) {
		std::string below = name + "/" + entry->d_name;
		struct stat st;

		if (entry->d_name[0] == '.' || lstat(below.c_str(), &st) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			load_file(below, path + entry->d_name);
		else if (S_ISDIR(st.st_mode) && !load_folder(below, path + entry->d_name + "/"))
			fprintf(stderr, "sws: %s: %s\n", below.c_str(), strerror(errno));
	}
	closedir(folder);
	return true;
}

#endif
