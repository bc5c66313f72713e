/* SPDX-License-Identifier: MIT */
/*
 * date.c: calendar arithmetic with years that begin in March, so that a leap day is the last
 * day of its year.
 */
#include <string.h>

#include "base/assertion.h"
#include "http/date.h"

#define DAY 86400
#define YEAR_9999 INT64_C(253402300799)

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[12][4] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
};

/* Days from 1970-01-01 to year-month-day; month from 1. */
static int64_t
days_from_civil(int64_t year, int month, int day)
{
	int64_t era, of_era, of_year;

	year -= month <= 2;
	/* January of the year 0 belongs to the year -1. */
	era = (year >= 0 ? year : year - 399) / 400;
	of_era = year - era * 400;
	of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	SWS_DEBUG_ASSERT(of_era >= 0 && of_era < 400 && of_year >= 0 && of_year < 366);
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void
civil_from_days(int64_t day, int *year, int *month, int *mday)
{
	int64_t era, of_era, y, of_year, m;

	day += 719468;
	/* The divisions round down only from here on. */
	SWS_DEBUG_ASSERT(day >= 0);
	era = day / 146097;
	of_era = day - era * 146097;
	y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	of_year = of_era - (365 * y + y / 4 - y / 100);
	m = (5 * of_year + 2) / 153;
	SWS_DEBUG_ASSERT(y < 400 && of_year >= 0 && of_year < 366);
	*mday = (int)(of_year - (153 * m + 2) / 5 + 1);
	*month = (int)(m < 10 ? m + 3 : m - 9);
	*year = (int)(y + era * 400 + (*month <= 2));
}

static void
put2(char *out, int value)
{
	SWS_DEBUG_ASSERT(value >= 0 && value <= 99);
	out[0] = (char)('0' + value / 10);
	out[1] = (char)('0' + value % 10);
}

void
http_date_format(int64_t second, char out[HTTP_DATE_LEN])
{
	int64_t day;
	int year, month, mday, rest;

	if (second < 0)
		second = 0;
	if (second > YEAR_9999)
		second = YEAR_9999;
	day = second / DAY;
	rest = (int)(second % DAY);
	civil_from_days(day, &year, &month, &mday);
	SWS_ASSERT(month >= 1 && month <= 12 && mday >= 1 && mday <= 31);
	memcpy(out, "Ddd, 00 Mmm 0000 00:00:00 GMT", HTTP_DATE_LEN);
	memcpy(out, days[(day + 4) % 7], 3);
	put2(out + 5, mday);
	memcpy(out + 8, months[month - 1], 3);
	put2(out + 12, year / 100);
	put2(out + 14, year % 100);
	put2(out + 17, rest / 3600);
	put2(out + 20, rest / 60 % 60);
	put2(out + 23, rest % 60);
}

/* ---- parsing ------------------------------------------------------------------------------- */

struct fields {
	int year, month, day, hour, minute, second;
};

static bool
number(const char *p, int digits, int *value)
{
	*value = 0;
	for (int i = 0; i < digits; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		*value = *value * 10 + (p[i] - '0');
	}
	return true;
}

static bool
month_name(const char *p, int *month)
{
	for (int i = 0; i < 12; i++)
		if (memcmp(p, months[i], 3) == 0) {
			*month = i + 1;
			return true;
		}
	return false;
}

static bool
clock_time(const char *p, struct fields *f)
{
	return number(p, 2, &f->hour) && p[2] == ':' && number(p + 3, 2, &f->minute)
	    && p[5] == ':' && number(p + 6, 2, &f->second);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool
parse_fixdate(const char *p, struct fields *f)
{
	return p[3] == ',' && p[4] == ' ' && number(p + 5, 2, &f->day) && p[7] == ' '
	    && month_name(p + 8, &f->month) && p[11] == ' ' && number(p + 12, 4, &f->year)
	    && p[16] == ' ' && clock_time(p + 17, f) && memcmp(p + 25, " GMT", 4) == 0;
}

/* "Sun Nov  6 08:49:37 1994" */
static bool
parse_asctime(const char *p, struct fields *f)
{
	char day[2] = {p[8] == ' ' ? '0' : p[8], p[9]};

	return p[3] == ' ' && month_name(p + 4, &f->month) && p[7] == ' '
	    && number(day, 2, &f->day) && p[10] == ' ' && clock_time(p + 11, f) && p[19] == ' '
	    && number(p + 20, 4, &f->year);
}

/* " 06-Nov-94 08:49:37 GMT": the part of the RFC 850 format after the comma */
static bool
parse_rfc850(const char *p, struct fields *f, int64_t now)
{
	int year, month, day;

	if (!(p[0] == ' ' && number(p + 1, 2, &f->day) && p[3] == '-'
	    && month_name(p + 4, &f->month) && p[7] == '-' && number(p + 8, 2, &f->year)
	    && p[10] == ' ' && clock_time(p + 11, f) && memcmp(p + 19, " GMT", 4) == 0))
		return false;
	/* A year more than 50 years ahead means the past year with the same two digits. */
	civil_from_days(now / DAY, &year, &month, &day);
	f->year += year / 100 * 100;
	if (f->year > year + 50)
		f->year -= 100;
	return true;
}

bool
http_date_parse(const char *text, size_t len, int64_t now, int64_t *second)
{
	static const int month_days[12] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const char *comma = memchr(text, ',', len);
	struct fields f;

	if (len == HTTP_DATE_LEN && text[3] == ',') {
		if (!parse_fixdate(text, &f))
			return false;
	} else if (len == 24 && comma == NULL) {
		if (!parse_asctime(text, &f))
			return false;
	} else if (comma != NULL && comma - text >= 6 && (size_t)(text + len - comma) == 24) {
		if (!parse_rfc850(comma + 1, &f, now))
			return false;
	} else {
		return false;
	}
	/* Each of the formats fills in a month and a year. */
	SWS_DEBUG_ASSERT(f.month >= 1 && f.month <= 12);
	SWS_DEBUG_ASSERT(f.year >= 0 && f.year <= 9999);
	if (f.day < 1 || f.day > month_days[f.month - 1] || f.hour > 23 || f.minute > 59
	    || f.second > 60)
		return false;
	*second = days_from_civil(f.year, f.month, f.day) * DAY + f.hour * 3600 + f.minute * 60
	    + f.second;
	return true;
}
