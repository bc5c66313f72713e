#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of values through the fuzz target.
exec "$top_builddir/tests/fuzz/http_values" "$top_srcdir/tests/fuzz/corpus-values"
