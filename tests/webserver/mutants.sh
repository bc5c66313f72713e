#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The mutation check of sws's assertions: faults of one line, put one at a time into a copy of
# webserver/. Each must end in the assertion named with it, not just in a failing test. Takes some
# seconds a fault: "make check" tries the first one, and whether the others fit the sources; with
# MELY_TEST_LONG=1 it tries all.
set -u
src=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-$src/build}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cc="${CC:-cc} -std=gnu11 -D_GNU_SOURCE -DMELY_DEVELOPER -O1 -g -I$src/include -I$src"
# The sources of sws without the folder and ".c": those that unit tests link, and the others.
parts_of()
{
	make -s --no-print-directory -C "$build" "sws-$1" | tr ' ' '\n' |
	    sed -n 's,^webserver/\(.*\)\.c$,\1,p'
}
parts=$(parts_of library)
others=$(parts_of program)
libs=$(make -s --no-print-directory -C "$build" sws-libraries)
tried=0
failed=0

# unit TEST: build and run a unit test with the copy.
unit()
{
	local part objects=()
	mkdir -p "$scratch/tests/webserver" && cp "$src"/tests/webserver/*.[ch] \
	    "$scratch/tests/webserver" || return
	for part in $parts; do
		objects+=("$scratch/webserver/$part.c")
	done
	# The module that the test includes is in the archive as well: only what is missing counts.
	for part in "${objects[@]}"; do
		$cc -I"$scratch/webserver" -c "$part" -o "${part%.c}.o" || return
	done
	rm -f "$scratch/lib.a"
	ar rc "$scratch/lib.a" "${objects[@]/%.c/.o}"
	$cc -I"$scratch/webserver" -o "$scratch/test" "$scratch/tests/webserver/$1.c" \
	    "$scratch/lib.a" -lcmocka -lpthread && timeout 60 "$scratch/test"
}

# serve: build sws with the copy, ask it for a page, and end it.
serve()
{
	local port pid part sources=()
	rm -f "$scratch/ready"
	for part in $parts $others; do
		sources+=("$scratch/webserver/$part.c")
	done
	# shellcheck disable=SC2086 # words
	bash "$build/libtool" --quiet --tag=CC --mode=link $cc -I"$scratch/webserver" \
	    -o "$scratch/sws" "${sources[@]}" "$build/mely/libmely.la" $libs || return
	echo page >"$scratch/index.html"
	timeout 60 "$scratch/sws" --port 0 --cores 2 "$scratch" >"$scratch/ready" &
	pid=$!
	for _ in {1..300}; do
		port=$(sed -n 's,.*:\([0-9]*\)/$,\1,p' "$scratch/ready" 2>/dev/null)
		[ -z "$port" ] || break
		sleep 0.1
	done
	[ -n "$port" ] && exec 3<>"/dev/tcp/127.0.0.1/$port" &&
	    printf 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' >&3 &&
	    cat <&3 >/dev/null
	exec 3>&-
	kill -TERM "$pid"
	wait "$pid"
}

# mutant FILE OLD NEW ASSERTION COMMAND...
mutant()
{
	local file=$1 old=$2 new=$3 assertion=$4 text
	shift 4
	text=$(<"$src/webserver/$file")
	if [[ $text != *"$old"* ]]; then
		echo "FAIL: $file has no line '$old'"
		failed=$((failed + 1))
		return
	fi
	[ "$tried" -eq 0 ] || [ -n "${MELY_TEST_LONG:-}" ] || return
	tried=$((tried + 1))
	rm -rf "$scratch/webserver"
	cp -r "$src/webserver" "$scratch/webserver" || exit
	printf '%s\n' "${text/"$old"/"$new"}" >"$scratch/webserver/$file"
	"$@" >"$scratch/output" 2>&1
	if grep -qF "assertion failed: $assertion" "$scratch/output"; then
		echo "caught: $file: $new"
	else
		echo "FAIL: not caught by '$assertion': $file: $new"
		tail -n 20 "$scratch/output"
		failed=$((failed + 1))
	fi
}

# The account of bytes: pages that do not fit.
mutant site/store.c '+ need <= store->cap)' '+ need / 2 <= store->cap)' \
    'before + page->size <= store->cap' unit store
# A reference given up twice.
mutant burst.h 'sws_entry_unref(a->entry, core);' \
    'sws_entry_unref(a->entry, core), sws_entry_unref(a->entry, core);' \
    'entry->home_refs != ' unit burst
# A bound of a buffer.
mutant stages.c '(burst->in_at + n);' '(burst->in_at + n + 1);' \
    'burst->in_at <= burst->in_len' unit stages
# The place of the parser among the control characters.
mutant http/scan.h 'it->mask &= it->mask - 1;' 'it->mask = 0;' \
    'line_feed == end + 1' unit http_parse
# Where a request ends: a body of unknown length.
mutant http/parse.c $' || req->minor == 0\n\t\t    || req->method <= HTTP_HEAD)' \
    ' || req->minor == 0)' '!http_has(req, HTTP_TRANSFER_ENCODING)' unit http_parse
# The normal form of a path.
mutant http/path.c 'c < 0x20 || c == 0x7f' 'c < 0x20' \
    'http_path_is_normal(out, to)' unit http_path
# A division that has to round down.
mutant http/date.c '(year >= 0 ? year : year - 399) / 400' 'year / 400' \
    'of_era >= 0 && of_era < 400' unit http_date
# A lock that has to be held.
mutant site/store.c $'pthread_mutex_lock(&store->lock);\n\tlink = find' 'link = find' \
    'is_locked(store)' unit store
# The links of a ring.
mutant site/store.c 'page->newer->older = page->older;' 'page->newer->older = page;' \
    'page->newer->older == page && page->older->newer == page' unit store
# A count against what it counts.
mutant site/index.c 'index->entries--;' ';' 'adds_up(index)' unit index
# Freed while an answer uses it.
mutant site/index.c 'if (is_idle(entry)) {' 'if (true) {' 'is_idle(e)' unit index
# Returned twice.
mutant stages.c $'sws_burst_put(core, burst);\n\t\tconn->burst = NULL;' \
    'sws_burst_put(core, burst);' 'burst != core->bursts' unit stages
# The parts of a page.
mutant site/page.c 'h->etag_at = (uint16_t)n;' 'h->etag_at = (uint16_t)(n + 1);' \
    'page->etag_len == 0 || ' unit page
# Lengths that have to add up.
mutant gather.h '(uint32_t)(g->used - from);' '(uint32_t)(g->used - from + 1);' \
    'g->total > 0 && bytes_of(g) == g->total' serve
# An event that is queued already.
mutant stages.c 'sws_conn_check(conn);' 'sws_conn_check(conn), sws_conn_check(conn);' \
    '!mely_event_pending(&conn->event)' serve
# Exactly one answer to each request: the last one is not sent.
mutant write.c 'while (burst->out < burst->count) {' 'while (burst->out + 1 < burst->count) {' \
    'conn->closing && conn->burst->out == conn->burst->count' serve
# The state of a connection.
mutant conn.c 'conn->state = SWS_CONN_CLOSED;' 'conn->state = SWS_CONN_IDLE;' \
    'conn->state == SWS_CONN_CLOSED && conn->transport.fd >= 0' serve
# The color a handler runs in.
mutant net/listener.c 'mely_event_post(peer->listener->color, &peer->gone)' \
    'mely_event_post(mely_current_color(), &peer->gone)' \
    'mely_current_color() == peer->listener->color' serve

echo "mutants: $((tried - failed)) of $tried caught"
[ "$failed" -eq 0 ]
