#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# html.sh SOURCE OUTPUT: the documentation as HTML. Markdown goes through cmark-gfm, manual pages
# through mandoc where it is found; both get the same frame. Links between the sources become
# links between the pages. Environment: CMARK, MANDOC (may be empty).
set -eu
source=$(cd "$1" && pwd)
output=$2
cmark=${CMARK:-cmark-gfm}
mandoc=${MANDOC-mandoc}
rm -rf "$output.new"
mkdir -p "$output.new/internals" "$output.new/man" "$output.new/examples"
work=$(cd "$output.new" && pwd)
version=$(sed -n 's/^#define MELY_VERSION_STRING "\(.*\)"/\1/p' "$source/include/mely/base.h")
shopt -s nullglob
cd "$source"

pages3=(man/*.3)
pages1=(man/*.1 webserver/*.1)
pages7=(man/*.7)
examples=(examples/*.c)
# In this order in the menu.
internals='walk post steal sleep-wake lend stuck monitor cancel stop'
internals+=' io statistics live trace libasync color-check simulation prediction compat sws'

# title FILE: the first heading of a Markdown file.
title()
{
	sed -n 's/^# //p' "$1" | head -n 1
}

# names PAGE: what a manual page documents.
names()
{
	sed -n 's/^\.Nm \([a-z0-9_-]*\).*/\1/p' "$1" | sort -u
}

# entry ROOT TARGET TEXT CURRENT: one line of the menu.
entry()
{
	local here=
	[ "$2" = "$4" ] && here=' aria-current="page"'
	printf '<li><a href="%s%s"%s>%s</a></li>\n' "$1" "$2" "$here" "$3"
}

# menu ROOT CURRENT
menu()
{
	local file name
	echo '<h2>Guide</h2><ul>'
	entry "$1" index.html "Mely" "$2"
	entry "$1" tutorial.html "Tutorial" "$2"
	entry "$1" coloring.html "Coloring" "$2"
	entry "$1" embedding.html "Embedding" "$2"
	entry "$1" annotations.html "Annotations" "$2"
	entry "$1" porting.html "Porting old programs" "$2"
	entry "$1" async-names.html "Names of libasync" "$2"
	entry "$1" stalls.html "Stalls" "$2"
	entry "$1" probes.html "Probes" "$2"
	entry "$1" live-view.html "The live view" "$2"
	entry "$1" serving.html "Serving files" "$2"
	echo '</ul><h2>Internals</h2><ul>'
	entry "$1" internals.html "Overview" "$2"
	for name in $internals; do
		entry "$1" "internals/$name.html" "$(title "docs/internals/$name.md")" "$2"
	done
	if [ -n "$mandoc" ]; then
		echo '</ul><h2>Manual</h2><ul>'
		for file in "${pages7[@]}" "${pages3[@]}" "${pages1[@]}"; do
			name=${file##*/}
			entry "$1" "man/$name.html" "${name%.*}(${name##*.})" "$2"
		done
	fi
	if [ ${#examples[@]} -gt 0 ]; then
		echo '</ul><h2>Examples</h2><ul>'
		for file in "${examples[@]}"; do
			entry "$1" "$file.html" "${file##*/}" "$2"
		done
	fi
	echo '</ul><h2>Project</h2><ul>'
	entry "$1" contributing.html "Contributing" "$2"
	entry "$1" tests.html "Tests" "$2"
	entry "$1" news.html "News" "$2"
	entry "$1" copying.html "License" "$2"
	echo '</ul>'
}

# frame TARGET TITLE: the page around what comes in on standard input.
frame()
{
	local target=$1 root=
	case $target in
	*/*) root=../ ;;
	esac
	{
		cat <<EOF
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$2</title>
<link rel="stylesheet" href="${root}style.css">
<link rel="icon" href="data:,">
</head>
<body>
<header><a href="${root}index.html">mely</a> <span>$version</span></header>
<details class="menu"><summary>Contents</summary><nav>
EOF
		menu "$root" "$target"
		cat <<EOF
</nav></details>
<nav class="side">
EOF
		menu "$root" "$target"
		echo '</nav><main>'
		cat
		echo '</main></body></html>'
	} >"$work/$target"
}

escape()
{
	sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'
}

# markdown FILE TARGET
markdown()
{
	local file=$1 target=$2 root=
	case $target in
	*/*) root=../ ;;
	esac
	local page="<a href=\"${root}man/\1.\3.html\"><code>\1(\3)</code></a>"
	# Links as they hold in the source tree, first made relative to its top, then to the page.
	"$cmark" --unsafe -e table "$file" | sed -E \
	    -e "s#href=\"(\.\./)+#href=\"#g" \
	    -e 's#href="docs/#href="#g' \
	    -e "s#src=\"pictures/#src=\"${root}pictures/#g" \
	    -e "s#href=\"(${internals// /|})\.md#href=\"internals/\1.md#g" \
	    -e 's#href="README\.md#href="index.html#g' \
	    -e 's#href="tests/README\.md#href="tests.html#g' \
	    -e 's#href="CONTRIBUTING\.md#href="contributing.html#g' \
	    -e 's#href="COPYING#href="copying.html#g' \
	    -e 's#href="NEWS#href="news.html#g' \
	    -e 's#href="(examples/[^"]*\.c)"#href="\1.html"#g' \
	    -e 's#href="(man|webserver)/([a-z_-]+\.[137])"#href="man/\2.html"#g' \
	    -e 's#href="([^":\#]*)\.md#href="\1.html#g' \
	    -e "s#href=\"([^\":\#][^\":]*)\"#href=\"$root\1\"#g" \
	    -e "s#<code>((mely|sws)[a-z_-]*)\(([137])\)</code>#$page#g" \
	    -e 's#<(h[23])>([^<]*)</h[23]>#<\1 id="\2">\2</\1>#' |
	    awk '{
		# An id has no blanks and no capitals.
		if (match($0, /^<h[23] id="[^"]*"/)) {
			head = tolower(substr($0, 1, RLENGTH)); rest = substr($0, RLENGTH + 1)
			tag = substr(head, 1, 8); id = substr(head, 9)
			gsub(/[^a-z0-9"]+/, "-", id); $0 = tag id rest
		}
		print }' | frame "$target" "$(title "$file" | escape)"
}

cp docs/style.css "$work/style.css"
cp docs/trace-view.html "$work"
mkdir -p "$work/pictures"
cp docs/pictures/*.svg docs/pictures/*.png "$work/pictures/"
markdown README.md index.html
markdown CONTRIBUTING.md contributing.html
markdown tests/README.md tests.html
markdown docs/tutorial.md tutorial.html
markdown docs/coloring.md coloring.html
markdown docs/embedding.md embedding.html
markdown docs/annotations.md annotations.html
markdown docs/porting.md porting.html
markdown docs/async-names.md async-names.html
markdown docs/stalls.md stalls.html
markdown docs/probes.md probes.html
markdown docs/live-view.md live-view.html
markdown docs/serving.md serving.html
markdown docs/internals.md internals.html
for file in docs/internals/*.md; do
	name=${file##*/}
	markdown "$file" "internals/${name%.md}.html"
done
for file in NEWS COPYING; do
	{ echo "<h1>$file</h1><pre>"; escape <"$file"; echo '</pre>'; } |
	    frame "${file,,}.html" "$file"
done
for file in "${examples[@]}"; do
	{ echo "<h1>${file##*/}</h1><pre><code>"; escape <"$file"; echo '</code></pre>'; } |
	    frame "$file.html" "${file##*/}"
done

if [ -n "$mandoc" ]; then
	for file in "${pages7[@]}" "${pages3[@]}" "${pages1[@]}"; do
		name=${file##*/}
		# Pages of the system are named, not linked.
		"$mandoc" -T html -O fragment,man=%N.%S.html "$file" | sed -E \
		    -e 's#<a class="Xr" href="(mely|sws)#<a class="Xr" hrEf="\1#g' \
		    -e 's#<a class="Xr" href="[^"]*"[^>]*>([^<]*)</a>#<b>\1</b>#g' \
		    -e 's#hrEf=#href=#g' | frame "man/$name.html" "${name%.*}(${name##*.})"
		for alias in $(names "$file"); do
			[ -e "$work/man/$alias.${name##*.}.html" ] ||
			    cp "$work/man/$name.html" "$work/man/$alias.${name##*.}.html"
		done
	done
fi

cd - >/dev/null
rm -rf "$output"
mv "$output.new" "$output"
