#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# variant.sh DIR COMPILER SUITES [MESON OPTION...]: build everything another way and run suites of the tests (unit,cli).
set -eu
dir=$1 compiler=$2 suites=--suite=$(echo "$3" | sed 's/,/ --suite=/g')
shift 3
if [ ! -f "$dir/build.ninja" ]; then
	CC=$compiler meson setup "$dir" --werror -Dtests=enabled "$@" >"$dir.log" 2>&1 || {
		cat "$dir.log"
		exit 1
	}
fi
ninja -C "$dir" --quiet
run=
# A thread sanitizer of 2022 cannot place its shadow where newer kernels put mappings at random.
case " $* " in
*sanitize=thread*) ! setarch -R true 2>/dev/null || run="setarch -R" ;;
esac
# shellcheck disable=SC2086 # words
exec $run meson test -C "$dir" --no-rebuild --print-errorlogs $suites --logbase "$(basename "$dir")"
