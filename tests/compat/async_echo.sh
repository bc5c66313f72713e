#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The echo servers of dialect "async" in the way of those of dialect "mely".
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
export ECHO_PROGRAMS="async_echo async_echo_colored"
exec bash "$top_srcdir/tests/compat/echo.sh"
