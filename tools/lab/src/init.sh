#!/bin/busybox sh
# The first process of a guest: loads the serial ports, runs the command, sends back what it did, powers off.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /tmp /out /lab
mount -t tmpfs shm /dev/shm
for module in /modules/*; do insmod "$module"; done
# Nobody may be left outside to end this guest.
. /lab.limit
(sleep "$LIMIT"; echo "the guest passed its limit of $LIMIT s" >/dev/console; poweroff -f) &
sh /lab.command </dev/null >/dev/vport0p1 2>/dev/vport0p2
code=$?
if [ -n "$(ls -A /out)" ]; then tar -c -f - -C /out . >/dev/vport0p4; fi
echo "$code" >/dev/vport0p3
poweroff -f
