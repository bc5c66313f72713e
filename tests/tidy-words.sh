#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tidy-words.sh [FILE...]: words and turns that make prose hard to read. Without arguments, every
# text of the tree. Each pattern is tried on a canary line that it must find.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$top" || exit 1

# PATTERN | what to write instead | a line that the pattern must find. Extended Perl patterns,
# case is ignored.
read -r -d '' list <<'END' || :
\b(whom|whoever|somebody|nobody|anybody)\b(?!/)|name the thread|whoever polls
(?<!people )(?<!those )(?<!users )(?<!user )\bwho\b|name the thread|the thread who posts
\bso (many|long)\b|give the number a name|one batch in so many
\banew\b|again|it is linked anew
\b(is|are|was|were|be) told\b|learns, reports|the core is told
\b(tells|told) of\b|reports|it tells of a steal
\bfor good\b|permanently|the event leaves for good
(?<!there )\b(is|are) no (?!longer|more\b|less|fewer|later|earlier|one\b)|is not a|this is no number
\bcan not\b|cannot|it can not be stolen
\bin the place of\b|instead of, on behalf of|in the place of a core
\b(a|an|each|every|another|second|last|next|own|one) look\b(?!(-| )up\b)|snapshot|a look at it
\b(be|been) had\b|exist, be available|no memory could be had
\b(has|have|had) come\b(?! (from|to|with)\b)|arrived|when its time has come
\b(is|are|was) gone\b|has ended, was freed|when the watcher is gone
\bhere and there\b|say where|here and there
\bmaybe\b|possibly|maybe for long
\bat this moment\b|now|at this moment
\bspeaks? of\b|describes|the page speaks of it
\breckons? with\b|uses|what stealing reckons with
\bstands? in for\b|replaces|this stands in for it
\bgoes by\b|follows, uses|each core goes by it
END

# prose FILE...: the lines that have one of the words, with a word on what to write.
prose()
{
	perl -ne '
		BEGIN {
			for (split /\n/, shift) {
				my ($canary, $better);
				/^(.*)\|([^|]*)\|([^|]*)$/ or die "bad row: $_";
				push @words, [qr/$1/i, $2, $3];
			}
		}
		next if /tidy-words: quoted/;
		for my $w (@words) {
			if (/$w->[0]/) {
				print "$ARGV:$.: \"$&\": $w->[1]\n";
				$bad = 1;
			}
		}
		close ARGV if eof;
		END { exit($bad ? 1 : 0) }' "$list" "$@"
}

failures=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
while IFS= read -r row; do
	printf ' * %s\n' "${row##*|}" >"$scratch/canary"
	if prose "$scratch/canary" >/dev/null; then
		echo "FAIL: not found: ${row##*|}"
		failures=$((failures + 1))
	fi
done <<<"$list"
printf 'There is no lock. The core wakes the sleeper, which no longer waits.\n' >"$scratch/plain"
prose "$scratch/plain" || failures=$((failures + 1))

if [ $# -gt 0 ]; then
	files=("$@")
else
	shopt -s nullglob globstar
	files=(*.md NEWS check serve autogen.sh configure.ac Makefile.am .ci/*
		{include,mely,compat,webserver,sim,microbench}/**/*.{h,c,cc,hpp,def,am,sh,py,cpp}
		{mely-top,mely-gantt,mely-check,examples,tests}/**/*.{h,c,cc,am,sh,py,pml,md,list}
		{docs,man,webserver}/**/*.{md,sh,1,3,7,am,html}
		microbench/{compare,http,lines,onoff,paper,install-peers} sim/{scale,calibrate})
	kept=()
	for file in "${files[@]}"; do
		# This file quotes the words.
		[ "$file" = tests/tidy-words.sh ] || kept+=("$file")
	done
	files=("${kept[@]}")
fi
prose "${files[@]}" >"$scratch/found" || failures=$((failures + 1))
head -n "${WORDS_MAX:-100}" "$scratch/found"
[ "$failures" -eq 0 ] && echo "words: ${#files[@]} files: fine"
[ "$failures" -eq 0 ]
