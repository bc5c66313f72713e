#!/bin/bash
# SPDX-License-Identifier: MIT
# The units of sws for systemd: systemd-analyze reads them, finds nothing wrong, and calls the
# service well confined; and the files that they name are those that are installed. Where
# systemd-analyze is missing, only the names are checked.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

fail()
{
	echo "FAIL: $*" >&2
	failed=1
}

DESTDIR=$scratch make -s --no-print-directory -C "$top_builddir" \
    webserver/sws.service install-systemdsystemunitDATA || fail "cannot install the units"
service=$(find "$scratch" -name sws.service)
socket=$(find "$scratch" -name sws.socket)
if [ -z "$service" ] || [ -z "$socket" ]; then
	echo "the units are not installed here: configured --without-systemdsystemunitdir" >&2
	exit 77
fi
! grep -n '@[a-z]*@\|\${' "$service" || fail "a name is not replaced"
program=$(sed -n 's,^ExecStart=\([^ ]*\) .*,\1,p' "$service")
[ "${program##*/}" = sws ] && [ "${program:0:1}" = / ] || fail "ExecStart is $program"

# What the service says on the command line, sws understands.
printf 'root = "%s";\nlisten = "fd:http";\n' "$scratch" >"$scratch/sws.conf"
"$top_builddir/webserver/sws" --check "$scratch/sws.conf" || fail "its kind of configuration"
options=$(sed -n 's,^ExecStart=[^ ]* \(--[a-z]*\) .*,\1,p' "$service")
[ "$options" = --config ] || fail "options $options"

if ! command -v systemd-analyze >/dev/null; then
	echo "systemd-analyze not found: the units are not verified" >&2
	exit $failed
fi
mkdir "$scratch/verify"
cp "$socket" "$scratch/verify"
# The program need not be installed for this.
sed "s,^ExecStart=[^ ]*,ExecStart=$(realpath "$top_builddir")/webserver/sws," "$service" \
    >"$scratch/verify/sws.service"
verify()
{
	SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$@" 2>&1
}
said=$(cd "$scratch/verify" && verify ./sws.service ./sws.socket) || fail "verify: $said"
[ -z "$said" ] || fail "systemd-analyze verify: $said"
# It does find mistakes.
sed 's,^Type=notify,Type=nothing,' "$scratch/verify/sws.service" >"$scratch/wrong.service"
said=$(cd "$scratch" && verify ./wrong.service)
[ -n "$said" ] || fail "systemd-analyze finds no mistake"
# 0 is best, 100 worst.
systemd-analyze security --offline=yes --threshold=20 "$scratch/verify/sws.service" \
    >"$scratch/security" 2>&1 || { cat "$scratch/security"; fail "systemd-analyze security"; }
tail -1 "$scratch/security"
exit $failed
