// SPDX-License-Identifier: Apache-2.0
/* The marks of a lane: which are drawn, and which is at the pointer. */
import { placeOf } from "#view/heatmap_draw";

/** @typedef {import("../types.js").Lane} Lane */
/** @typedef {import("../types.js").LaneMark} LaneMark */
/** @typedef {import("./heatmap_draw.js").Scene} Scene */
/** @typedef {{ mark: LaneMark, x: number }} PlacedMark x: px from the left edge of the canvas */

const APART = 6; /* px of the window in which the highest mark is drawn */
const REACH = 5; /* px from a mark to the pointer, at most */

/**
 * The marks of a lane that are drawn: the highest one in each few pixels.
 *
 * @param {Lane} lane
 * @param {Pick<Scene, "cells" | "left" | "columnWidth" | "width">} scene
 * @returns {PlacedMark[]}
 */
export function placedMarks({ marks }, scene) {
    /** @type {Map<number, PlacedMark>} */
    const highest = new Map();

    for (const mark of marks) {
        const x = placeOf(scene, mark.time), slot = Math.floor((x + scene.left) / APART);

        if (x >= 0 && x < scene.width && mark.value > (highest.get(slot)?.mark.value ?? 0))
            highest.set(slot, { mark, x });
    }
    return [...highest.values()];
}

/**
 * The mark at the pointer, or undefined.
 *
 * @param {Lane} lane
 * @param {Pick<Scene, "cells" | "left" | "columnWidth" | "width">} scene
 * @param {number} x px from the left edge of the canvas
 */
export function markAt(lane, scene, x) {
    const near = placedMarks(lane, scene).sort((a, b) => Math.abs(a.x - x) - Math.abs(b.x - x))[0];

    return near && Math.abs(near.x - x) <= REACH ? near.mark : undefined;
}
