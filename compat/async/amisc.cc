/* SPDX-License-Identifier: MIT */
/*
 * amisc.cc: memory, parts of strings and random numbers.
 */
#include "../include/async/amisc.h"

#include <sys/random.h>

/* Without memory no message can be formatted, so this message is a constant. */
static void
no_memory()
{
	static const char text[] = "mely-compat: no memory\n";

	v_write(errfd, text, sizeof text - 1);
	abort();
}

void *
xmalloc(size_t n)
{
	void *p = malloc(n > 0 ? n : 1);

	if (p == nullptr)
		no_memory();
	return p;
}

void *
xrealloc(void *p, size_t n)
{
	p = realloc(p, n > 0 ? n : 1);
	if (p == nullptr)
		no_memory();
	return p;
}

char *
xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return static_cast<char *>(memcpy(xmalloc(n), s, n));
}

char *
mempbrk(char *p, const char *set, int n)
{
	for (int i = 0; i < n; i++)
		if (p[i] != '\0' && strchr(set, p[i]) != nullptr)
			return p + i;
	return nullptr;
}

char *
xstrsep(char **sp, const char *delim)
{
	return strsep(sp, delim);
}

char *
strnnsep(char **sp, const char *delim)
{
	if (*sp == nullptr)
		return nullptr;
	*sp += strspn(*sp, delim);
	if (**sp == '\0')
		*sp = nullptr;
	return strsep(sp, delim);
}

u_int32_t
arandom()
{
	u_int32_t x;

	while (getrandom(&x, sizeof x, 0) != static_cast<ssize_t>(sizeof x))
		if (errno != EINTR)
			panic("getrandom: %m\n");
	return x;
}

bool
addreq(const sockaddr *a, const sockaddr *b, socklen_t n)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET && n >= sizeof(sockaddr_in)) {
		sockaddr_in at, to;

		/* addresses from the kernel may have any alignment */
		memcpy(&at, a, sizeof at);
		memcpy(&to, b, sizeof to);
		return at == to;
	}
	if (a->sa_family == AF_UNIX && n > offsetof(sockaddr_un, sun_path))
		return strncmp(reinterpret_cast<const sockaddr_un *>(a)->sun_path,
			   reinterpret_cast<const sockaddr_un *>(b)->sun_path,
			   n - offsetof(sockaddr_un, sun_path)) == 0;
	return memcmp(a, b, n) == 0;
}
