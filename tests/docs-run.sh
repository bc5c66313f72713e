#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs-run.sh [DOCUMENT...]: checks quotations, commands, links and names in all documents, or in
# the given ones:
#   ```c FILE    the block consists of excerpts of FILE, in its order, separated by lines "..."
#   ```sh run    the block runs, with set -e, in the document's scratch directory, against an
#                installed library; it contains `examples/`, and compat/examples as `compat/`
#   ```sh run if FILE...
#                like run, but skipped unless all these files exist below the prefix of the
#                installation: configure leaves out parts whose libraries it does not find
#   ```sh        contains only the commands listed in unrunnable, which a test cannot run
#   links        lead to existing files, in the sources and in the HTML made from them
#   `names`      mely_x and melyint_x, and file names with a folder, exist in the tree
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
build=${top_builddir:-}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
cd "$top" || exit 1

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# blocks FILE DIR: write each fenced block to DIR/N, and the text after its fence to DIR/N.info.
blocks()
{
	mkdir -p "$2"
	awk -v dir="$2" '
		/^```/ && !inside { inside = 1; n++; info = substr($0, 4)
			name = sprintf("%s/%03d", dir, n); print info >(name ".info")
			printf "" >name; next }
		/^```/ { inside = 0; close(name); close(name ".info"); next }
		inside { print >name }' "$1"
}

# excerpt BLOCK FILE: does the block consist of runs of lines of the file, in its order?
excerpt()
{
	awk '
		function flush(   i, j, ok) {
			if (!k) return
			for (i = at; i + k - 1 <= n; i++) {
				ok = 1
				for (j = 1; j <= k && ok; j++) ok = file[i + j - 1] == run[j]
				if (ok) { at = i + k; k = 0; return }
			}
			print "not in the file, or not in this order:"
			for (j = 1; j <= k; j++) print "\t" run[j]
			bad = 1; k = 0
		}
		BEGIN { at = 1 }
		FNR == NR { file[++n] = $0; next }
		/^[ \t]*\.\.\.$/ { flush(); next }
		!k && /^$/ { next }
		{ run[++k] = $0; total++ }
		END { while (k && run[k] == "") k--; flush(); exit bad || !total }' "$2" "$1"
}

# links FILE: prints broken relative links.
links()
{
	local link bad=0
	while read -r link; do
		link=${link%%#*}
		[ -z "$link" ] || [ -e "$(dirname "$1")/$link" ] && continue
		echo "$1: $link: no such file"
		bad=1
	done < <(grep -oE '\]\([^)]*\)' "$1" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+://')
	return $bad
}

folders='mely|mely-check|mely-gantt|mely-top|compat|include|tests|examples|docs|man|microbench'
folders+='|sim|webserver'

# known FILE: prints names in backquotes that do not exist in the sources.
known()
{
	local name bad=0
	while read -r name; do
		grep -rqwF -e "$name" include mely compat && continue
		echo "$1: \`$name\`: no such name"
		bad=1
	done < <(grep -oE '`[^`]+`' "$1" | grep -oE '\b(mely|melyint|MELY|MELYINT)_[A-Za-z0-9_]*' |
	    grep -vE '_$' | sort -u)
	while read -r name; do
		compgen -G "$name" >/dev/null && continue
		[ -n "$build" ] && [ -e "$build/${name#build/}" ] && continue
		echo "$1: \`$name\`: no such file"
		bad=1
	done < <(grep -oE "\`($folders)/[a-z0-9_/.*-]+\`" "$1" | tr -d '`' | sort -u)
	return $bad
}

# unrunnable BLOCK: prints lines that are not among the commands which no test can run.
unrunnable()
{
	! grep -vE '^(\./(serve|check)( .*)?|git clone .*|cd mely|microbench/.*|#.*|)$' "$1"
}

# html_links DIR: prints broken links between the pages of the built documentation.
html_links()
{
	local bad=0 page link
	while read -r page link; do
		[ -e "${page%/*}/$link" ] && continue
		echo "$page: $link: no such page"
		bad=1
	done < <(grep -roE --include='*.html' 'href="[^"#]+' "$1" | sed 's/:href="/ /' |
	    grep -vE ' (https?|data|mailto):' | sort -u)
	return $bad
}

# ---- canaries ----------------------------------------------------------------------------------

printf 'one\ntwo\nthree\nfour\n' >"$scratch/file"
printf 'one\ntwo\n...\nfour\n' >"$scratch/right"
printf 'two\nfour\n' >"$scratch/wrong"
printf 'three\n...\none\n' >"$scratch/disordered"
excerpt "$scratch/right" "$scratch/file" || complain "excerpt refuses an excerpt"
excerpt "$scratch/wrong" "$scratch/file" >/dev/null && complain "excerpt accepts a gap"
excerpt "$scratch/disordered" "$scratch/file" >/dev/null && complain "excerpt accepts disorder"
printf '[x](nowhere.md) `mely_nothing_such` `mely/nothing.c`\n' >"$scratch/canary.md"
links "$scratch/canary.md" >/dev/null && complain "links accepts its canary"
known "$scratch/canary.md" >/dev/null && complain "known accepts its canary"
mkdir "$scratch/html"
printf '<a href="gone.html#x">x</a>\n' >"$scratch/html/x.html"
html_links "$scratch/html" >/dev/null && complain "html_links accepts its canary"
printf 'rm -r x\n' >"$scratch/command"
unrunnable "$scratch/command" >/dev/null && complain "unrunnable accepts its canary"

# ---- an installed library for the commands -------------------------------------------------------

prefix=$scratch/prefix
installed=no
install_library()
{
	[ "$installed" = yes ] && return
	installed=yes
	# The make that runs the tests must not pass its options to this one.
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	make -C "$build" install DESTDIR="$scratch/dest" >"$scratch/install.log" 2>&1 || {
		tail -n 20 "$scratch/install.log"
		complain "make install"
		exit 1
	}
	local pc wanted
	pc=$(find "$scratch/dest" -name mely.pc)
	wanted=$(sed -n 's/^prefix=//p' "$pc")
	mv "$scratch/dest$wanted" "$prefix"
	find "$prefix" \( -name 'mely*.pc' -o -name mely-compat-config \) \
	    -exec sed -i "s#^prefix=.*#prefix=$prefix#" {} +
	mkdir -p "$scratch/bin"
	# The compiler of the build, with its instrumentation flags, under its usual name. Use its
	# full path, so that the script does not call itself.
	: "${CC:=$(command -v cc)}" "${CXX:=$(command -v c++)}"
	printf '#!/bin/sh\nexec %s %s -Wl,-rpath,%s/lib "$@"\n' "$CC" \
	    "${INSTRUMENT_FLAGS:-}" "$prefix" >"$scratch/bin/cc"
	sed "s#exec $CC #exec $CXX #" "$scratch/bin/cc" >"$scratch/bin/c++"
	chmod +x "$scratch/bin/cc" "$scratch/bin/c++"
}

# run_block BLOCK DIR
run_block()
{
	(cd "$2" && PATH=$scratch/bin:$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib \
	    PKG_CONFIG_PATH=$prefix/lib/pkgconfig MANPATH=$prefix/share/man \
	    timeout 600 bash -eu "$1" </dev/null) >"$1.out" 2>&1
}

# all_there [if FILE...]: do the files exist below the prefix?
all_there()
{
	local file
	for file in "${@:2}"; do
		[ -e "$prefix/$file" ] || return 1
	done
}

# ---- the documents -----------------------------------------------------------------------------

quoted=0
ran=0
left_out=0
some=$#
[ "$some" -gt 0 ] || set -- README.md CONTRIBUTING.md docs/*.md docs/*/*.md
for doc in "$@"; do
	dir=$scratch/$(echo "$doc" | tr / -)
	blocks "$doc" "$dir/blocks"
	mkdir -p "$dir/work"
	cp -R examples "$dir/work/"
	cp -R compat/examples "$dir/work/compat"
	for block in "$dir"/blocks/*.info; do
		[ -e "$block" ] || continue
		info=$(cat "$block")
		block=${block%.info}
		case $info in
		'c '*)
			quoted=$((quoted + 1))
			[ -e "${info#c }" ] && excerpt "$block" "${info#c }" ||
			    complain "$doc: the quotation of ${info#c }" ;;
		c|C|cpp)
			complain "$doc: a program without the name of its file" ;;
		'sh run' | 'sh run if '*)
			[ -n "$build" ] || continue
			install_library
			# Not quoted, because the files are words; 'sh run' has none.
			all_there ${info#sh run} || {
				left_out=$((left_out + 1))
				continue
			}
			ran=$((ran + 1))
			run_block "$block" "$dir/work" || {
				cat "$block" "$block.out"
				complain "$doc: the commands above"
				break	# later blocks use what this one makes
			} ;;
		sh)
			unrunnable "$block" || complain "$doc: commands above are not run" ;;
		text|make) ;;
		*)
			complain "$doc: a block of unknown kind '$info'" ;;
		esac
	done
	links "$doc" || complain "$doc: links"
	known "$doc" || complain "$doc: names"
done
for command in ./serve ./check; do
	"$command" --help | grep -q "^usage: $command" || complain "$command --help"
done
# Options may stand on both sides of the directory.
for arguments in "/no/such --port 1" "--port 1 /no/such" "--port 1 -- /no/such"; do
	# shellcheck disable=SC2086 # words
	./serve $arguments 2>&1 | grep -q "'/no/such' is not a directory" ||
	    complain "./serve $arguments"
done
if [ -n "$build" ] && [ -e "$build/docs/html/index.html" ]; then
	html_links "$build/docs/html" || complain "broken links between HTML pages"
fi
[ "$some" -gt 0 ] || [ "$quoted" -ge 5 ] || complain "only $quoted quotations were found"
[ -z "$build" ] || [ "$ran" -ge 1 ] || complain "no command was run"

[ "$failures" -eq 0 ] && echo "documents: $quoted quotations, $ran blocks of commands," \
    "$left_out left out of this build: fine"
[ "$failures" -eq 0 ]
