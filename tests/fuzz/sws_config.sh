#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of configuration files of sws through the fuzz target.
exec "$top_builddir/tests/fuzz/sws_config" "$top_srcdir/tests/fuzz/corpus-sws"
