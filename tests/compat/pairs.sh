# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For refuse.sh and refuse_async.sh, which source this file: statements that must not compile in a
# program of a compat dialect. Each stands next to a similar statement that must compile, so the
# compiler does not refuse it for an unrelated reason. The caller sets includes.
#
# By default one run of $CXX per set of declarations and standard compiles all pairs, in turn, and
# its messages must name each bad statement and no good one. A statement that this run does not
# settle is compiled alone: where the compiler reports a template once for several statements, or
# gets lost after an error. MELY_TEST_LONG=1 compiles every statement alone, by one standard more.
# shellcheck disable=SC2034 # for the callers
src=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck disable=SC2034
build=${top_builddir:-.}
cxx=${CXX:-c++}
standards="gnu++98 gnu++17"
[ "${MELY_TEST_LONG:-0}" = 1 ] && standards="$standards gnu++20"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
group=none pairs=0

# declare_all GROUP: the declarations on standard input are those of the pairs that follow
declare_all()
{
	group=$1
	cat >"$scratch/declared.$group.h"
}

# snippet NAME STATEMENT: a program with this statement
snippet()
{
	printf '#include "declared.%s.h"\nvoid f()\n{\n\t%s\n}\n' "$group" "$2" \
	    >"$scratch/$1"
}

# pair STANDARD GOOD BAD
pair()
{
	local good bad all=$scratch/all.$group.$1.cc
	# The canary: both of its statements are wrong.
	[ -e "$all" ] || cat >"$all" <<-END
		#include "declared.$group.h"
		#line 1 "0.good.$1.cc"
		int canary = undeclared;
		#line 1 "0.bad.$1.cc"
		int valid;
	END
	pairs=$((pairs + 1))
	good=$pairs.good.$1.cc bad=$pairs.bad.$1.cc
	snippet "$good" "$2"
	snippet "$bad" "$3"
	printf '#line 1 "%s"\nvoid %s%d()\n{\n\t%s\n}\n' "$good" good "$pairs" "$2" \
	    "$bad" bad "$pairs" "$3" >>"$all"
}

# alone STANDARD GOOD BAD: a pair that needs its own run of the compiler
alone()
{
	pairs=$((pairs + 1))
	snippet "$pairs.good.$1.cc" "$2"
	snippet "$pairs.bad.$1.cc" "$3"
	printf '%s\n' "$pairs.good.$1.cc" "$pairs.bad.$1.cc" >>"$scratch/unsettled"
}

# compile FILE: is it accepted?
compile()
{
	local standard=${1%.cc}
	# shellcheck disable=SC2086,SC2154 # words, and the caller sets them
	$cxx -std="gnu++${standard##*gnu++}" -fsyntax-only $includes "$@" 2>"$1.errors"
}

# settle FILE: compile it alone; write a line when the result is wrong
settle()
{
	local accepted=no
	cd "$scratch" || exit 1
	compile "$1" && accepted=yes
	case $1,$accepted in
	canary,*) echo "FAIL: a run for all pairs does not see what is wrong" ;;
	*.good.*,no) echo "FAIL: refused: ${1#*.*.}: $(sed -n 4p "$1")"; head -5 "$1.errors" ;;
	*.bad.*,yes) echo "FAIL: accepted: ${1#*.*.}: $(sed -n 4p "$1")" ;;
	esac
}

# together FILE: compile all pairs of one group; print the files that this does not settle
together()
{
	local message
	cd "$scratch" || exit 1
	compile "$1" -w -fmax-errors=0
	# An error names its statement at the start or in the chain of instantiations.
	message='error|fatal error|note: in instantiation|  required from'
	sed -nE "s/^([0-9]+\.(good|bad)\.[^:]*):[0-9:]+ +($message).*/\1/p" "$1.errors" |
	    sort -u >"$1.named"
	sed -n 's/^#line 1 "\(.*\)"$/\1/p' "$1" | sort -u >"$1.all"
	{ comm -23 "$1.all" "$1.named" | grep '\.bad\.'; grep '\.good\.' "$1.named"; } >"$1.wrong"
	[ "$(grep -c '^0\.' "$1.wrong")" = 2 ] || echo canary # which settle complains of
	grep -v '^0\.' "$1.wrong" || :
}

pairs_end()
{
	export cxx includes scratch
	export -f compile settle together
	cd "$scratch" || exit 1
	if [ "${MELY_TEST_LONG:-0}" = 1 ]; then
		printf '%s\n' [0-9]*.cc >unsettled
	else
		printf '%s\n' all.*.cc | xargs -P 2 -I '{}' bash -c 'together "{}"' >>unsettled
	fi
	xargs -P 2 -I '{}' bash -c 'settle "{}"' <unsettled >failed
	snippet 0.good.gnu++98.cc 'int canary = x;'
	snippet 0.bad.gnu++98.cc ';'
	[ "$( (settle 0.good.gnu++98.cc; settle 0.bad.gnu++98.cc) | grep -c ^FAIL)" = 2 ] ||
		echo "FAIL: a canary passes" >>failed
	cat failed
	echo "$pairs pairs, $(wc -l <unsettled) statements compiled alone," \
	    "$(grep -c '^FAIL' failed) wrong"
	[ "$pairs" -gt 0 ] && ! grep -q '^FAIL' failed
}
