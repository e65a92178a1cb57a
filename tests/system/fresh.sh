#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The README's two commands on an empty Debian 12: a minimal root with git and nothing else, made by debootstrap in a
# temporary directory from this machine's own apt sources, with a clone of the committed tree in it. Not part of
# ./dev test: it installs everything again. Needs root, debootstrap, some 4 GB and 10 to 20 minutes. Exit code 77:
# cannot be tried here.
#
#   tests/system/fresh.sh [-k] [-p] [-u]
#     -k  keep the root for a look (its place is printed)
#     -p  packages only: check that everything which ./dev installs can be installed, build nothing
#     -u  run the two commands as an ordinary user with sudo instead of as root
set -eu

suite=bookworm
keep=no packages=no user=no
while getopts kpu opt; do
	case $opt in
	k) keep=yes ;;
	p) packages=yes ;;
	u) user=yes ;;
	*) exit 2 ;;
	esac
done

skip()
{
	echo "skipped: $*"
	exit 77
}

tree=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" -eq 0 ] || skip "needs root for debootstrap and chroot"
command -v debootstrap >/dev/null || skip "needs the package debootstrap"
sources=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
	awk -v s="$suite" '$2 == s || index($2, s "-") == 1 { print "deb " $1 " " $2 " " $3 }' | sort -u)
mirror=$(echo "$sources" | awk -v s="$suite" '$3 == s { print $2; exit }')
[ -n "$mirror" ] || skip "this machine's apt sources do not offer $suite"

work=$(mktemp -d)
root=$work/root

clean_up()
{
	rc=$?
	trap - EXIT INT TERM HUP
	# The last mounted first; tests may have left network namespaces mounted too.
	awk -v root="$root" 'index($2 "/", root "/") == 1 { print $2 }' /proc/mounts | tac | while read -r dir; do
		umount "$dir" || umount -l "$dir" || true
	done
	# Never delete through a mount that could not be undone.
	if [ "$keep" = yes ]; then
		echo "the root stays in $root"
	elif ! grep -q " $root[/ ]" /proc/mounts; then
		rm -rf --one-file-system "$work"
	else
		echo "still mounted, not removed: $root" >&2
	fi
	exit "$rc"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

step()
{
	echo "== $(date +%T) $*"
}

# Bounded, with an empty environment and no standard input, as a first login has it.
inside()
{
	limit=$1
	shift
	timeout -k 30 "$limit" chroot "$root" /usr/bin/env -i HOME=/srv LANG=C.UTF-8 TERM=dumb \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

step "debootstrap $suite"
include=git
[ "$user" = no ] || include=git,sudo
if ! debootstrap --variant=minbase --include="$include" "$suite" "$root" "$mirror" >"$work/debootstrap.log" 2>&1; then
	tail -20 "$work/debootstrap.log"
	exit 3
fi
echo "$sources" >"$root/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(Check|http|https)[^"]*"[^"]' >"$root/etc/apt/apt.conf.d/90host" || true
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
# A root that is a mount of its own, as a machine has it: `ip netns exec` insists on it.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=0755 dev "$root/dev"
mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/dev/net"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
for node in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0" "net/tun 10 200"; do
	# shellcheck disable=SC2086 # three words each
	set -- $node
	mknod -m 666 "$root/dev/$1" c "$2" "$3"
done
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"

step "clone"
home=/srv
if [ "$user" = yes ]; then
	inside 60 useradd -d /srv -s /bin/sh someone
	echo "someone ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/someone"
	chmod 0440 "$root/etc/sudoers.d/someone"
fi
git clone -q --no-hardlinks "$tree" "$root$home/wirerate"
as="env"
if [ "$user" = yes ]; then
	inside 60 chown -R someone "$home"
	as="runuser -u someone --"
fi

if [ "$packages" = yes ]; then
	step "./dev setup all"
	inside 1800 $as sh -c "cd $home/wirerate && exec ./dev setup all"
	exit 0
fi
step "./dev run"
inside 1800 $as sh -c "cd $home/wirerate && exec ./dev run"
step "./dev test"
inside 2400 $as sh -c "cd $home/wirerate && exec ./dev test"
step "both commands worked"
