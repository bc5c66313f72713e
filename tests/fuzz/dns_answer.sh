#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the corpus of name servers' answers through the fuzz target.
exec "$top_builddir/tests/fuzz/dns_answer" "$top_srcdir/tests/fuzz/corpus-dns"
