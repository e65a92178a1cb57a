#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figures of a device that this machine plays itself: clients and servers in one network namespace, the device in another, a veth pair to
# each side. Both namespaces are removed at the end, by Ctrl-C and `kill` as well; what a kill -9 left goes when it is run the next time.
#
#   lb.sh forward [words of lb]    the kernel forwards
#   lb.sh nft [words of lb]        nftables: DNAT to four servers in turn
#   lb.sh haproxy [words of lb]    haproxy in TCP mode; it carries no UDP
#
#   lb.sh nft knee of cps          `knee 0 to 1` with these words in place of `lb`, on any of them: latency at loads up to the limit
#
# With words, such as `quick` or `figures cps,cc html page.html`, they stand behind `lb 0 to 1`. It needs root. From the environment:
#
#   WIRERATE    the program
#   OPTIONS     further options of it: OPTIONS=--json
#   SETTINGS    commands of it that come before `lb`: SETTINGS='set trial.max-wait 20%'
#   CPUS        CPUs of the device, as `taskset -c` takes them. Without it one that no worker of the tester has, so that the device can be the limit
#   DEVICE      what a shell does in the device's namespace before, where devc and devs are the interfaces towards clients and servers:
#               DEVICE='tc qdisc add dev devs root tbf rate 50mbit burst 20k limit 100k'
set -u
kind=${1:-}
wirerate=${WIRERATE:-wirerate}
case $kind in
forward | nft | haproxy) shift ;;
*)
	echo "usage: $0 forward|nft|haproxy [words of lb | knee words of it]" >&2
	exit 2
	;;
esac
knee=
if [ "${1:-}" = knee ]; then
	shift
	knee="knee 0 to 1 $*"
fi
[ "$(id -u)" = 0 ] || { echo "$0: needs root, for network namespaces" >&2; exit 3; }
for need in ip sysctl ethtool awk taskset nsenter "$wirerate" $([ "$kind" = forward ] || echo "$kind"); do
	command -v "$need" >/dev/null || { echo "$0: needs $need, which is not in PATH ($PATH)" >&2; exit 3; }
done

prefix=wrlb-
for old in $(ip netns list | sed -n "s/^\($prefix[0-9]*-[a-z]*\).*/\1/p"); do
	owner=${old#"$prefix"}
	kill -0 "${owner%-*}" 2>/dev/null && continue
	for left in $(ip netns pids "$old"); do
		kill "$left" 2>/dev/null
	done
	ip netns del "$old"
done
tester=$prefix$$-tester
device=$prefix$$-device
dir=$(mktemp -d) || exit 3
pid=
proxy=

clean() {
	trap '' INT TERM HUP
	if [ -n "$pid" ] && kill -INT "$pid" 2>/dev/null; then wait "$pid"; fi
	if [ -n "$proxy" ] && kill "$proxy" 2>/dev/null; then wait "$proxy" 2>/dev/null; fi
	ip netns del "$tester" 2>/dev/null
	ip netns del "$device" 2>/dev/null
	rm -rf "$dir"
}
trap 'clean; exit 130' INT
trap 'clean; exit 143' TERM
trap 'clean; exit 129' HUP
trap clean EXIT
fail() {
	echo "$0: $1" >&2
	exit 3
}
in_device() {
	ip netns exec "$device" "$@" || fail "$* failed"
}

ip netns add "$tester" && ip netns add "$device" || fail "no network namespace could be made"
for side in c s; do
	ip link add "wr$side" netns "$tester" type veth peer name "dev$side" netns "$device" || fail "no veth pair could be made"
	ip -n "$tester" link set "wr$side" up
	ip -n "$device" link set "dev$side" up
	# else checksums are left for the next device, and nobody sees one that is wrong
	ip netns exec "$tester" ethtool -K "wr$side" tx off rx off >/dev/null || fail "ethtool failed"
	in_device ethtool -K "dev$side" tx off rx off >/dev/null
	# a frame that waits to be merged with others is none that is forwarded
	ip netns exec "$device" sysctl -qw "net.ipv6.conf.dev$side.disable_ipv6=1"
	ip netns exec "$tester" sysctl -qw "net.ipv6.conf.wr$side.disable_ipv6=1"
done
# Where the device works. The tester has the first three CPUs, for control and a worker for each port, so the fourth; where there are fewer, that of
# control, which has little to do.
cpus=${CPUS:-$(awk '/^Cpus_allowed_list:/ {
	n = split($2, part, ",")
	for (i = 1; i <= n; i++) {
		m = split(part[i], end, "-")
		for (c = end[1]; c <= end[m]; c++)
			cpu[k++] = c
	}
	print (k > 3 ? cpu[3] : cpu[0])
}' /proc/self/status)}
taskset -c "$cpus" true 2>/dev/null || fail "CPUS=$cpus: these are no CPUs of this machine, such as 0 or 2,4-5"
# Else the kernel forwards each frame on the CPU of the worker that has sent it, and the tester is what is measured.
mask=$(taskset -c "$cpus" sed -n 's/^Cpus_allowed:[[:space:]]*//p' /proc/self/status)
for side in c s; do
	ip netns exec "$device" sh -c "echo $mask >/sys/class/net/dev$side/queues/rx-0/rps_cpus" 2>/dev/null ||
		echo "$kind: this kernel steers no frames to CPUs (RPS): the tester's CPUs forward, and what is measured is them" >&2
done
ip -n "$device" link set lo up
ip -n "$device" address add 10.0.0.1/24 dev devc
ip -n "$device" address add 10.1.0.1/24 dev devs
ip -n "$device" route add 10.2.0.0/16 via 10.0.0.2 # the clients
in_device sysctl -qw net.ipv4.ip_forward=1

servers=10.1.0.2..10.1.0.5
vip=10.9.0.1
clients=10.2.0.1..10.2.0.16
udp=
cpu=
count=
# What the device says of its connections itself: lines of a shell. They run each second, beside a busy device, so they start as little as they can.
counts() {
	printf '%s\n' '#!/bin/sh' "$1" >"$dir/count"
	chmod +x "$dir/count"
	count="device-cps $dir/count"
}
case $kind in
forward)
	vip=10.1.0.2
	servers=$vip
	;;
nft)
	ip netns exec "$device" nft -f - <<-END || fail "nft failed"
		table ip lb {
			counter opened { }
			chain in {
				type nat hook prerouting priority dstnat;
				ip daddr $vip counter name opened dnat to numgen inc mod 4 map {
					0 : 10.1.0.2, 1 : 10.1.0.3, 2 : 10.1.0.4, 3 : 10.1.0.5
				}
			}
		}
	END
	# What it knows of a connection must not outlive the trial by much, but last as long as one of UDP that is open waits for its next request:
	# all of its table are asked in turn.
	for what in udp_timeout=20 udp_timeout_stream=20 tcp_timeout_time_wait=1 tcp_timeout_close=1 tcp_timeout_last_ack=1; do
		in_device sysctl -qw "net.netfilter.nf_conntrack_$what"
	done
	# one for all namespaces: here it can be read, and not set
	room=$(in_device sysctl -n net.netfilter.nf_conntrack_max)
	echo "nft: the table of connections has room for $room: no more can be held" >&2
	case " $* " in
	*" device-timeout "*) ;;
	*) set -- "$@" device-timeout 22s ;;
	esac
	# a few more than it has room for, so that its limit is found and nothing beyond it
	case " $* " in
	*" connections "*) ;;
	*) set -- "$@" connections $((room + room / 50)) ;;
	esac
	# A chain of NAT sees the first packet of each connection. What nft prints is: table ip lb { counter opened { packets N ...
	printf '%s\n' 'set -- $(nft list counter ip lb opened)' \
		'echo "$9" $(cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max)' >"$dir/counting"
	counts "exec nsenter --net=/run/netns/$device sh $dir/counting"
	;;
haproxy)
	ip -n "$device" address add "$vip/32" dev lo
	# each connection to a server needs a port here
	in_device sysctl -qw net.ipv4.ip_local_port_range="1024 65535" net.ipv4.tcp_tw_reuse=1
	ulimit -n 200000 2>/dev/null || ulimit -n "$(ulimit -Hn)"
	most=$(($(ulimit -n) / 2 - 100))
	held=$((most / 2)) # it may still have those of the trial before
	cat >"$dir/conf" <<-END
		global
			maxconn $most
		defaults
			mode tcp
			timeout connect 1s
			retries 2
			option redispatch 1
			timeout client 60s
			timeout server 60s
		listen lb
			bind $vip:80
			balance roundrobin
			server s1 10.1.0.2:80
			server s2 10.1.0.3:80
			server s3 10.1.0.4:80
			server s4 10.1.0.5:80
	END
	ip netns exec "$device" taskset -c "$cpus" haproxy -db -f "$dir/conf" >"$dir/log" 2>&1 &
	proxy=$!
	# until it listens
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.2
		kill -0 "$proxy" 2>/dev/null || fail "haproxy did not start: $(cat "$dir/log")"
		! ip netns exec "$device" grep -q ':0050 00000000:0000 0A' /proc/net/tcp || break
	done
	udp=tcp
	cpu="device-cpu netns:$device"
	# so long it may know a connection that has ended, and cc is to ask for no more than it takes
	case " $* " in
	*" device-timeout "*) ;;
	*) set -- "$@" device-timeout 3s ;;
	esac
	case " $* " in
	*" connections "*) ;;
	*) set -- "$@" connections "$held" ;;
	esac
	# connections that its kernel has taken
	counts "while read -r of _ _ _ _ _ n _; do
		[ \"\$of\" != Tcp: ] || taken=\$n
	done </proc/$proxy/net/snmp
	echo \"\$taken\""
	;;
esac

if [ -n "${DEVICE:-}" ]; then
	in_device sh -c "$DEVICE"
fi

cat >"$dir/commands" <<END
set 0 ip 10.0.0.2/24
set 0 gateway 10.0.0.1
set 1 ip 10.1.0.2/24,10.1.0.3/24,10.1.0.4/24,10.1.0.5/24
set 1 gateway 10.1.0.1
set 0 flow client
set 0 flow.src $clients
set 0 flow.dst $vip
set 1 flow server
set 1 flow.src $servers
${SETTINGS:-}
sleep 300ms
${knee:-lb 0 to 1 $udp $cpu $count $*}
END
# shellcheck disable=SC2086 # options are words
ip netns exec "$tester" "$wirerate" ${OPTIONS:-} -p packet:wrc -p packet:wrs -b -f "$dir/commands" </dev/null &
pid=$!
wait "$pid"
code=$?
pid=
[ -z "$proxy" ] || kill -0 "$proxy" 2>/dev/null || echo "haproxy has ended meanwhile: $(cat "$dir/log")" >&2
exit $code
