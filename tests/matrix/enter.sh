#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# enter.sh ROOT SHELL: run a command of the shell in a root, with an empty environment, as a first login has it. Called by tests/matrix/run in name
# spaces of its own, so that nothing mounted here outlives it.
set -eu
root=$1
# A root that is a mount of its own, as a machine has it: `ip netns exec` insists on it.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=0755 run "$root/run"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount -t tmpfs -o mode=0755 dev "$root/dev"
mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/dev/net"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
while read -r node major minor; do
	mknod -m 666 "$root/dev/$node" c "$major" "$minor"
done <<'END'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
net/tun 10 200
END
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
exec chroot "$root" /usr/bin/env -i HOME=/srv LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$2" </dev/null
