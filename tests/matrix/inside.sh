#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# inside.sh VARIANT PART...: what tests/matrix/run does in a root, in a copy of the tree: build a variant of it and run parts of the tests. Variants:
# gcc, clang, slow (gcc, on a clock of some 25 MHz), arm64 (cross-built, run by qemu). Numbers are left in build-test/results-VARIANT.
set -eu
cd "$(dirname "$0")/../.."
variant=$1
shift
build=build-test/$variant results=build-test/results-$variant
python=/usr/bin/python3
rm -rf "$results"
mkdir -p "$results"
[ ! -x "$(command -v ip)" ] || ip link set lo up
export WIRERATE="$PWD/$build/app/wirerate" FRAME_DUMP="$PWD/$build/tests/frame/frame_dump" PYTHONDONTWRITEBYTECODE=1

options()
{
	case $variant in
	slow) echo "-Dc_args=-DSLOW_CLOCK=$(($(awk '/MHz/ { print int($4); exit }' /proc/cpuinfo) / 25)) -include $PWD/tests/slow_clock.h" ;;
	arm64) echo "--cross-file=tests/matrix/arm64.ini" ;;
	gcc | clang) echo "-Dtests=enabled" ;;
	*) return 2 ;;
	esac
}

make_it()
{
	compiler=gcc
	[ "$variant" != clang ] || compiler=clang
	if [ ! -f "$build/build.ninja" ]; then
		rm -rf "$build"
		CC=$compiler meson setup "$build" --werror -Dtests=enabled "$(options)" || return 1
	fi
	ninja -k 0 -C "$build" --quiet
}

# An emulator, and a machine that is busy with other things too, take longer than a part may elsewhere. The row has a limit of its own.
export PHASE_LIMIT_S=3600

# The first lines tell what was used.
{
	if [ "$variant" = arm64 ]; then
		aarch64-linux-gnu-pkg-config --modversion libdpdk
		echo "gcc $(aarch64-linux-gnu-gcc -dumpversion), qemu"
	else
		pkg-config --modversion libdpdk
		case $variant in
		clang) echo "clang $(clang -dumpversion)" ;;
		slow) echo "gcc $(gcc -dumpversion), 25 MHz" ;;
		*) echo "gcc $(gcc -dumpversion)" ;;
		esac
	fi
} >"$results/used"
if ! make_it >"$results/build.log" 2>&1; then
	echo "0 1 0" >"$results/build.tally"
	tail -n 60 "$results/build.log"
	exit 1
fi
for part in "$@"; do
	case $part in
	unit | cli | examples)
		set -- meson test -C "$build" --no-rebuild --print-errorlogs --suite "$part" --logbase "$part"
		# An emulator takes its time.
		[ "$variant" != arm64 ] || set -- "$@" --timeout-multiplier 10
		;;
	frame) set -- "$python" -m pytest -q -p no:cacheprovider tests/frame ;;
	system) set -- "$python" -m pytest -q -p no:cacheprovider -n 3 -m "not alone" tests/system ;;
	esac
	"$python" tests/phase.py run "$results" "$part" -- "$@" || true
done
