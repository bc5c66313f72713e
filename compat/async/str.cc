/* SPDX-License-Identifier: MIT */
/*
 * str.cc: counted strings.
 */
#include "../include/async/amisc.h"

#include <cmath>
#include <new>

strobj *
strobj::alloc(size_t n, void (*wipe)(char *p, size_t n))
{
	strobj *obj;

	if (n > SIZE_MAX - sizeof *obj - 1)
		panic("a string of %zu bytes\n", n);
	obj = new (xmalloc(sizeof *obj + n + 1)) strobj(n, wipe);
	obj->dat()[n] = '\0';
	return obj;
}

void
strobj::shrink(size_t n)
{
	if (_wipe != nullptr)
		_wipe(dat() + n, _len - n);
	_len = n;
	dat()[n] = '\0';
}

void
melycompat_null_str()
{
	static const char text[] = "mely-compat: a null str is used as a string\n";

	(void)!write(2, text, sizeof text - 1);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	abort();
}

/* ---- construction from bytes ---- */

void
str::make(const char *p, size_t n)
{
	_obj = strobj::alloc(n);
	if (n > 0)
		memcpy(_obj->dat(), p, n);
}

void
str::make(const iovec *iov, size_t cnt)
{
	size_t n = iovsize(iov, cnt);

	_obj = strobj::alloc(n);
	iovmgr(iov, cnt).copyout(_obj->dat(), n);
}

void
mstr::setlen(size_t n)
{
	if (n > len())
		panic("setlen to %zu of a string of %zu bytes\n", n, len());
	if (_obj != nullptr)
		_obj->shrink(n);
}

/* ---- order ---- */

int
str::cmp(const char *p, size_t n) const
{
	size_t mine = len();
	int order = memcmp(cstr(), p, mine < n ? mine : n);

	ptrdiff_t longer = static_cast<ptrdiff_t>(mine - n);

	if (order != 0)
		return order;
	return longer > INT_MAX ? INT_MAX : longer < -INT_MAX ? -INT_MAX : static_cast<int>(longer);
}

/* ---- numbers ---- */

namespace {

/* Whether strtoll or a function like it read all of the string, and the value is in range. */
template <class N> bool
whole(const char *p, size_t len, N *out, N (*convert)(const char *, char **, int), int base)
{
	int saved = errno;
	char *end;
	N value;
	bool ok;

	errno = 0;
	value = convert(p, &end, base);
	ok = errno == 0 && len > 0 && end == p + len;
	errno = saved;
	if (ok)
		*out = value;
	return ok;
}

long long
to_signed(const char *p, char **end, int base)
{
	return strtoll(p, end, base);
}

/* Refuses negative numbers, which strtoull would convert to positive ones. */
unsigned long long
to_unsigned(const char *p, char **end, int base)
{
	if (strchr(p, '-') != nullptr)
		errno = ERANGE;
	return strtoull(p, end, base);
}

double
to_floating(const char *p, char **end, int)
{
	return strtod(p, end);
}

template <class Out, class N> bool
in_range(const char *p, size_t len, Out *out, N (*convert)(const char *, char **, int), int base)
{
	N value;

	if (!whole(p, len, &value, convert, base) ||
	    static_cast<N>(static_cast<Out>(value)) != value)
		return false;
	*out = static_cast<Out>(value);
	return true;
}

}

bool
str::to_int32(int32_t *out, int base) const
{
	return in_range(cstr(), len(), out, to_signed, base);
}

bool
str::to_int64(int64_t *out, int base) const
{
	return in_range(cstr(), len(), out, to_signed, base);
}

bool
str::to_uint32(u_int32_t *out, int base) const
{
	return in_range(cstr(), len(), out, to_unsigned, base);
}

bool
str::to_uint64(u_int64_t *out, int base) const
{
	return in_range(cstr(), len(), out, to_unsigned, base);
}

bool
str::to_double(double *out) const
{
	return whole(cstr(), len(), out, to_floating, 0);
}
