# SPDX-License-Identifier: MIT
# Shared by ./serve and ./check: Debian packages, and builds below build/. Bash sources this file in
# the top directory of the source; the caller defines `say` and runs with set -u.

jobs=$(nproc 2>/dev/null || echo 2)

# Packages that the web server and the documentation need on Debian 12.
packages_serve="autoconf automake libtool make gcc libc6-dev libhwloc-dev libev-dev
	libgoogle-perftools-dev libconfig-dev libssl-dev libnghttp2-dev zlib1g-dev libzstd-dev
	libbrotli-dev libseccomp-dev cmark-gfm mandoc"
# The rest of the build.
packages_build="$packages_serve g++ libjson-c-dev libncurses-dev libpcre2-dev systemtap-sdt-dev"
# The tests. The peers of the benchmarks are not here: see microbench/install-peers.
packages_check="clang lld libclang-rt-14-dev llvm libcmocka-dev libglib2.0-dev pkgconf curl python3
	man-db git xz-utils file spin tmux openssl"
packages_full="lcov valgrind"

# install_missing PACKAGE...: install the missing ones; fast if none is missing.
install_missing()
{
	local missing=() package sudo=
	if ! command -v dpkg-query >/dev/null 2>&1; then
		say "not a Debian system: assuming that the equivalents of these are installed: $*"
		return 0
	fi
	for package in "$@"; do
		case $(dpkg-query -W -f '${db:Status-Abbrev}\n' "$package" 2>/dev/null) in
		ii*) ;;
		*) missing+=("$package") ;;
		esac
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null 2>&1; then
			echo "not root, and no sudo: run apt-get install ${missing[*]}" >&2
			return 1
		fi
		sudo=sudo
	fi
	say "installing ${missing[*]}"
	mkdir -p build
	if ! { $sudo apt-get update &&
	    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
		"${missing[@]}"; } >build/install.log 2>&1 </dev/null; then
		tail -n 20 build/install.log >&2
		echo "cannot install the packages; see build/install.log" >&2
		return 1
	fi
	# configure may find now what it did not find before.
	rm -f build/configured-with build/*/configured-with
}

# make_configure: make configure and Makefile.in if they are missing or older than their sources.
make_configure()
{
	local source
	if [ -x configure ] && [ -e Makefile.in ] && [ -e config/config.h.in ]; then
		for source in configure.ac Makefile.am */*.am */*/*.am; do
			if [ "$source" -nt Makefile.in ] || [ "$source" -nt configure ]; then
				source=
				break
			fi
		done
		[ -n "$source" ] && return 0
	fi
	mkdir -p build
	say "making configure"
	if ! ./autogen.sh >build/autogen.log 2>&1; then
		cat build/autogen.log >&2
		return 1
	fi
}

# configure_in DIR ARGUMENT...: configure an out-of-tree build directory with these arguments.
configure_in()
{
	local dir=$1 top wanted had
	shift
	top=$(pwd)
	wanted="configure $*"
	had=$(cat "$dir/configured-with" 2>/dev/null)
	[ -e "$dir/config.status" ] && [ "$had" = "$wanted" ] && return 0
	mkdir -p "$dir"
	# make would keep objects of another configuration.
	if [ -e "$dir/Makefile" ]; then
		(cd "$dir" && make -k clean) >/dev/null 2>&1
	fi
	# configure would choose bash, which runs it and the recipes of make half as fast as dash.
	if ! (cd "$dir" && CONFIG_SHELL=/bin/sh /bin/sh "$top/configure" "$@") \
	    >"$dir/configure.out" 2>&1; then
		grep -h 'error:' "$dir/configure.out" >&2 || tail -n 5 "$dir/configure.out" >&2
		return 1
	fi
	printf '%s\n' "$wanted" >"$dir/configured-with"
}
