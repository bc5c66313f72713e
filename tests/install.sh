#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program outside the tree builds against an installed copy with the flags from pkg-config, in C
# and in C++, shared and static; only the promised files are installed; uninstall removes them.
set -u
src=${top_srcdir:?} build=${top_builddir:?}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
dest=$scratch/dest

for tool in pkg-config make; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool not found"
		exit 77
	fi
done

fail()
{
	echo "FAIL: $*"
	exit 1
}

# The make that runs the tests must not pass its options to the inner one.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
make -s -C "$build" install DESTDIR="$dest" > "$scratch/log" 2>&1 ||
	{ tail -20 "$scratch/log"; fail "make install"; }

pc=$(find "$dest" -name mely.pc)
[ -f "$pc" ] || fail "no mely.pc is installed"
libdir=$(find "$dest" -name 'libmely.so' -printf '%h\n')
[ -n "$libdir" ] || fail "no libmely.so is installed"
[ -f "$libdir/libmely.a" ] || fail "no libmely.a is installed"

# Headers: exactly the public ones.
installed=$(cd "$(dirname "$(find "$dest" -path '*/include/mely/mely.h')")" && ls)
public=$(cd "$src/include/mely" && ls)
[ "$installed" = "$public" ] || fail "headers installed: $installed; public: $public"

# Exported symbols: only mely_*.
foreign=$(nm -D --defined-only "$libdir/libmely.so" | awk '{ print $3 }' |
	grep -vE '^mely_|^_(init|fini|edata|end)$|^__(asan|tsan|ubsan|odr|gcov|bss_start)')
[ -z "$foreign" ] || fail "libmely.so exports $foreign"

# Handlers of signals and forks outlast a dlclose.
readelf -d "$libdir/libmely.so" | grep -q NODELETE || fail "libmely.so can be unloaded"

# pkg-config, with the prefix below DESTDIR.
pkg()
{
	PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$dest pkg-config "$@" mely
}
version=$(sed -n 's/^#define MELY_VERSION_STRING "\(.*\)"/\1/p' "$src/include/mely/base.h")
[ "$(pkg --modversion)" = "$version" ] || fail "mely.pc says version $(pkg --modversion)"
cflags=$(pkg --cflags) && libs=$(pkg --libs) && static=$(pkg --static --libs) ||
	fail "pkg-config refuses mely.pc"

expected=$(printf 'hello %d\n' 1 2 3 4 5 6 7 8 9 10)
try()
{
	local what=$1
	shift
	"$@" -o "$scratch/hello" > "$scratch/log" 2>&1 || { cat "$scratch/log"; fail "$what"; }
	[ "$(cd / && LD_LIBRARY_PATH=$libdir "$scratch/hello")" = "$expected" ] ||
		fail "$what: the program's output differs"
	echo "ok $what"
}

cc=${CC:-cc} cxx=${CXX:-c++}
# shellcheck disable=SC2086 # flags are words
{
	cp "$src/examples/hello.c" "$scratch/hello.c"
	cp "$src/examples/hello.c" "$scratch/hello.cc"
	# In C++ a void pointer needs a cast.
	sed -i 's/int \*n = arg;/int *n = static_cast<int *>(arg);/' "$scratch/hello.cc"
	try "C11, shared" $cc $INSTRUMENT_FLAGS -std=c11 -Wall -Wextra -Werror $cflags \
	    "$scratch/hello.c" $libs -pthread
	# The archive of our library; other libraries shared or static, as found.
	try "C11, static" $cc $INSTRUMENT_FLAGS -std=c11 -Wall -Wextra -Werror $cflags \
	    "$scratch/hello.c" "$libdir/libmely.a" \
	    $(printf '%s\n' $static | grep -v '^-lmely$') -pthread
	if command -v "${cxx%% *}" >/dev/null; then
		try "C++17, shared" $cxx $INSTRUMENT_FLAGS -std=c++17 -Wall -Wextra -Werror \
		    $cflags "$scratch/hello.cc" $libs -pthread
	fi
}

# ---- compat: an old C++98 program, with the flags of mely-compat-config and of pkg-config --------

config=$(find "$dest" -name mely-compat-config)
if [ -n "$config" ]; then
	root=${libdir%/lib*}
	sh "$config" --help | grep -q '^usage: mely-compat-config' ||
		fail "mely-compat-config --help"
	[ "$(sh "$config" --version)" = "$version" ] || fail "mely-compat-config --version"
	sh "$config" --nonsense >"$scratch/log" 2>&1
	[ $? = 2 ] || fail "mely-compat-config --nonsense"
	[ "$(sh "$config" --libdir)" = "${libdir#"$dest"}" ] || fail "mely-compat-config --libdir"
	foreign=$(nm -D --defined-only "$libdir/libmely-compat.so" | awk '{ print $3 }' |
		grep -vE '^melycompat_|^nthreads$|^_(init|fini|edata|end)$' |
		grep -vE '^__(asan|tsan|ubsan|odr|gcov|bss_start)')
	[ -z "$foreign" ] || fail "libmely-compat.so exports $foreign"
	cat >"$scratch/hello.C" <<-'END'
		#include "mely.h"
		static int n;
		static void greet()
		{
			printf("hello %d\n", ++n);
			if (n == 10)
				exit(0);
		}
		int main()
		{
			for (int i = 0; i < 10; i++)
				cpucb_tail(cwrap(greet, 7));
			amain();
		}
	END
	# shellcheck disable=SC2046,SC2086 # flags are words
	try "compat, mely-compat-config" $cxx $INSTRUMENT_FLAGS -std=gnu++98 -Wall -Wextra \
	    -Werror "$scratch/hello.C" $(sh "$config" --prefix="$root" --cflags --libs) \
	    -Wl,-rpath-link,"$libdir"
	# shellcheck disable=SC2046,SC2086
	try "compat, pkg-config" $cxx $INSTRUMENT_FLAGS -std=gnu++17 -Wall -Wextra -Werror \
	    "$scratch/hello.C" $(PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$dest \
	    pkg-config --cflags --libs mely-compat-mely) -pthread -Wl,-rpath-link,"$libdir"
fi

# ---- compat, dialect "async": the installed files, and a program built in both ways ----

if [ -n "$config" ] && [ -f "$libdir/libmely-compat-async.so" ]; then
	directory=$dest$(sh "$config" --dialect=async --includedir)
	installed=$(cd "$directory" && ls ./*.h)
	public=$(cd "$src/compat/include/async" && ls ./*.h)
	[ "$installed" = "$public" ] || fail "dialect async has: $installed; not: $public"
	[ "$(cd "$directory/sfslite" && ls ./*.h)" = "$public" ] || fail "sfslite/ lacks headers"
	# Only the names of libasync and the functions that its headers call are exported.
	foreign=$(nm -D --defined-only "$libdir/libmely-compat-async.so" | awk '{ print $3 }' |
		grep -E '^_Z(T[A-Z]|GV|Z)?N?K?(10melycompat|St|9__gnu_cxx)|IN10melycompat')
	[ -z "$foreign" ] || fail "libmely-compat-async.so exports $foreign"
	nm -D --defined-only "$libdir/libmely-compat-async.so" | grep -q ' T _Z5amainv$' ||
		fail "libmely-compat-async.so does not export amain"
	cat >"$scratch/hello.C" <<-'END'
		#include "async.h"
		#include <sfslite/qhash.h>
		static qhash<str, int> said;
		static void greet(str what, int n)
		{
			printf("%s %d\n", what.cstr(), n);
			said.insert(what, n);
			if (n == 10)
				exit(*said["hello"] != 10);
			delaycb(0, 0, wrap(greet, what, n + 1));
		}
		int main(int, char **argv)
		{
			setprogname(argv[0]);
			cpucb_tail(cwrap(greet, "hello", 1, 0));
			amain();
		}
	END
	# shellcheck disable=SC2046,SC2086 # flags are words
	try "compat async, mely-compat-config" $cxx $INSTRUMENT_FLAGS -std=gnu++98 -Wall -Wextra \
	    -Werror "$scratch/hello.C" \
	    $(sh "$config" --dialect=async --prefix="$root" --cflags --libs) \
	    -Wl,-rpath-link,"$libdir"
	# shellcheck disable=SC2046,SC2086
	try "compat async, pkg-config" $cxx $INSTRUMENT_FLAGS -std=gnu++17 -Wall -Wextra -Werror \
	    "$scratch/hello.C" $(PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$dest \
	    pkg-config --cflags --libs mely-compat-async) -pthread -Wl,-rpath-link,"$libdir"
fi

make -s -C "$build" uninstall DESTDIR="$dest" > "$scratch/log" 2>&1 ||
	{ tail -20 "$scratch/log"; fail "make uninstall"; }
left=$(find "$dest" ! -type d)
[ -z "$left" ] || fail "uninstall leaves $left"
echo "ok uninstall"
