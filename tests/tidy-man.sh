#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Manual pages: every public function is in the NAME section and the synopsis of a page; no page
# documents a function that does not exist; a page lists the errors that the comments of its
# functions list; mandoc has no complaints.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# functions HEADER...: the names of the functions marked MELY_API.
functions()
{
	cat "$@" | tr '\n\t' '  ' |
	    grep -oE 'MELY_API [^;(]*[ *](mely_[a-z0-9_]+)\(' |
	    sed -E 's/.*[ *](mely_[a-z0-9_]+)\($/\1/' | sort -u
}

# documented PAGE...: the functions in the synopses.
documented()
{
	sed -nE 's/^\.F[no] "?([^" ]* \**)?(mely_[a-z0-9_]+).*/\2/p' "$@" |
	    sort -u
}

# named PAGE...: the functions in the NAME sections, by which man finds a page.
named()
{
	sed -nE 's/^\.Nm (mely_[a-z0-9_]+).*/\1/p' "$@" | sort -u
}

# missing A B: prints lines of A that are not in B; false if there are any.
missing()
{
	! comm -23 "$1" "$2" | grep .
}

functions "$top"/include/mely/*.h >"$scratch/api"
documented "$top"/man/*.3 >"$scratch/synopses"
named "$top"/man/*.3 >"$scratch/names"
[ "$(wc -l <"$scratch/api")" -ge 40 ] || complain "only $(wc -l <"$scratch/api") functions found"

missing "$scratch/api" "$scratch/synopses" || complain "functions above: in no synopsis"
missing "$scratch/api" "$scratch/names" || complain "functions above: in no NAME section"
grep -v '_fn$' "$scratch/synopses" >"$scratch/synopses-api"
missing "$scratch/synopses-api" "$scratch/api" ||
    complain "functions above: documented but not declared"

# Canary: an undocumented function is found.
printf '/** x */\nMELY_API int\nmely_canary(void);\n' >"$scratch/canary.h"
functions "$top"/include/mely/*.h "$scratch/canary.h" >"$scratch/with-canary"
if missing "$scratch/with-canary" "$scratch/synopses" >/dev/null; then
	complain "an undocumented function is not noticed"
fi

# errors_of PAGE CALLS: the errors that the comments of the page's functions list; CALLS is what
# man/calls writes.
errors_of()
{
	named "$1" | awk -F '\t' '
	NR == FNR { here[$1] = 1; next }
	$1 in here { print $5 }' - "$2" | tr ' ' '\n' | grep '^E' | sort -u
}

# listed PAGE: the errors that the page lists.
listed()
{
	grep '^\.It Bq Er ' "$1" | grep -oE '\<E[A-Z0-9]+' | sort -u
}

# agree PAGE CALLS: the page and the headers have the same errors.
agree()
{
	errors_of "$1" "$2" >"$scratch/in-headers"
	listed "$1" >"$scratch/on-page"
	! diff "$scratch/in-headers" "$scratch/on-page" |
	    sed -n "s|^< |${1##*/} lacks |p; s|^> |no header has, of ${1##*/}, |p" | grep .
}

"$top/man/calls" "$top"/include/mely/*.h >"$scratch/calls" || complain "comments of functions"
for page in "$top"/man/*.3; do
	agree "$page" "$scratch/calls" || complain "errors of ${page##*/}"
done
sed '/^mely_timer_start/s/EINVAL/EINVAL EIO/' "$scratch/calls" >"$scratch/calls-canary"
agree "$top/man/mely_timer.3" "$scratch/calls-canary" >/dev/null &&
    complain "an error that a page lacks is not noticed"
sed '/^mely_timer/s/ENOENT//' "$scratch/calls" >"$scratch/calls-canary"
agree "$top/man/mely_timer.3" "$scratch/calls-canary" >/dev/null &&
    complain "an error that only a page has is not noticed"

# The build installs every page.
if [ -e "$top/man/man.am" ]; then
	for page in "$top"/man/*.[137]; do
		grep -q "man/${page##*/}" "$top/man/man.am" ||
		    complain "man/man.am lacks ${page##*/}"
	done
fi

if command -v mandoc >/dev/null 2>&1; then
	printf '.Dd July 1, 2026\n.Dt X 3\n.Os\n.Sh NAME\n.Nm x\n.Nd y\n.Bogus z\n' >"$scratch/x.3"
	mandoc -T lint -W style "$scratch/x.3" >/dev/null 2>&1 &&
	    complain "lint accepts its canary"
	for page in "$top"/man/*.[137] "$top"/webserver/*.1; do
		[ -e "$page" ] || continue
		# Ignore messages that depend on the installed pages or on the system's name.
		mandoc -T lint -W style "$page" 2>&1 | grep -v -e 'referenced manual not found' \
		    -e 'operating system explicitly' -e 'RCS id missing' -e 'outdated mandoc.db' &&
		    complain "mandoc -T lint ${page##*/}"
	done
fi

[ "$failures" -eq 0 ] && echo "manual pages: $(wc -l <"$scratch/api") functions: fine"
[ "$failures" -eq 0 ]
