#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The rooms of mely/ and of webserver/: each file includes only its own room and lower ones, and
# each function that a header declares is defined in the header's room, or in the room that the
# file "layers" of the tree names for it.
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

# The functions of a tree begin so.
prefix_of()
{
	case $1 in
	*/webserver) echo '(sws|http|mime)_' ;;
	*) echo 'melyint_' ;;
	esac
}

# Every function that a header declares: "HEADER FUNCTION". Bodies and structs are left out.
declared()
{
	local prefix
	prefix=$(prefix_of "$1")
	(cd "$1" && find . -name '*.h' | sed 's,^\./,,' | sort) | while read -r header; do
		awk -v header="$header" -v prefix="$prefix" '
		/\\$/ && (/^[ \t]*#/ || skip) { skip = 1; next }
		/^[ \t]*#/ || skip { skip = 0; next }
		{ text = text $0 "\n" }
		END {
			while ((i = index(text, "/*")) > 0) {
				rest = substr(text, i + 2)
				rest = substr(rest, index(rest, "*/") + 2)
				text = substr(text, 1, i - 1) " " rest
			}
			depth = 0
			for (i = 1; i <= length(text); i++) {
				c = substr(text, i, 1)
				if (c == "{" && depth++ == 0)
					chunk = chunk "@"
				else if (c == "}" && --depth == 0 && chunk ~ /\)[ \t\n]*@$/)
					chunk = ""
				else if (c == ";" && depth == 0) {
					if (chunk !~ /@/ && chunk !~ /typedef|^[ \t\n]*extern/ &&
					    match(chunk, prefix "[a-z0-9_]+\\("))
						print header, substr(chunk, RSTART, RLENGTH - 1)
					chunk = ""
				} else if (depth == 0)
					chunk = chunk c
			}
		}' "$1/$header"
	done
}

# Every function that a source defines: "SOURCE FUNCTION", by the house style of its first line.
defined()
{
	(cd "$1" && find . -name '*.c' -exec grep -EHo "^$(prefix_of "$1")[a-z0-9_]*\(" {} +) |
	    sed 's,^\./,,; s/:/ /; s/($//'
}

# Every include of one of our headers: "FILE HEADER".
included()
{
	(cd "$1" && find . -name '*.[ch]' -exec grep -H '^[ 	]*#[ 	]*include "' {} +) |
	    sed 's,^\./,,; s/:[^"]*"/ /; s/".*//'
}

# check TREE LEAST: what is wrong with that tree, a line each; it has LEAST declarations or more.
check()
{
	{
		sed 's/^/layer /' "$1/layers"
		included "$1" | sed 's/^/include /'
		defined "$1" | sed 's/^/define /'
		declared "$1" | sed 's/^/declare /'
	} | awk -v least="$2" '
	function room_of(path,   folder)
	{
		folder = path
		while (sub(/\/[^\/]*$/, "", folder)) {
			if (folder in part)
				return part[folder]
			if (folder in rank)
				return folder
		}
		return path ~ /\// ? "" : top
	}
	$1 == "layer" && $2 == "room" { rank[$3] = ++rooms; empty[$3] = 1 }
	$1 == "layer" && $2 == "top" { rank[$3] = ++rooms; empty[$3] = 1; top = $3 }
	$1 == "layer" && $2 == "part" { part[$3] = $4 }
	$1 == "layer" && $2 == "seam" {
		seams[$3] = ""
		for (i = 4; i <= NF; i++)
			seams[$3] = seams[$3] " " $i " "
	}
	$1 == "layer" && $2 !~ /^(room|top|part|seam|#.*|)$/ { print "layers: what is \"" $2 "\"?" }
	$1 == "include" {
		from = room_of($2)
		to = room_of($3)
		delete empty[from]
		if (from == "")
			print $2 " is in no room of layers"
		else if (to == "" && $3 != "access.h")
			print $2 " includes \"" $3 "\", which names no room"
		else if (to != "" && rank[to] > rank[from])
			print $2 " includes " $3 ": room " to " is above room " from
	}
	$1 == "define" { where[$3] = where[$3] " " room_of($2) " " }
	$1 == "declare" {
		seen[$2] = 1
		n++
		from = room_of($2)
		if (!($3 in where))
			next # in one build alone, or by a macro
		if ($2 in seams) {
			split(where[$3], at, " ")
			for (i in at)
				if (at[i] != "fifo" && at[i] != from &&
				    index(seams[$2], " " at[i] " ") == 0)
					print $2 " declares " $3 ", which room " at[i] \
					    " defines: layers does not name it"
		} else if (index(where[$3], " " from " ") == 0 &&
		    !(from == "sched" && index(where[$3], " fifo ") != 0)) {
			print $2 " declares " $3 ", which room" where[$3] \
			    "defines: no seam of layers"
		}
	}
	END {
		for (header in seams)
			if (!(header in seen))
				print "layers: the seam " header " declares no function"
		for (room in empty)
			print "layers: no file is in room " room
		if (n < least)
			print "only " n + 0 " declarations were found"
	}'
}

said=$(check "$top/mely" 100)
[ -z "$said" ] || complain "$said"
said=$(check "$top/webserver" 60)
[ -z "$said" ] || complain "webserver: $said"

# Canaries: each of these must be refused, with a line that names the file.
canary() # NAME FILE SED WORDS [TREE]
{
	local tree=${5:-mely}
	rm -rf "${scratch:?}/$tree"
	cp -r "$top/$tree" "$scratch/$tree" && chmod -R u+w "$scratch/$tree"
	sed -i "$3" "$scratch/$tree/$2"
	check "$scratch/$tree" 1 | grep -q "$4" || complain "canary: $1 is not refused"
}
canary "an arrow up" color/table.h '/^#include "core/a #include "sched/post.h"' \
    'color/table.h includes sched/post.h'
canary "an arrow up from a replacing header" fifo/core/worth.h \
    '/^#include "core/a #include "io/fd.h"' 'fifo/core/worth.h includes io/fd.h'
canary "an include without a room" sched/run.c '/^#include "core/a #include "run.h"' \
    'sched/run.c includes "run.h"'
canary "a seam that names the wrong room" layers \
    's,^seam core/upcalls.h sched,seam core/upcalls.h io,' \
    'core/upcalls.h declares melyint_post,'
canary "a seam that layers does not list" layers '/^seam sched\/wait.h/d' \
    'sched/wait.h declares melyint_poller_look,'
canary "a seam that does not exist" layers '$a seam sched/nothing.h io' 'seam sched/nothing.h'
canary "a room without files" layers '$a room attic' 'room attic'
canary "an arrow up in webserver" site/file.c '/^#include "base/a #include "conn.h"' \
    'site/file.c includes conn.h: room serve is above room site' webserver
canary "a function of another room in webserver" site/file.h \
    '/^#include <sys/a void sws_notice(enum sws_notice_kind kind, int error);' \
    'site/file.h declares sws_notice, which room base' webserver

[ "$failures" -eq 0 ] || exit 1
echo "tidy-layers: ok"
