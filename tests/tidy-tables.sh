#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Counters and settings are defined once: headers and manual pages agree with mely/counters.def and
# life/knobs.def. A row added in a copy of the tree adds a counter everywhere. The comment of each
# public function says how it may be called, and mely(7) agrees with the comments.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
build=${top_builddir:-$top}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
cc=${CC:-cc}

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# tables ARGUMENT...: run man/tables in the copy.
tables()
{
	top_srcdir=$copy "$copy/man/tables" "$@" >"$scratch/out" 2>&1
}

# again: make a new copy of the files that man/tables reads and writes.
copy=$scratch/copy
again()
{
	rm -rf "$copy"
	mkdir -p "$copy/include/mely" "$copy/mely/life" "$copy/man"
	cp "$top"/include/mely/* "$copy/include/mely"
	cp "$top/mely/life/knobs.def" "$copy/mely/life"
	cp "$top/man/tables" "$top/man/calls" "$top/man/mely.7" "$top"/man/*.3 "$copy/man"
	chmod -R u+w "$copy"
}

again
tables --check || { cat "$scratch/out"; complain "documents differ from the tables"; }
while read -r field; do
	grep -q "^\.It Fa.*\<$field\>" "$top/man/mely_config.3" ||
	    complain "mely_config(3) does not describe $field"
done < <(sed -n '/^struct mely_config {/,/^};/s/.*[ *]\([a-z_]*\);$/\1/p' "$top/man/mely_config.3")

# Canaries: an undocumented row, another default, a member without a row.
sed -i '/^MELY_COUNTER(stalls/a MELY_COUNTER(canaries, ns, "Time of canaries.")' \
    "$copy/include/mely/counters.def"
tables --check && complain "a new counter is not noticed"
tables || complain "man/tables fails"
tables --check || complain "man/tables --check refuses what man/tables writes"
grep -q '^\.It Fa canaries$' "$copy/man/mely_stats.3" || complain "no canaries in mely_stats(3)"

# The added row becomes a member of the counters, and both texts show it.
cat >"$scratch/show.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <mely/stats.h>

int
main(void)
{
	static struct {
		struct mely_stats head;
		struct mely_stats_core core;
	} block = {.head = {.cores_count = 1, .core_size = sizeof(struct mely_stats_core)}};
	char *text;

	block.head.cores_at = (uint64_t)((char *)&block.core - (char *)&block);
	block.core.counters.canaries = 1500000000;
	if (mely_stats_json(&block.head, &text, NULL) != 0)
		return 1;
	fputs(text, stdout);
	free(text);
	if (mely_stats_prometheus(&block.head, &text, NULL) != 0)
		return 1;
	fputs(text, stdout);
	free(text);
	return 0;
}
END
flags="-std=gnu11 -w -D_GNU_SOURCE -I$copy/include -I$build/config -I$top/mely"
# shellcheck disable=SC2086 # flags are words
if $cc $flags -fsyntax-only "$top/mely/look/stats.c" &&
    $cc $flags "$scratch/show.c" "$top"/mely/look/{json,prometheus,stats_read}.c \
    "$top"/mely/base/{clock,hist,text}.c -o "$scratch/show"; then
	"$scratch/show" >"$scratch/out" || complain "the program with one more counter fails"
	grep -q '"canaries":1500000000' "$scratch/out" || complain "JSON lacks the new counter"
	grep -q '^mely_core_canaries_seconds_total{core="0"} 1\.5' "$scratch/out" ||
	    complain "Prometheus lacks the new counter"
else
	complain "one more row does not compile"
fi

again
sed -i '/^KNOB(uint32_t, batch_events/s/, 10,/, 11,/' "$copy/mely/life/knobs.def"
tables --check && complain "another default is not noticed"
again
sed -i 's/^\tuint32_t stall_ms;/\tuint32_t canary_ms;\n&/' "$copy/include/mely/runtime.h"
tables --check && complain "a member without a row is not noticed"

# Canaries of the calls. Each changes a header of the copy; "tables" must refuse it and say why.
# refused WHAT MESSAGE
refused()
{
	tables && complain "$1 is not noticed"
	grep -q "$2" "$scratch/out" || { cat "$scratch/out"; complain "$1: no such message"; }
	again
}

form=' * Threads: any. Colors: any. Blocks: no. Errors:'
# canary COMMENT [ATTRIBUTE]: a new function with this comment, before the end of trace.h.
canary()
{
	local header=$copy/include/mely/trace.h

	sed -i '/^MELY_END_DECLS/d' "$header"
	printf '\n%b\nMELY_API int mely_canary(int x)%s;\n' "$1" "${2-}" >>"$header"
	sed -i 's/^\.Nm mely_trace_start ,/&\n.Nm mely_canary ,/' "$copy/man/mely_trace.3"
}

again
canary "/**\n * Sing.\n *\n$form none.\n */"
tables || { cat "$scratch/out"; complain "a function with the form is refused"; }
grep -q '^mely_canary  *any  *any  *no  *none$' "$copy/man/mely.7" ||
    complain "no mely_canary in mely(7)"
tables --check || complain "man/tables --check refuses the table that man/tables writes"
sed -i '/^MELY_API int mely_canary/d' "$copy/include/mely/trace.h"
tables --check && complain "a function that has ended is not noticed"
again
sed -i '/Colors: own. Blocks: may/s/own/any/' "$copy/include/mely/io.h"
tables --check && complain "a table that is out of date is not noticed"
again
canary '/** Sing. */'
refused "a comment without the form" "mely_canary: no line"
canary ''
refused "a function without a comment" "mely_canary: no comment"
canary "/**\n * Sing.\n *\n * Threads: some. Colors: any. Blocks: no. Errors: none.\n */"
refused "an unknown word" 'unknown word "some"'
canary "/**\n * Sing, or -EIO.\n *\n$form -EINVAL.\n */"
refused "an error that the form lacks" "the text has -EIO"
canary "/**\n * Sing.\n *\n$form -EIO.\n */"
refused "an error that is not explained" "the form has -EIO"
canary "/**\n * Sing, or -ENOMEM.\n *\n$form -ENOMEM.\n */"
refused "a call without MELY_MUST_CHECK" "mely_canary: no MELY_MUST_CHECK"
canary "/**\n * Sing, or -EINVAL.\n *\n$form -EINVAL.\n */" " MELY_MUST_CHECK"
refused "MELY_MUST_CHECK against the rule" "mely_canary: MELY_MUST_CHECK"
canary "/**\n * Sing.\n *\n$form none.\n */"
cp "$top/man/mely_trace.3" "$copy/man"
refused "a function on no page" "no page .* has mely_canary"

[ "$failures" -eq 0 ] && echo "tables of counters, settings and calls: fine"
[ "$failures" -eq 0 ]
