#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs in a guest of tools/kernel-lab: beamflame as an ordinary user on the own VM, for each
# kernel.yama.ptrace_scope, without and with CAP_SYS_PTRACE. Prints for each case a line
# "case SCOPE CAPABILITY COMMAND", what the command prints, and "code N".
user=65534
folder=/tmp/own

# Run as the user with the capabilities $1, as setpriv(1) wants them, or none.
as_user() {
    held=$1
    shift
    /usr/bin/setpriv --reuid $user --regid $user --clear-groups --inh-caps="-all$held" \
        --ambient-caps="-all$held" --bounding-set="-all$held" "$@"
}

mkdir -p $folder && chown $user $folder && cd $folder || exit 9
export HOME=$folder
tail -f /dev/null | as_user "" /usr/lib/erlang/bin/erl +sbwt none -noshell \
    -eval 'io:put_chars("ready\n")' >said 2>&1 &
n=0
until grep -qs ready said || [ $((n += 1)) -gt 90 ]; do sleep 1; done
for each in $(pidof beam.smp); do
    [ "$each" = "$1" ] || mine=$each
done
[ "$mine" ] || { cat said && exit 9; }
echo "own $mine"
echo 2 >/proc/sys/kernel/perf_event_paranoid
for scope in 0 1 2 3; do
    echo $scope >/proc/sys/kernel/yama/ptrace_scope
    for capability in none sys_ptrace; do
        more=
        [ $capability = none ] || more=,+$capability
        for command in ps "dump -p $mine" "record -q -p $mine -d 1 -o x.bfr"; do
            echo "case $(cat /proc/sys/kernel/yama/ptrace_scope) $capability ${command%% *}"
            # shellcheck disable=SC2086
            as_user "$more,+bpf,+perfmon" beamflame $command >out 2>&1
            code=$?
            grep -E "^ *$mine|^beamflame:|^<" out
            echo "code $code"
        done
    done
done
