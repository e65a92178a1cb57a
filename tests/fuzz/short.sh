#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# short.sh DIR SECONDS [NAME...]: build the fuzzers with clang under ASan and UBSan in DIR, let each run for so long, two at a time.
# What it finds stays in DIR/found; the corpus grows in DIR/corpus from the seeds in tests/fuzz/corpus/NAME.
set -eu
dir=$1 seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
"$here/../variant.sh" asan "$dir"
# shellcheck disable=SC2046 # no file name here has a blank
ninja -C "$dir" --quiet $(cd "$here/.." && ls fuzz/*_fuzz.c | sed 's|\(.*\)\.c|tests/\1|')

# fuzz NAME: its output and how it ended go to files, so that two do not mix theirs.
fuzz()
{
	name=$1
	program=$dir/tests/fuzz/${name}_fuzz
	corpus=$dir/corpus/$name
	mkdir -p "$corpus"
	seeds=
	[ ! -d "$here/corpus/$name" ] || seeds=$here/corpus/$name
	dict=
	[ ! -f "$here/$name.dict" ] || dict=-dict=$here/$name.dict
	rc=0
	# shellcheck disable=SC2086 # empty or one word
	"$program" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$dir/found/$name-" $dict "$corpus" $seeds >"$dir/found/$name.log" 2>&1 || rc=$?
	echo $rc >"$dir/found/$name.rc"
}

names=
for program in "$dir"/tests/fuzz/*_fuzz; do
	name=$(basename "$program" _fuzz)
	case " $* " in
	"  " | *" $name "*) names="$names $name" ;;
	esac
done
passed=0 failed=0
mkdir -p "$dir/found"
# shellcheck disable=SC2086 # words
set -- $names
while [ $# -gt 0 ]; do
	pair="$1 ${2:-}"
	for name in $pair; do
		rm -f "$dir/found/$name.rc"
		fuzz "$name" &
	done
	wait
	for name in $pair; do
		echo "-- $name, $seconds s"
		cat "$dir/found/$name.log"
		if [ "$(cat "$dir/found/$name.rc" 2>/dev/null)" = 0 ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
		shift
	done
done
if [ $((passed + failed)) -eq 0 ]; then
	echo "no fuzzer was built"
	exit 1
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
