#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build.sh SRCDIR OUTDIR: build the peers whose requirements are installed, and list the others with
# their requirements. SRCDIR is the top of the source tree. CC, CXX and GO may name other compilers,
# LIBS the allocator that our own programs link. Never part of an ordinary build: make peers.
set -eu

src=${1:?usage: build.sh SRCDIR OUTDIR}
out=${2:?usage: build.sh SRCDIR OUTDIR}
mkdir -p "$out"
src=$(cd "$src" && pwd)
out=$(cd "$out" && pwd)
here=$src/microbench/peers
flags="-O2 -DNDEBUG -Wall -pthread -I$src/include"
objects=

missing() {
	echo "peers: $1 not found, left out (Debian 12: $2)"
}

# has HEADER LIBS: can a program with this header be linked?
has() {
	echo "#include <$1>
int main() { return 0; }" >"$out/probe.cpp"
	found=0
	${CXX:-c++} -std=gnu++17 -pthread "$out/probe.cpp" -o "$out/probe" $2 >/dev/null 2>&1 &&
		found=1
	rm -f "$out/probe.cpp" "$out/probe"
	[ "$found" = 1 ]
}

# peer NAME HEADER LIBS [OPTION]
peer() {
	echo "peers: $1"
	${CXX:-c++} -std=gnu++17 $flags ${4:-} -DPEER_HEADER="\"$2\"" \
		"$here/bench.cpp" $objects -o "$out/$1.new" $3 ${LIBS:-}
	mv "$out/$1.new" "$out/$1"
}

# erlang NAME OPTION
erlang() {
	echo "peers: $1"
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE $flags $2 "$here/erl/erlang_process.c" $objects \
		-o "$out/$1.new" -lm
	mv "$out/$1.new" "$out/$1"
}

for f in machine options report run fixed wake idle; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE $flags -c "$src/microbench/mb_$f.c" -o "$out/mb_$f.o"
	objects="$objects $out/mb_$f.o"
done

if has boost/asio.hpp ""; then
	peer asio-strand asio_strand.hpp ""
	peer asio-strand-defer asio_strand.hpp "" -DPEER_DEFER
	peer asio-iostrand asio_iostrand.hpp ""
	peer asio-iostrand-defer asio_iostrand.hpp "" -DPEER_DEFER
else
	missing Boost.Asio libboost-dev
fi

if has oneapi/tbb/task_arena.h -ltbb; then
	peer tbb-actor tbb_actor.hpp -ltbb
else
	missing oneTBB libtbb-dev
fi

if command -v "${GO:-go}" >/dev/null 2>&1; then
	echo "peers: go-channel"
	# Without the network: the program needs only Go's own modules.
	(cd "$here/go" && GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0 \
		"${GO:-go}" build -o "$out/go-channel" .)
else
	missing Go golang-go
fi

# The C header is in erlang-dev, at a place that the VM itself knows.
erts=
if command -v erlc >/dev/null 2>&1 && command -v erl >/dev/null 2>&1; then
	erts=$(erl -noinput -boot no_dot_erlang -eval 'io:format("~s", [
		filename:join(code:root_dir(), "usr/include")]), halt().' </dev/null) || erts=
fi
if [ -e "$erts/erl_nif.h" ]; then
	mkdir -p "$out/erl"
	erlc -Werror -o "$out/erl" "$here/erl/bench.erl"
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE $flags -I"$erts" -fPIC -shared \
		"$here/erl/bench_nif.c" -o "$out/erl/bench_nif.so"
	erlang erlang-process ""
	erlang erlang-process-nospin -DPEER_NO_SPIN
else
	missing Erlang "erlang-base erlang-dev"
fi

if has dispatch/dispatch.h "-ldispatch"; then
	peer dispatch-queue dispatch_queue.hpp "-ldispatch"
else
	missing libdispatch "no package"
fi
# There is no program for Pony: Debian 12 has no compiler to try one with.
echo "peers: no program for Pony (Debian 12: no package of ponyc)"
