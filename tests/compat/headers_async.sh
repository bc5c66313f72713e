#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each header of dialect "async" compiles when it is the only one, as NAME and as <sfslite/NAME>,
# and all of them do in one file, in both orders; with g++ and clang++ from C++98 to C++20. And each
# is in the table of docs/async-names.md.
set -u
src=${top_srcdir:?} build=${top_builddir:?}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
flags="-Wall -Wextra -Wshadow -Wpedantic -Werror -fsyntax-only -I$src/compat/include/async
	-I$build/compat/include/async"
cd "$scratch" || exit 1

headers=$(find "$src/compat/include/async" -name '*.h' -exec basename {} \; | sort)
[ "$(echo "$headers" | wc -l)" -gt 20 ] || { echo "FAIL: too few headers: $headers"; exit 1; }
for header in $headers; do
	printf '#include "%s"\nint x;\n' "$header" >"$header.cc"
	printf '#include <sfslite/%s>\nint x;\n' "$header" >"sfslite.$header.cc"
	printf '#include "%s"\n' "$header" >>all.cc
done
tac all.cc >all_backwards.cc
# What brings sysconf.h along, for programs that include no more than that.
for header in aios.h amisc.h bitvec.h callback.h dns.h err.h ihash.h itree.h opnew.h parseopt.h \
    qhash.h refcnt.h rxx.h serial.h str.h suio++.h vec.h; do
	printf '#include "%s"\nu_int64_t x = ntohl (INADDR_LOOPBACK) + (stdin == NULL);\n' \
	    "$header" >"sysconf_of.$header.cc"
done
for header in $headers; do
	# Those that are parts of others are no names for programs.
	case $header in misuse.h | rcentry.h) continue ;; esac
	grep -qF "\`$header\`" "$src/docs/async-names.md" ||
	    echo "FAIL: docs/async-names.md has no $header" >>table.out
done

# What a header does wrong must be seen.
printf '#include "no_such_header.h"\n' >canary_missing.cc
printf '#include "callback.h"\nstatic int f() { }\n' >canary_warning.cc

# all_of COMPILER
all_of()
{
	local standard file
	for standard in gnu++98 gnu++17 gnu++20; do
		for file in *.cc; do
			# Alone by one compiler in the oldest and by the other in the newest
			# language; together in all. The wrapper is the same text for all.
			case $file,$1,$standard in
			canary_*) continue ;;
			all*) ;;
			sfslite.*,g++,gnu++98) ;;
			sfslite.*) continue ;;
			*,g++,gnu++98 | *,clang++,gnu++20) ;;
			*) continue ;;
			esac
			# shellcheck disable=SC2086 # flags are words
			$1 -std=$standard $flags "$file" || echo "FAIL: $1 -std=$standard $file"
		done
	done
	for file in canary_*.cc; do
		# shellcheck disable=SC2086
		$1 -std=gnu++98 $flags "$file" 2>/dev/null && echo "FAIL: $1 takes $file"
	done
	echo "$1 is done"
}

compilers=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { echo "no $compiler"; continue; }
	compilers=$((compilers + 1))
	all_of $compiler >$compiler.out 2>&1 &
done
wait
cat ./*.out
[ "$compilers" -gt 0 ] && ! grep -q '^FAIL' ./*.out &&
    [ "$(grep -hc 'is done' ./*.out | awk '{ n += $1 } END { print n }')" = "$compilers" ]
