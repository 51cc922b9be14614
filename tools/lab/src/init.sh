#!/bin/busybox sh
# The first process of a guest: loads the serial ports, runs the command, sends back what it did, powers off.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /tmp /out /lab
mount -t tmpfs shm /dev/shm
. /lab.settings
# What the kernel tells of the last-level cache is what the counter models, as a machine of that kind would have it.
if [ -n "$CACHE_KIB" ]; then
    echo "${CACHE_KIB}K" >/tmp/llc
    for size in /sys/devices/system/cpu/cpu*/cache/index3/size; do mount -o bind /tmp/llc "$size"; done
fi
for module in /modules/*; do insmod "$module"; done
# The ports appear one by one, after the driver; what is written to a name too early stays in the guest.
for port in 1 2 3 4; do until [ -c /dev/vport0p$port ]; do usleep 10000; done; done
# Nobody may be left outside to end this guest.
(sleep "$LIMIT"; echo "the guest passed its limit of $LIMIT s" >/dev/console; poweroff -f) &
echo up >/dev/vport0p3
sh /lab.command </dev/null >/dev/vport0p1 2>/dev/vport0p2
code=$?
if [ -n "$(ls -A /out)" ]; then tar -c -f - -C /out . >/dev/vport0p4; fi
echo "$code" >/dev/vport0p3
poweroff -f
