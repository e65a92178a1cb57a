#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# variant.sh DIR COMPILER SUITES [MESON OPTION...]: build everything another way and run suites of the tests (unit,cli). Of `threads` alone
# only the programs of that suite are built. BUILD_ONLY=1: stop there.
set -eu
dir=$1 compiler=$2 suites=--suite=$(echo "$3" | sed 's/,/ --suite=/g')
target=all
[ "$3" != threads ] || target=threads
shift 3
werror=--werror
case " $* " in
# What a sanitizer puts between the lines misleads the compiler's warnings; both compilers judge the plain code.
*b_sanitize=*) werror= ;;
esac
if [ ! -f "$dir/build.ninja" ]; then
	# shellcheck disable=SC2086 # a word or none
	CC=$compiler meson setup "$dir" $werror -Dtests=enabled "$@" >"$dir.log" 2>&1 || {
		cat "$dir.log"
		exit 1
	}
fi
ninja -C "$dir" --quiet "$target"
[ -z "${BUILD_ONLY:-}" ] || exit 0
run=
# A thread sanitizer of 2022 cannot place its shadow where newer kernels put mappings at random.
case " $* " in
*sanitize=thread*) ! setarch -R true 2>/dev/null || run="setarch -R" ;;
esac
# shellcheck disable=SC2086 # words
exec $run meson test -C "$dir" --no-rebuild --print-errorlogs $suites --logbase "$(basename "$dir")"
