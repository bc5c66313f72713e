/* SPDX-License-Identifier: MIT */
/*
 * format.cc: printf into a suio.
 */
#include "../include/async/err.h"

namespace {

/* One conversion specification of a format. */
struct conversion {
	bool left, zero, alternate;
	char sign;         /* the character before a number that is not negative: '+', ' ' or 0 */
	size_t width;
	bool has_precision;
	size_t precision;
	int longs;         /* 0: int, 1: long, 2: long long, -1: short, -2: char */
	bool size;         /* size_t and ptrdiff_t */
};

/* va_list as a type that can be passed by reference on every platform. */
struct arguments {
	va_list ap;
};

const char *
read_flags(const char *p, conversion *c)
{
	for (;; p++)
		switch (*p) {
		case '-': c->left = true; break;
		case '0': c->zero = true; break;
		case '#': c->alternate = true; break;
		case '+': c->sign = '+'; break;
		case ' ': c->sign = c->sign == '+' ? '+' : ' '; break;
		default: return p;
		}
}

/* Parse a number; * takes it from the arguments. */
const char *
read_number(const char *p, arguments *args, int *n)
{
	*n = 0;
	if (*p == '*') {
		*n = va_arg(args->ap, int);
		return p + 1;
	}
	for (; *p >= '0' && *p <= '9'; p++)
		if (*n < INT_MAX / 10 - 1)
			*n = *n * 10 + (*p - '0');
	return p;
}

const char *
read_size(const char *p, conversion *c)
{
	for (;; p++)
		switch (*p) {
		case 'l': c->longs++; break;
		case 'h': c->longs--; break;
		case 'q':
		case 'j': c->longs = 2; break;
		case 'z':
		case 't': c->size = true; break;
		case 'L': break;
		default: return p;
		}
}

const char *
read_conversion(const char *p, conversion *c, arguments *args)
{
	int n;

	p = read_flags(p, c);
	p = read_number(p, args, &n);
	c->left = c->left || n < 0;
	c->width = n < 0 ? -static_cast<size_t>(n) : n;
	if (*p == '.') {
		p = read_number(p + 1, args, &n);
		c->has_precision = n >= 0;
		c->precision = n;
	}
	return read_size(p, c);
}

/* ---- text ---- */

void
put_text(suio *out, const conversion &c, const char *s, size_t n)
{
	size_t pad = c.width > n ? c.width - n : 0;

	if (!c.left)
		out->fill(' ', pad);
	out->print(s, n);
	if (c.left)
		out->fill(' ', pad);
}

void
put_string(suio *out, const conversion &c, const char *s)
{
	if (s == nullptr)
		panic("NULL for a %%s\n");
	put_text(out, c, s, c.has_precision ? strnlen(s, c.precision) : strlen(s));
}

void
put_char(suio *out, const conversion &c, char x)
{
	put_text(out, c, &x, 1);
}

/* ---- numbers ---- */

unsigned long long
take_unsigned(const conversion &c, arguments *args)
{
	if (c.size)
		return va_arg(args->ap, size_t);
	if (c.longs >= 2)
		return va_arg(args->ap, unsigned long long);
	if (c.longs == 1)
		return va_arg(args->ap, unsigned long);
	if (c.longs == -1)
		return static_cast<unsigned short>(va_arg(args->ap, unsigned));
	if (c.longs <= -2)
		return static_cast<unsigned char>(va_arg(args->ap, unsigned));
	return va_arg(args->ap, unsigned);
}

long long
take_signed(const conversion &c, arguments *args)
{
	if (c.size)
		return va_arg(args->ap, ssize_t);
	if (c.longs >= 2)
		return va_arg(args->ap, long long);
	if (c.longs == 1)
		return va_arg(args->ap, long);
	if (c.longs == -1)
		return static_cast<short>(va_arg(args->ap, int));
	if (c.longs <= -2)
		return static_cast<signed char>(va_arg(args->ap, int));
	return va_arg(args->ap, int);
}

/* Print the sign or 0x, zeroes for the precision or the width, and the digits. */
void
put_number(suio *out, const conversion &c, unsigned long long value, unsigned base,
    const char *prefix, const char *alphabet)
{
	char text[3 * sizeof value], *end = text + sizeof text, *p = end;
	size_t before = strlen(prefix), digits, zeroes = 0, pad;

	for (; value != 0; value /= base)
		*--p = alphabet[value % base];
	digits = end - p;
	if (digits < (c.has_precision ? c.precision : 1))
		zeroes = (c.has_precision ? c.precision : 1) - digits;
	if (base == 8 && c.alternate && zeroes == 0)
		zeroes = 1;
	pad = before + zeroes + digits;
	pad = c.width > pad ? c.width - pad : 0;
	if (c.zero && !c.left && !c.has_precision) {
		zeroes += pad;
		pad = 0;
	}
	if (!c.left)
		out->fill(' ', pad);
	out->copy(prefix, before);
	out->fill('0', zeroes);
	out->copy(p, digits);
	if (c.left)
		out->fill(' ', pad);
}

void
put_decimal(suio *out, const conversion &c, long long value)
{
	char prefix[2] = {value < 0 ? '-' : c.sign, '\0'};
	unsigned long long size = static_cast<unsigned long long>(value);

	put_number(out, c, value < 0 ? 0 - size : size, 10, prefix, "0123456789");
}

void
put_hexadecimal(suio *out, const conversion &c, unsigned long long value, bool prefix, bool upper)
{
	put_number(out, c, value, 16, !prefix ? "" : upper ? "0X" : "0x",
	    upper ? "0123456789ABCDEF" : "0123456789abcdef");
}

/* False: the conversion is unknown. */
bool
put_number_of(suio *out, conversion c, char letter, arguments *args)
{
	unsigned long long value;

	if (letter == 'D' || letter == 'U' || letter == 'O') {
		c.longs = 1;
		letter = static_cast<char>(letter - 'A' + 'a');
	}
	switch (letter) {
	case 'd':
	case 'i':
		put_decimal(out, c, take_signed(c, args));
		return true;
	case 'u':
		put_number(out, c, take_unsigned(c, args), 10, "", "0123456789");
		return true;
	case 'o':
		put_number(out, c, take_unsigned(c, args), 8, "", "01234567");
		return true;
	case 'x':
	case 'X':
		value = take_unsigned(c, args);
		put_hexadecimal(out, c, value, c.alternate && value != 0, letter == 'X');
		return true;
	case 'p':
		value = reinterpret_cast<uintptr_t>(va_arg(args->ap, void *));
		put_hexadecimal(out, c, value, true, false);
		return true;
	}
	return false;
}

/* An unknown conversion prints itself and takes no argument. The second % of %% is one. */
void
put_conversion(suio *out, const conversion &c, char letter, arguments *args, int error)
{
	if (put_number_of(out, c, letter, args))
		return;
	switch (letter) {
	case 's':
		put_string(out, c, va_arg(args->ap, const char *));
		break;
	case 'm':
		/* The next call of strerror may overwrite the text. */
		put_string(out, c, str(strerror(error)));
		break;
	case 'c':
		put_char(out, c, static_cast<char>(va_arg(args->ap, int)));
		break;
	default:
		put_char(out, c, letter);
	}
}

}

void
suio_vuprintf(suio *out, const char *fmt, va_list ap)
{
	int error = errno;
	arguments args;

	va_copy(args.ap, ap);
	while (*fmt != '\0') {
		size_t n = strcspn(fmt, "%");
		conversion c = {};

		out->copy(fmt, n);
		fmt += n;
		if (*fmt == '\0')
			break;
		fmt = read_conversion(fmt + 1, &c, &args);
		if (*fmt == '\0')
			break;
		put_conversion(out, c, *fmt++, &args, error);
	}
	va_end(args.ap);
	errno = error;
}
