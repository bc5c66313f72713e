#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of traces through the fuzz target.
exec "$top_builddir/tests/fuzz/trace" "$top_srcdir/tests/fuzz/corpus-trace"
