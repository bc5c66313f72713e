#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each file of the repository is in the archive that "make dist" makes. Skipped outside a checkout.
set -u
src=${top_srcdir:?} build=${top_builddir:?}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# It is right to skip: an unpacked archive has no list to compare with, and ./check runs in a clone.
if ! git -C "$src" ls-files >"$scratch/files" 2>/dev/null || [ ! -s "$scratch/files" ]; then
	echo "skipped: no checkout of git"
	exit 77
fi

# What automake puts into the archive: files, and folders with all that is in them.
printf 'print-dist:\n\t@printf "%%s\\n" $(DISTFILES)\n' >"$scratch/print.mk"
make -s -C "$build" -f Makefile -f "$scratch/print.mk" print-dist >"$scratch/out" || exit 1
awk -v src="$src/" '
	index($0, src) == 1 { $0 = substr($0, length(src) + 1) }
	{ sub(/^(\.\.?\/)+/, ""); print }' "$scratch/out" >"$scratch/listed"
# A dist-hook copies ./check.
printf '%s\n' check .gitignore >>"$scratch/listed"

# missing FILES: the files that are not listed
missing()
{
	awk '
	FNR == NR { listed[$0] = 1; next }
	{
		for (path = $0; path != "" && !(path in listed);)
			path = path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : ""
		if (path == "")
			print
	}' "$scratch/listed" "$1"
}

printf 'no/such/file\n' >"$scratch/canary"
[ "$(missing "$scratch/canary")" = no/such/file ] || { echo "FAIL: the canary passes"; exit 1; }
missing "$scratch/files" >"$scratch/missing"
if [ -s "$scratch/missing" ]; then
	sed 's/^/FAIL: not in the archive: /' "$scratch/missing"
	exit 1
fi
echo "archive: $(wc -l <"$scratch/files") files: all there"
