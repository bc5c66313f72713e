#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# echo.sh for the servers of dialect "async".
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
export ECHO_PROGRAMS="async_echo async_echo_colored"
exec bash "$top_srcdir/tests/compat/echo.sh"
