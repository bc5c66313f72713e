#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of request heads through the fuzz target.
exec "$top_builddir/tests/fuzz/http_head" "$top_srcdir/tests/fuzz/corpus-head"
