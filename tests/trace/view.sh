#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page that shows traces describes them correctly.
exec python3 "$top_srcdir/tests/trace/show.py" --test
