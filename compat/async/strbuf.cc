/* SPDX-License-Identifier: MIT */
/*
 * strbuf.cc: the functions that append to a strbuf.
 */
#include "../include/async/err.h"

#include <charconv>

strbuf::strbuf(const str &s) : uio(new shared)
{
	cat(s);
}

strbuf::strbuf(const char *fmt, ...) : uio(new shared)
{
	va_list ap;

	va_start(ap, fmt);
	vfmt(fmt, ap);
	va_end(ap);
}

const strbuf &
strbuf::fmt(const char *fmt, ...) const
{
	va_list ap;

	va_start(ap, fmt);
	vfmt(fmt, ap);
	va_end(ap);
	return *this;
}

const strbuf &
strbuf::vfmt(const char *fmt, va_list ap) const
{
	suio_vuprintf(tosuio(), fmt, ap);
	return *this;
}

const strbuf &
strbuf::cat(const char *p, bool copy) const
{
	if (p == nullptr)
		melycompat_null_str();
	if (copy)
		tosuio()->copy(p, strlen(p));
	else
		tosuio()->print(p, strlen(p));
	return *this;
}

/* ---- numbers ---- */

namespace {

template <class N> const strbuf &
put(const strbuf &sb, N x)
{
	char text[24];
	char *end = std::to_chars(text, text + sizeof text, x).ptr;

	sb.tosuio()->copy(text, end - text);
	return sb;
}

}

const strbuf &
strbuf_cat(const strbuf &sb, int x)
{
	return put(sb, x);
}

const strbuf &
strbuf_cat(const strbuf &sb, unsigned x)
{
	return put(sb, x);
}

const strbuf &
strbuf_cat(const strbuf &sb, long x)
{
	return put(sb, x);
}

const strbuf &
strbuf_cat(const strbuf &sb, unsigned long x)
{
	return put(sb, x);
}

const strbuf &
strbuf_cat(const strbuf &sb, long long x)
{
	return put(sb, x);
}

const strbuf &
strbuf_cat(const strbuf &sb, unsigned long long x)
{
	return put(sb, x);
}

const strbuf &
strbuf_cat(const strbuf &sb, double x)
{
	char text[400]; /* the largest has 309 digits */

	sb.tosuio()->copy(text, snprintf(text, sizeof text, "%f", x));
	return sb;
}

const strbuf &
strbuf_cat(const strbuf &sb, const void *p)
{
	return sb.fmt("%p", p);
}

const strbuf &
strbuf_cat(const strbuf &sb, const hexdump &hd)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = static_cast<const unsigned char *>(hd.buf);
	mstr text(2 * hd.len);
	size_t i;

	for (i = 0; i < hd.len; i++) {
		text[2 * i] = digits[from[i] >> 4];
		text[2 * i + 1] = digits[from[i] & 15];
	}
	return sb.cat(str(text));
}
