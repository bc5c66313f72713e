#!/bin/sh
# SPDX-License-Identifier: MIT
# Make configure and its kin from configure.ac. Needs autoconf, automake and libtool.
set -e
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize; do
	if ! command -v "$tool" >/dev/null 2>&1; then
		echo "autogen.sh: $tool not found: install autoconf automake libtool" >&2
		exit 1
	fi
done
mkdir -p config/m4
exec autoreconf --install --force "$@"
