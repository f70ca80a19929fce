// SPDX-License-Identifier: Apache-2.0
/* The name of a process in the table of processes and in the chips of the selection. */
import { bottomsOf } from "#analysis/bottoms";
import { remember } from "#analysis/memo";
import { isNamedByStack, nameOrLabel, nameText, targetText } from "#analysis/root_texts";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {{ name: string, pid: string, node: string }} ProcessName `pid` is "" if it is the
 *     name; `node` is "" if there is only one, and in a comparison */

/**
 * @param {Recording} recording
 * @param {number} process Processes.same
 * @returns {ProcessName}
 */
export function processName(recording, process) {
    const { processes, strings, targets, header } = recording;
    const { newest, bottom } = remember(recording, "newest names", "", () => findNewest(recording));
    const entry = newest[process], pid = strings[processes.pid[entry]];
    const own = nameOrLabel(processes, entry);
    const name = own ? strings[own] : nameText(recording, entry,
        isNamedByStack(recording, entry) ? bottom[process] : 0);

    return { name, pid: pid === name ? "" : pid,
        node: targets.length > 2 && !header.compares
            ? targetText(recording, processes.target[entry]) : "" };
}

/**
 * By Processes.same, the newest entry, and the root Erlang frame of the newest complete stack.
 *
 * @param {Recording} recording
 */
function findNewest(recording) {
    const { processes: { same }, samples: { count, process, stack, complete } } = recording;
    const bottoms = bottomsOf(recording);
    const newest = same.slice(), bottom = new Uint32Array(same.length);

    for (let i = 0; i < count; i++) {
        const id = same[process[i]];

        newest[id] = process[i];
        if (complete[i])
            bottom[id] = bottoms[stack[i]];
    }
    return { newest, bottom };
}
