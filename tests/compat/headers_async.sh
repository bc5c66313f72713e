#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each header of dialect "async" compiles alone, also as <sfslite/NAME>, and all headers compile
# together, in both orders. docs/async-names.md lists each header.
#
# By default $CXX compiles each header alone as gnu++98, and all of them as gnu++98 and gnu++17.
# MELY_TEST_LONG=1: g++ and clang++; alone in the oldest and the newest standard, together in every
# standard from C++98 to C++20, and each sfslite header alone.
set -u
src=${top_srcdir:?} build=${top_builddir:?}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export flags="-Wall -Wextra -Wshadow -Wpedantic -Werror -fsyntax-only -I$src/compat/include/async
	-I$build/compat/include/async"
cd "$scratch" || exit 1

headers=$(find "$src/compat/include/async" -name '*.h' -exec basename {} \; | sort)
[ "$(echo "$headers" | wc -l)" -gt 20 ] || { echo "FAIL: too few headers: $headers"; exit 1; }
for header in $headers; do
	printf '#include "%s"\nint x;\n' "$header" >"alone.$header.cc"
	printf '#include <sfslite/%s>\nint x;\n' "$header" >"sfslite.$header.cc"
	printf '#include "%s"\n' "$header" >>all.cc
	printf '#include <sfslite/%s>\n' "$header" >>all_sfslite.cc
done
tac all.cc >all_backwards.cc
# These headers include sysconf.h, for programs that rely on it.
for header in aios.h amisc.h bitvec.h callback.h dns.h err.h ihash.h itree.h opnew.h parseopt.h \
    qhash.h refcnt.h rxx.h serial.h str.h suio++.h vec.h; do
	printf '#include "%s"\nu_int64_t x = ntohl (INADDR_LOOPBACK) + (stdin == NULL);\n' \
	    "$header" >"alone.$header.cc"
done
for header in $headers; do
	# These are parts of other headers; no program includes them.
	case $header in misuse.h | rcentry.h) continue ;; esac
	grep -qF "\`$header\`" "$src/docs/async-names.md" ||
	    echo "FAIL: docs/async-names.md has no $header" >>out
done

# brings HEADER CODE: what programs expect of a header without including another one
brings()
{
	printf '%s\n' "$2" >>"alone.$1.cc"
}
brings async.h 'void f (char *p) { putint (p, 1); sfs_const::axprt_suio_clear_interval = 5; }'
brings async.h 'sfs::bundle_t<int, sfs::nil_t> g () { return sfs::bundle_t<int> (1); }'
brings amisc.h 'int f () { return inetsocket (SOCK_STREAM) + fdwait (0, selread); }'
brings amisc.h 'ssize_t g () { make_async (0); return writefd (0, armor64 ("x"), 1, 2); }'
brings parseopt.h 'void f (int n) { if (n < 0) fatal ("%d\n", n); warn << n << "\n"; }'
brings str.h 'vec<str> v;'
brings ihash.h 'vec<long> v;'
brings qhash.h 'vec<long> v;'

# compile STANDARD FILE COMPILER...
compile()
{
	local standard=$1 file=$2
	shift 2
	# shellcheck disable=SC2086 # words
	"$@" -std="$standard" $flags "$file" || echo "FAIL: $* -std=$standard $file"
}

# The canary: a header with an error must be found.
printf '#include "no_such_header.h"\n' >canary_missing.cc
printf '#include "callback.h"\nstatic int f() { }\n' >canary_warning.cc

# runs COMPILER STANDARD FILE...: print one line for each
runs()
{
	local compiler=$1 standard=$2
	shift 2
	printf "$standard %s $compiler\n" "$@"
}

compilers=()
if [ "${MELY_TEST_LONG:-0}" = 1 ]; then
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || { echo "no $compiler"; continue; }
		compilers+=("$compiler")
		for standard in gnu++98 gnu++17 gnu++20; do
			runs $compiler $standard all*.cc
		done >>todo
	done
	# The text of the sfslite headers is always the same: one compiler is enough.
	case "${compilers[*]}" in g++*) runs g++ gnu++98 alone.* sfslite.* >>todo ;; esac
	case "${compilers[*]}" in *clang++) runs clang++ gnu++20 alone.* >>todo ;; esac
else
	compilers=("${CXX:-c++}")
	{ runs "${compilers[0]}" gnu++98 all*.cc alone.*
		runs "${compilers[0]}" gnu++17 all*.cc; } >>todo
fi
for compiler in "${compilers[@]}"; do
	for file in canary_*.cc; do
		# shellcheck disable=SC2086 # words
		compile gnu++98 "$file" $compiler 2>/dev/null | grep -q '^FAIL' ||
		    echo "FAIL: $compiler accepts $file" >>out
	done
done
[ "${#compilers[@]}" -gt 0 ] || { echo "FAIL: no compiler"; exit 1; }

export -f compile
xargs -P 2 -L 1 bash -c 'compile "$@"' compile <todo >>out 2>&1
cat out
echo "$(wc -l <todo) runs of ${compilers[*]}"
[ "$(wc -l <todo)" -gt 50 ] && ! grep -q '^FAIL' out
