// SPDX-License-Identifier: Apache-2.0
/* The total of each recorded event, by its first value. */
import { countedOf } from "#analysis/counted";
import { common, seenSpans } from "#analysis/coverage";
import { remember } from "#analysis/memo";
import { samplesOfPart } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").EventTotal} EventTotal */
/** @typedef {import("../types").Range} Range */

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
    const { events, header: { parts } } = recording;
    const sums = parts.map((_, part) => sumsOf(recording, part));

    return events.slice(1).map(({ name, values }, i) => {
        const { name: value = "", unit = /** @type {const} */ ("count") } = values[0] ?? {};
        const counted = parts.map((_, part) => countedOf(recording, { event: i + 1, value: 0 }, part));

        return { event: name, value, unit, sums: sums.map((of) => of[i + 1]), counted,
            shares: parts.map((part, index) => counted[index]?.share ?? shareOf(recording, i + 1, part)) };
    });
}

/**
 * The share of the time of a part in which an event could be seen.
 *
 * @param {Pick<Recording, "spans">} recording
 * @param {number} event
 * @param {Range} part
 */
function shareOf(recording, event, { from, to }) {
    const spans = seenSpans(recording, event), seen = common(spans ?? [], [from, to]);
    let sum = 0;

    for (let i = 0; i < seen.length; i += 2)
        sum += seen[i + 1] - seen[i];
    return spans && to > from ? sum / (to - from) : 1;
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
