#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's TCP and ours side by side, as tables here, and as a page, a CSV file and a JSON document in a new folder.
#
#   stacks.sh [words of stacks]    without words all workloads, and streams in the other direction, too
#
# It needs root, for network namespaces; `stacks.sh --peer HOST tcp_rr` needs none. From the environment:
#
#   WIRERATE    the program
#   FOLDER      where files go; it must not be there yet
set -eu
wirerate=${WIRERATE:-wirerate}
folder=${FOLDER:-stacks-$(date +%Y%m%d-%H%M%S)}
command -v "$wirerate" >/dev/null || { echo "$0: needs $wirerate, which is not installed" >&2; exit 3; }
mkdir "$folder"

# One measurement: its document is kept, and a table is made of it.
measure() {
	name=$1
	shift
	"$wirerate" --json stacks --html "$folder/$name.html" --svg "$folder/$name.svg" "$@" >"$folder/$name.json"
	python3 - "$folder/$name.json" "$folder/$name.csv" <<-'END'
		import csv, json, sys
		doc = json.load(open(sys.argv[1]))["stacks"]
		with open(sys.argv[2], "w", newline="") as f:
		    rows = csv.DictWriter(f, doc["runs"][0])
		    rows.writeheader()
		    rows.writerows(doc["runs"])
		for r in doc["results"]:
		    print(f"{r['workload']:<11} {r['arm']:<17} {r['median']:.4g} {r['unit']}, {r['low']:.4g} to {r['high']:.4g};"
		          f" {r['cycles_per']:.3g} cycles per {r['per']}; payload touched: {'yes' if r['payload_touched'] else 'no'}"
		          + (f"; {r['ratio']:.2f} times {doc['against']}, different: {r['different']}" if "ratio" in r else ""))
	END
}

if [ $# -gt 0 ]; then
	measure stacks "$@"
else
	measure up tcp_rr tcp_crr tcp_stream udp_rr udp_stream
	measure down --down tcp_stream
	measure iperf3 iperf3
	measure iperf3-down iperf3 -R
fi
echo "$folder"
