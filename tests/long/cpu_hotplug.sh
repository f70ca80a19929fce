#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs in a guest of tools/kernel-lab: CPU 1 goes offline and comes back while all is recorded; then the VM
# may run there only.
# Prints the seconds of each change since the recording began, the stats, and the samples.
cpu=/sys/devices/system/cpu/cpu1/online
seconds() { cut -d. -f1 /proc/uptime; }

beamflame -p "$1" -d 24 -F 99 -o /tmp/x.bfr --stats /tmp/x.json 2>/tmp/message >/dev/null &
recorder=$!
until grep -qs sampling /tmp/message; do sleep 1; done
began=$(seconds)
change() {
    sleep "$1"
    echo "$2" >$cpu || echo "refused $2"
    echo "online $2 $(cat $cpu) $(($(seconds) - began))"
}
change 8 0
change 8 1
taskset -ap 2 "$1" >/dev/null
wait $recorder
echo "code $?"
sed 's/^/message /' /tmp/message
tr -d '\n' </tmp/x.json | sed 's/^/stats /;s/$/\n/'
beamflame report /tmp/x.bfr -q --format perf -o - |
    sed -n 's/.*\[\([0-9]*\)\] *\([0-9]*\)\.\([0-9]\).*/sample \1 \2.\3/p'
