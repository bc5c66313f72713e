#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page that shows traces says what is in them.
exec python3 "$top_srcdir/tests/trace/show.py" --test
