#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of responses through the fuzz target.
exec "$top_builddir/tests/fuzz/http_response" "$top_srcdir/tests/fuzz/corpus-response"
