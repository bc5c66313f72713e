#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of requests to the live socket through the fuzz target.
exec "$top_builddir/tests/fuzz/request" "$top_srcdir/tests/fuzz/corpus-request"
