#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs in a guest of tools/kernel-lab: counts and times calls of the load for a while, then
# those that match, then what their time is made of. Prints the results.
beamflame calls -p "$1" -d 15 --budget 100 --slow 1us --args 3 --json phases:ets_work/2 2>/tmp/message >/tmp/x.json
echo "code $?"
sed 's/^/message /' /tmp/message
tr -d '\n' </tmp/x.json | sed 's/^/calls /;s/$/\n/'
beamflame calls -p "$1" -d 5 --budget 100 --match 'phases:ets_work(_, 300)' --json 2>/tmp/message >/tmp/x.json
echo "matched code $?"
tr -d '\n' </tmp/x.json | sed 's/^/matched /;s/$/\n/'
beamflame calls -p "$1" -d 5 --budget 100 --split --json phases:ets_work/2 2>/tmp/message >/tmp/x.json
echo "split code $?"
sed 's/^/split message /' /tmp/message
tr -d '\n' </tmp/x.json | sed 's/^/split /;s/$/\n/'
