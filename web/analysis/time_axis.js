// SPDX-License-Identifier: Apache-2.0
/* Samples lie in order of time: those of a stretch of it are neighbours. */

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Range} Range */

/**
 * The samples of a part of the time axis: [first, after the last].
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
 * The first index whose time is not before `from`, of times in order.
 *
 * @param {Uint32Array} times
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
 * How much of a range was recorded, in ms; of all there is where it is null.
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
