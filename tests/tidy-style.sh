#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The house style, as far as a script can check it. Every checker first runs on a canary that it
# must refuse; a checker that accepts its canary is itself a failure.
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

# ---- the checkers: each takes files, prints the faults, and is false if there are any ----------

file_length()
{
	awk 'FNR == 1 { delete seen[FILENAME] } { n[FILENAME] = FNR }
		END { for (f in n) if (n[f] > 600) {
			print f ": " n[f] " lines, 600 at most"; bad = 1 }
		exit bad }' "$@"
}

line_length()
{
	local file bad=0
	for file in "$@"; do
		expand -t 8 "$file" | awk -v f="$file" 'length($0) > 100 {
			print f ":" NR ": " length($0) " columns, 100 at most"; bad = 1 }
			END { exit bad }' || bad=1
	done
	return $bad
}

# The braces of a function stand alone in the first column. So do those of a class, whose length has
# no limit.
function_length()
{
	awk 'FNR == 1 { open = 0; class = 0 }
		/^(template <.*> )?class / { class = 1 }
		/;$/ { class = 0 }
		/^\{/ { open = class ? 0 : FNR; class = 0 }
		/^\}/ && open { if (FNR - open - 1 > 70) {
			print FILENAME ":" open ": a function of " FNR - open - 1 " lines"
			bad = 1 } open = 0 }
		END { exit bad }' "$@"
}

spdx()
{
	awk 'FNR <= 2 && /SPDX-License-Identifier: MIT/ { ok[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!ok[ARGV[i]]) {
			print ARGV[i] ": no SPDX line"; bad = 1 } exit bad }' "$@"
}

white_space()
{
	! grep -nE "[[:blank:]]+\$" "$@" /dev/null
}

loose_ends()
{
	# The words are put together here so that this file does not find itself.
	! grep -nwE 'TO''DO|FIX''ME|X''XX' "$@" /dev/null
}

no_volatile()
{
	! grep -nE '(^|[^_"a-z])volatile([^_a-z]|$)' "$@" /dev/null |
	    grep -vE '^[^:]*:[0-9]+:[[:blank:]]*(/?\*|//)|sig_atomic_t|__asm__'
}

# Programs include public headers only.
public_only()
{
	! grep -nE '#[[:blank:]]*include[[:blank:]]*["<](\.\./)+mely/' "$@" /dev/null
}

# listed DIRECTORY FRAGMENT: the build lists exactly the files of the directory.
listed()
{
	local dir=$1 fragment=$2 bad=0 file name
	for file in "$dir"/**/*.[ch]; do
		name=mely/${file#"$dir"/}
		grep -qE "(^|[[:blank:]])$name([[:blank:]]|\$)" "$fragment" && continue
		echo "$fragment does not list $file"
		bad=1
	done
	for file in $(grep -oE 'mely/[a-z0-9_/]+\.[ch]' "$fragment" | sort -u); do
		[ -e "$dir/${file#mely/}" ] && continue
		echo "$fragment lists $file, which does not exist"
		bad=1
	done
	return $bad
}

# exported NM_OUTPUT: all dynamic symbols begin with mely_.
exported()
{
	awk 'NF >= 2 && $NF !~ /^mely_/ { print $NF ": exported"; bad = 1 } END { exit bad }' "$1"
}

# crossing NM_OUTPUT: global symbols of the archive begin with mely_ or melyint_.
crossing()
{
	# _.stapsdt.base is in every file with a probe (sys/sdt.h); DW.ref. is the compiler's, for
	# exceptions that go through a function.
	awk 'NF >= 3 && $(NF - 1) ~ /^[A-TV-Z]$/ &&
		$NF !~ /^mely(int)?_|^_\.stapsdt\.base$|^DW\.ref\./ {
		print $NF ": a global name without a prefix"; bad = 1 } END { exit bad }' "$1"
}

# Each note that a text cites exists, and has the letters that the text cites: "B and C of NOTE(x)".
note_letters()
{
	awk '
	function cite(file, text,   name, what, n, i, c)
	{
		while (match(text,
		    /(^|[^A-Za-z])(([A-Z], )*[A-Z],? and )?([A-Z] of )?NOTE\([^)]*\)/)) {
			what = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
			name = what
			sub(/^.*NOTE\(/, "", name)
			sub(/\)$/, "", name)
			if (!(name in letters)) {
				print file ": there is no NOTE(" name ")"
				bad = 1
				continue
			}
			if (what !~ / of NOTE/)
				continue
			sub(/ of NOTE.*$/, "", what)
			gsub(/and|[^A-Z]/, "", what)
			for (i = 1; i <= length(what); i++) {
				c = substr(what, i, 1)
				if (index(letters[name], c) == 0) {
					print file ": NOTE(" name ") has no " c
					bad = 1
				}
			}
		}
	}
	FNR == 1 { note = ""; files[++n] = FILENAME }
	# A note begins with its name; a citation that begins a line goes on in lower case.
	/^ \* NOTE\([^)]*\)(:.*| [A-Z].*)?$/ {
		note = $0
		gsub(/^ \* NOTE\(|\).*$/, "", note)
		letters[note] = letters[note] ""
	}
	/\*\// { note = "" }
	note != "" && /^ \* +[A-Z]\. / { letters[note] = letters[note] substr($2, 1, 1) }
	{
		line = $0
		sub(/^[ \t]*(\/?\*+|#)?[ \t]*/, "", line)
		texts[FILENAME] = texts[FILENAME] " " line
	}
	END {
		for (i = 1; i <= n; i++)
			cite(files[i], texts[files[i]])
		exit bad
	}' "$@"
}

# check CHECKER CANARY FILE...: the canary must be refused, the files must pass.
check()
{
	local checker=$1 canary=$2
	shift 2
	if "$checker" "$canary" >/dev/null; then
		complain "$checker accepts its canary"
	fi
	[ $# -gt 0 ] || return 0
	"$checker" "$@" || complain "$checker"
}

# ---- canaries ----------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 601; i++) print "" }' >"$scratch/long-file.c"
awk 'BEGIN { printf "\t"; for (i = 0; i < 93; i++) printf "x"; print "" }' >"$scratch/long-line.c"
awk 'BEGIN { print "f(void)\n{"; for (i = 0; i < 71; i++) print "\tx;"; print "}" }' \
    >"$scratch/long-function.c"
printf 'int x;\n' >"$scratch/no-spdx.c"
printf 'int x; \n' >"$scratch/white.c"
printf '/* TO''DO: later */\n' >"$scratch/loose.c"
printf 'static volatile int x;\n' >"$scratch/volatile.c"
printf '#include "../mely/core.h"\n' >"$scratch/inside.c"
printf '0000000000001000 T other_name\n' >"$scratch/nm"
printf '/*\n * NOTE(x)\n *   A. one\n */\n/* A and B of\n * NOTE(x) */\n' >"$scratch/letter.c"
printf '/* A of NOTE(nothing) */\n' >"$scratch/note.c"
mkdir "$scratch/mely"
touch "$scratch/mely/unlisted.c"
printf 'x = mely/gone.c\n' >"$scratch/mely.am"

# ---- the files to check ------------------------------------------------------------------------

shopt -s nullglob globstar
library=(mely/**/*.[ch] include/mely/*.h)
compat=(compat/**/*.h compat/**/*.cc)
programs=(mely-check/*.[ch] mely-gantt/*.[ch] mely-top/*.[ch] webserver/**/*.[ch]
	microbench/**/*.[ch] examples/**/*.[ch] "${compat[@]}")
sources=("${library[@]}" "${programs[@]}" sim/*.[ch] tests/**/*.[ch] microbench/**/*.cc
	microbench/**/*.cpp tests/compat/*.cc)
scripts=(serve check autogen.sh .ci/run .ci/common.sh tests/**/*.sh sim/*.sh microbench/**/*.sh
	docs/*.sh)
fragments=(configure.ac Makefile.am */*.am */*/*.am)

check file_length "$scratch/long-file.c" "${sources[@]}" "${scripts[@]}"
check line_length "$scratch/long-line.c" "${sources[@]}" "${scripts[@]}"
check function_length "$scratch/long-function.c" "${sources[@]}"
check spdx "$scratch/no-spdx.c" "${sources[@]}" "${scripts[@]}" "${fragments[@]}"
check white_space "$scratch/white.c" "${sources[@]}" "${scripts[@]}" "${fragments[@]}"
check loose_ends "$scratch/loose.c" "${sources[@]}" "${scripts[@]}" "${fragments[@]}"
check no_volatile "$scratch/volatile.c" "${library[@]}" "${compat[@]}"
check public_only "$scratch/inside.c" "${programs[@]}"
check note_letters "$scratch/letter.c"
check note_letters "$scratch/note.c" "${library[@]}" "${programs[@]}" sim/*.[ch] tests/unit/*.[ch] \
    tests/prop/*.c tests/io/*.c tests/model/*.pml docs/*.md docs/internals/*.md

listed "$scratch/mely" "$scratch/mely.am" >/dev/null && complain "listed accepts its canary"
listed mely mely/mely.am || complain listed

check exported "$scratch/nm"
check crossing "$scratch/nm"
# Instrumented code defines other names.
if [ -n "$build" ] && [ -z "${INSTRUMENT_FLAGS:-}" ]; then
	archive=$build/mely/.libs/libmely.a
	shared=$build/mely/.libs/libmely.so
	[ -e "$archive" ] || [ -e "$shared" ] || complain "no library below $build/mely/.libs"
	if [ -e "$shared" ]; then
		nm -D --defined-only "$shared" >"$scratch/symbols"
		exported "$scratch/symbols" || complain exported
		grep -q ' T mely_run$' "$scratch/symbols" || complain "mely_run is not exported"
	fi
	if [ -e "$archive" ]; then
		nm --defined-only "$archive" >"$scratch/symbols" 2>/dev/null
		crossing "$scratch/symbols" || complain crossing
	fi
fi

[ "$failures" -eq 0 ] && echo "style: ${#sources[@]} sources, ${#scripts[@]} scripts: fine"
[ "$failures" -eq 0 ]
