#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The web proxies of compat/examples on 1, 2 and 8 workers: proxy_test.py.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
# shellcheck source=tests/compat/servers.sh
. "$top_srcdir/tests/compat/servers.sh"
test_servers proxy_test.py webproxy webproxy_colored
