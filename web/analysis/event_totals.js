// SPDX-License-Identifier: Apache-2.0
/* The total of each recorded event, by its first value. */
import { countedOf } from "#analysis/counted";
import { remember } from "#analysis/memo";
import { recordedMs, samplesOfPart } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").EventTotal} EventTotal */

/**
 * @param {Recording} recording
 * @returns {EventTotal[]} in the order of the events
 */
export function eventTotals(recording) {
    return remember(recording, "event totals", "", () => makeTotals(recording));
}

/**
 * @param {Recording} recording
 * @returns {EventTotal[]}
 */
function makeTotals(recording) {
    const { events, header } = recording;
    const parts = header.parts.map((_, part) => sumsOf(recording, part));

    return events.slice(1).map(({ name, values }, i) => {
        const { name: value = "", unit = /** @type {const} */ ("count") } = values[0] ?? {};
        const counted = countedOf(recording, { event: i + 1, value: 0 });

        return { event: name, value, unit, sums: parts.map((sums) => sums[i + 1]), counted,
            share: counted?.share ?? shareOf(recording, i + 1) };
    });
}

/**
 * The share of the recorded time in which an event could be seen.
 *
 * @param {Recording} recording
 * @param {number} event
 */
function shareOf(recording, event) {
    const spans = recording.spans[event] ?? recording.spans[0] ?? [];
    let sum = 0;

    for (let i = 0; i < spans.length; i += 2)
        sum += spans[i + 1] - spans[i];
    return spans.length ? sum / recordedMs(recording, null) : 1;
}

/**
 * By event, the sum of the first values of the samples of a part.
 *
 * @param {Recording} recording
 * @param {number} part
 */
function sumsOf(recording, part) {
    const { events, samples: { event }, samples } = recording, value = samples.value(0);
    const sums = new Float64Array(events.length), [begin, end] = samplesOfPart(recording, part);

    for (let i = begin; i < end; i++)
        sums[event[i]] += value[i];
    return sums;
}
