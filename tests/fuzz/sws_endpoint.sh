#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of endpoints of sws through the fuzz target.
exec "$top_builddir/tests/fuzz/sws_endpoint" "$top_srcdir/tests/fuzz/corpus-endpoint"
