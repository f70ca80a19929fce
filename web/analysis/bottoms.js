// SPDX-License-Identifier: Apache-2.0
/* The root functions of stacks. */
import { remember } from "#analysis/memo";

/** @typedef {import("../types").Recording} Recording */

/**
 * By stack, the Erlang frame nearest to the root; 0: none.
 *
 * @param {Recording} recording
 */
export function bottomsOf(recording) {
    return remember(recording, "bottoms", "", () => {
        const { parent, frame } = recording.stacks, { kind } = recording.frames;
        const bottoms = new Uint32Array(parent.length);

        for (let id = 1; id < bottoms.length; id++)
            bottoms[id] = bottoms[parent[id]] || (kind[frame[id]] === 1 ? frame[id] : 0);
        return bottoms;
    });
}
