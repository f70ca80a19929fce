// SPDX-License-Identifier: Apache-2.0
/* Which functions are the same in both recordings of a comparison (is_comparable() of
 * src/output/changes/function_changes.c). */
import { remember } from "#analysis/memo";
import { samplesOfPart } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */

/**
 * True if the function of a frame can be compared: it has a name, or is an offset in a file that both
 * recordings have of the same build.
 *
 * @param {Recording} recording
 * @param {number} frame
 */
export function isComparable(recording, frame) {
    const { header: { compares }, frames: { unnamed, build } } = recording;

    return !compares || !unnamed[frame] || commonBuilds(recording).has(build[frame]);
}

/** The builds of files that have samples in each part. @param {Recording} recording */
function commonBuilds(recording) {
    return remember(recording, "common builds", "", () => {
        const [first, ...others] = recording.header.parts.map((_, part) => buildsOf(recording, part));

        return new Set([...first].filter((id) => id && others.every((ids) => ids.has(id))));
    });
}

/**
 * @param {Recording} recording
 * @param {number} part
 */
function buildsOf(recording, part) {
    const { frames: { build }, stacks: { parent, frame }, samples: { stack } } = recording;
    const [begin, end] = samplesOfPart(recording, part), seen = new Uint8Array(parent.length);
    /** @type {Set<number>} */
    const builds = new Set();

    for (let i = begin; i < end; i++)
        seen[stack[i]] = 1;
    for (let id = parent.length - 1; id > 0; id--) {
        if (seen[id]) {
            seen[parent[id]] = 1;
            builds.add(build[frame[id]]);
        }
    }
    return builds;
}
