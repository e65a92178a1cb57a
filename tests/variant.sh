#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# variant.sh NAME DIR [SUITES]: build everything another way and run suites of the tests (unit,cli); without SUITES it is only set up. Of
# `threads` alone only the programs of that suite are built. BUILD_ONLY=TARGET: build that (all) and stop.
#   asan   by clang, under its address and undefined behaviour sanitizers, ready for fuzzers
#   tsan   by gcc, under its thread sanitizer
set -eu
name=$1 dir=$2 suites=${3:-}
case $name in
asan)
	compiler=clang optimization=1
	# Three checks of pointers cost a third of the time that the build takes, and what they find is an access that the address
	# sanitizer finds, too.
	set -- --werror -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true \
		"-Dc_args=-fsanitize=fuzzer-no-link -fno-sanitize-recover=all -fno-sanitize=null,object-size,pointer-overflow -gline-tables-only"
	;;
tsan)
	# What gcc's sanitizers put between the lines misleads its warnings; the plain code is judged in its own build. Their reports need
	# lines alone.
	# What its tests do takes seconds, and a build that optimizes takes a minute more.
	compiler=gcc optimization=0
	set -- -Db_sanitize=thread "-Dc_args=-DRTE_USE_C11_MEM_MODEL -g1"
	;;
*)
	echo "variant.sh: no variant '$name'; there are asan and tsan" >&2
	exit 2
	;;
esac
if [ ! -f "$dir/build.ninja" ]; then
	CC=$compiler meson setup "$dir" -Dtests=enabled -Doptimization=$optimization "$@" >"$dir.log" 2>&1 || {
		cat "$dir.log"
		exit 1
	}
fi
[ -n "$suites" ] || exit 0
target=all
[ "$suites" != threads ] || target=threads
case ${BUILD_ONLY:-all} in
all) ;;
*) target=$BUILD_ONLY ;;
esac
# What a linker has to say of the sanitizers' own libraries is of no use, unless it ends badly.
ninja -C "$dir" --quiet "$target" >"$dir.log" 2>&1 || {
	cat "$dir.log"
	exit 1
}
[ -z "${BUILD_ONLY:-}" ] || exit 0
run=
# A thread sanitizer of 2022 cannot place its shadow where newer kernels put mappings at random.
[ "$name" != tsan ] || ! setarch -R true 2>/dev/null || run="setarch -R"
# shellcheck disable=SC2046,SC2086 # words
exec $run meson test -C "$dir" --no-rebuild --timeout-multiplier 3 --num-processes 4 --print-errorlogs \
	$(printf -- '--suite=%s ' $(echo "$suites" | tr , ' ')) --logbase "$name"
