// SPDX-License-Identifier: Apache-2.0
/* The longest garbage collections over time, for the marks in a lane. */
import { processName } from "#analysis/process_names";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").LaneMark} LaneMark */

const DIRTY_CPU = 2; /* enum scheduler_kind (src/profile/profile.h) */
const CELL_MS = 20; /* the finest cell of a heatmap */

/**
 * The longest collection that ended in each bin, in order of time.
 *
 * @param {Recording} recording
 * @param {number} gc the event; below 0: there is none
 * @param {{ binMs: number, start: number, count: number }} bins
 * @returns {LaneMark[]}
 */
export function longestPauses(recording, gc, { binMs, start, count }) {
    const { events, samples } = recording;
    const counted = gc < 0 ? -1 : events[gc].values.findIndex(({ name }) => name === "count");
    const longest = new Float64Array(count), sampleOf = new Int32Array(count).fill(-1);

    if (counted < 0)
        return [];
    /* A sample can stand for several collections, and a part of one for none. */
    const times = samples.value(0), counts = samples.value(counted);

    for (let i = 0; i < samples.count; i++) {
        const bin = Math.floor((samples.time[i] - start) / binMs), pause = times[i] / counts[i];

        if (samples.event[i] === gc && counts[i] > 0 && pause > longest[bin]) {
            longest[bin] = pause;
            sampleOf[bin] = i;
        }
    }
    return [...sampleOf].flatMap((sample, bin) =>
        (sample < 0 ? [] : [markOf(recording, sample, longest[bin])]));
}

/**
 * @param {Recording} recording
 * @param {number} sample
 * @param {number} pause ns
 * @returns {LaneMark}
 */
function markOf(recording, sample, pause) {
    const { samples, processes } = recording, time = samples.time[sample];
    const { name, pid, node } = processName(recording, processes.same[samples.process[sample]]);
    const from = Math.floor((time - pause / 1e6) / CELL_MS) * CELL_MS;

    return { time, value: pause, text: [[name, pid].filter(Boolean).join(" "), node,
        kindText(recording, sample)].filter(Boolean).join(", "),
    range: { from: Math.max(0, from), to: (Math.floor(time / CELL_MS) + 1) * CELL_MS } };
}

/**
 * "major", "minor on a dirty scheduler". Only a major collection, or one before hibernation, leaves no
 * old heap: minor_collection() and full_sweep_heaps(), erl_gc.c 27.3.4.1. "": not known.
 *
 * @param {Recording} recording
 * @param {number} sample
 */
function kindText({ header: { metrics }, samples, threads }, sample) {
    const index = metrics.findIndex(({ name }) => name === "old");
    const old = index < 0 ? NaN : samples.metric(index)[sample];
    const isDirty = threads.kind[samples.thread[sample]] === DIRTY_CPU;

    return [Number.isNaN(old) ? "" : old ? "minor" : "major", isDirty ? "on a dirty scheduler" : ""]
        .filter(Boolean).join(" ");
}
