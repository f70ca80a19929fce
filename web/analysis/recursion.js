// SPDX-License-Identifier: Apache-2.0
/* How deep stacks are, with recursion and with direct recursion folded. */
import { remember } from "#analysis/memo";
import { sameFunctions } from "#analysis/shown_stacks";

/** @typedef {import("../types").Recording} Recording */

/**
 * True if a stack of an event has more than `rows` frames, and fewer if direct recursion is folded.
 *
 * @param {Recording} recording
 * @param {number} event
 * @param {number} rows
 */
export function isDeepByRecursion(recording, event, rows) {
    return remember(recording, "deep", `${event} ${rows}`, () => {
        const { samples: { count, event: events, stack } } = recording;
        const { deep, folded } = depthsOf(recording);

        for (let i = 0; i < count; i++)
            if (events[i] === event && deep[stack[i]] > rows && folded[stack[i]] < deep[stack[i]])
                return true;
        return false;
    });
}

/**
 * By stack, its number of frames, and that without calls of a function by itself.
 *
 * @param {Recording} recording
 */
function depthsOf(recording) {
    return remember(recording, "depths", "", () => {
        const { parent, frame } = recording.stacks, same = sameFunctions(recording);
        const deep = new Uint32Array(parent.length), folded = new Uint32Array(parent.length);

        for (let id = 1; id < parent.length; id++) {
            const isAgain = parent[id] && same[frame[parent[id]]] === same[frame[id]];

            deep[id] = deep[parent[id]] + 1;
            folded[id] = folded[parent[id]] + (isAgain ? 0 : 1);
        }
        return { deep, folded };
    });
}
