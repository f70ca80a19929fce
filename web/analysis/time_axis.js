// SPDX-License-Identifier: Apache-2.0
/* Ranges of time. Samples are in order of time, so a range is a run of neighbouring samples. */

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Range} Range */
/** @typedef {import("../types").Header} Header */

/**
 * The samples of a part of the recording, as [first, last + 1].
 *
 * @param {Recording} recording
 * @param {number} index
 */
export function samplesOfPart({ header, samples }, index) {
    const next = header.parts[index + 1];

    return [index ? firstSince(samples.time, header.parts[index].from) : 0,
        next ? firstSince(samples.time, next.from) : samples.count];
}

/**
 * The index of the first time that is not before `from`. The times must be in order.
 *
 * @param {Uint32Array | Float64Array} times
 * @param {number} from
 */
export function firstSince(times, from) {
    let low = 0, high = times.length;

    while (low < high) {
        const middle = (low + high) >>> 1;

        if (times[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/**
 * The index of the part that a range of time is in; -1: it is in several, or in none.
 *
 * @param {Pick<Recording, "header">} recording
 * @param {Range | null} range null: all of the time
 */
export function partOf({ header: { parts } }, range) {
    const found = parts.flatMap(({ from, to }, index) =>
        (!range || (range.from < to && range.to > from) ? [index] : []));

    return found.length === 1 ? found[0] : -1;
}

/** From the start of the first part to the end of the last. @param {Recording} recording @returns {Range} */
export function wholeSpan({ header: { parts } }) {
    return { from: parts[0].from, to: parts[parts.length - 1].to };
}

/**
 * The time since the start of the recording, or of its part of the axis in a comparison of two.
 *
 * @param {Pick<Header, "parts" | "compares">} header
 * @param {number} ms on the axis
 */
export function ownTime({ parts, compares }, ms) {
    const starts = compares ? parts.map(({ from }) => from).filter((from) => from <= ms) : [];

    return ms - Math.max(0, ...starts);
}

/**
 * The recorded time within a range, or the whole recorded time if it is null. In ms.
 *
 * @param {Recording} recording
 * @param {Range | null} range
 */
export function recordedMs({ header }, range) {
    let sum = 0;

    for (const { from, to } of header.parts)
        sum += Math.max(0, Math.min(to, range?.to ?? to) - Math.max(from, range?.from ?? from));
    return sum;
}
