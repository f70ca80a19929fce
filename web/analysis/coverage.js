// SPDX-License-Identifier: Apache-2.0
/* When an event could be seen: in the windows of its probes, in sweeps, while the recorder ran. */
import { eventOf } from "#analysis/weights";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Cells} Cells */

/**
 * The share of each cell of a heatmap in which the event of `choice` could be seen: 0 to 1. null: it
 * could be seen all the time.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Pick<Cells, "start" | "cellMs" | "of">} cells
 */
export function coveredCells(recording, choice, cells) {
    const seen = seenSpans(recording, eventOf(recording, choice));

    return seen && shares(seen, cells);
}

/**
 * The spans in which an event could be seen while the recorder ran; null: all of the time.
 *
 * @param {Pick<Recording, "spans">} recording
 * @param {number} event
 */
export function seenSpans({ spans }, event) {
    const own = spans[event], [recorder] = spans;

    return own && recorder ? common(own, recorder) : own ?? recorder ?? null;
}

/**
 * What two lists of spans have in common. A list is [from, to, from, to...] in ms, in order.
 *
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function common(a, b) {
    const both = [];

    for (let i = 0, j = 0; i < a.length && j < b.length;) {
        const from = Math.max(a[i], b[j]), to = Math.min(a[i + 1], b[j + 1]);

        if (from < to)
            both.push(from, to);
        if (a[i + 1] < b[j + 1])
            i += 2;
        else
            j += 2;
    }
    return both;
}

/**
 * @param {ArrayLike<number>} spans
 * @param {Pick<Cells, "start" | "cellMs" | "of">} cells
 */
function shares(spans, { start, cellMs, of }) {
    const covered = new Float32Array(of.length);

    for (let i = 0; i < spans.length; i += 2) {
        const from = Math.max(0, (spans[i] - start) / cellMs);
        const to = Math.min(of.length, (spans[i + 1] - start) / cellMs);

        for (let cell = Math.floor(from); cell < to; cell++)
            covered[cell] += Math.min(to, cell + 1) - Math.max(from, cell);
    }
    return covered;
}

/**
 * Why the event could not be seen at a time, for people; "" if it could.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {number} from ms
 * @param {number} to ms
 */
export function whyUnseen(recording, choice, from, to) {
    const id = eventOf(recording, choice), own = recording.spans[id], [recorder] = recording.spans;
    const recorded = recording.recorded[id];
    const overlaps = (/** @type {ArrayLike<number>} */ spans) =>
        common(spans, [from, to]).length > 0;

    if (recorder && !overlaps(recorder))
        return "the recording was paused, or the recorder or the machine stood still";
    if (recorded && !overlaps(recorded))
        return "the event was not recorded then";
    if (!own || overlaps(own))
        return "";
    if (!own.length || to <= own[0])
        return "not attached yet";
    return recording.events[id].name === "wall" ? "between two sweeps" : "outside of windows";
}
