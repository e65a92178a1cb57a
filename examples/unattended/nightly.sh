#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A run that nobody watches, for cron, systemd and CI jobs: no terminal, the verdict in the exit code, and for each run a file of JSON lines
# (written while it runs), the whole run as one document, and what it said.
#
#   PORTS='-p pci:0000:3b:00.0 -p pci:0000:3b:00.1' nightly.sh rate=40%     arguments go to nightly.lua
#   17 3 * * *  nobody  /usr/local/lib/wirerate/nightly.sh                   a line of /etc/crontab
#
# systemd: wirerate-nightly.service and wirerate-nightly.timer beside this file. Without PORTS it runs on `wire`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
wirerate=${WIRERATE:-wirerate}
dir=${STATE_DIRECTORY:-${XDG_STATE_HOME:-$HOME/.local/state}/wirerate-nightly}
keep=${KEEP:-30} # runs whose files stay
mkdir -p "$dir" || exit 3
run=$dir/$(date -u +%Y-%m-%dT%H-%M-%SZ)

# PORTS is a list of words
"$wirerate" ${PORTS:--p wire} --batch --json-stream --report "$run.json" -e "script '$here/nightly.lua' $*" \
	</dev/null >"$run.jsonl" 2>"$run.log"
code=$?
case $code in
0) verdict=passed ;;
1) verdict=failed ;;
4) verdict="not valid" ;; # the tester was disturbed: says nothing about the device
*) verdict="did not run" ;;
esac
echo "$(basename "$run") $code $verdict" | tee -a "$dir/history"
[ $code -eq 0 ] || tail -n 5 "$run.log" >&2

find "$dir" -name '*.jsonl' | sort -r | tail -n +$((keep + 1)) | while read -r old; do
	rm -f "$old" "${old%.jsonl}.json" "${old%.jsonl}.log"
done
exit $code
