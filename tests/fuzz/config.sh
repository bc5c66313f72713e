#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of options and encodings of compat through the fuzz target.
exec "$top_builddir/tests/fuzz/config" "$top_srcdir/tests/fuzz/corpus-config"
