// SPDX-License-Identifier: Apache-2.0
/*
 * How much of a change between two sides chance explains. The rule and its reasons are in
 * src/output/changes: the functions here compute what those of the same name do there.
 */
import { poissonHalf } from "#analysis/counted";

/** @typedef {import("#analysis/row_interval").RowIntervals} RowIntervals */

/**
 * @typedef {object} Sums by function; the last entry has all samples
 * @property {Float64Array} size the weight, without signs
 * @property {Float64Array} samples number of samples
 * @property {Float64Array} squares the variance of the weight
 * @property {Float64Array} units number of samples for the mean weight of one; a weight that is a
 *     number of samples counts as so many
 */

/**
 * @typedef {object} Side
 * @property {Sums} sums
 * @property {RowIntervals | null} intervals null: the event was not seen in windows
 * @property {Float64Array | null} halves of the intervals, by function
 */

/** The index of the entry that has all samples. @param {Sums} sums */
const allOf = ({ size }) => size.length - 1;

/**
 * @param {Sums} sums
 * @param {number} id
 * @param {boolean} byShare
 */
function halfByChance(sums, id, byShare) {
    const { size, squares } = sums, all = allOf(sums), share = size[all] > 0 ? size[id] / size[all] : 0;
    const variance = squares[id] + (byShare ? share * (share * squares[all] - 2 * squares[id]) : 0);
    const count = size[id] ** 2 / variance;

    return variance > 0 ? size[id] * poissonHalf(count) / count : 0;
}

/** @param {Sums} sums @param {number} id */
const meanWeight = ({ size, units }, id) => (units[id] ? size[id] / units[id] : 0);

/**
 * @param {Side} side without samples of the function
 * @param {Side} other
 * @param {number} id
 */
function halfOfNone({ sums, intervals }, other, id) {
    let own = intervals?.represents ?? 0, ofOther = other.intervals?.represents ?? 0;

    if (!own || !ofOther) {
        own = meanWeight(sums, allOf(sums));
        ofOther = meanWeight(other.sums, allOf(other.sums));
    }
    return poissonHalf(0) * meanWeight(other.sums, id) * (own && ofOther ? own / ofOther : 1);
}

/**
 * @param {Side} side
 * @param {Side} other
 * @param {number} id
 * @param {boolean} byShare
 */
function halfOfSide(side, other, id, byShare) {
    const { sums, halves } = side;

    if (!sums.samples[id])
        return halfOfNone(side, other, id);
    const half = halfByChance(sums, id, byShare), byWindows = halves?.[id] ?? 0;

    return Number.isNaN(byWindows) ? Infinity : Math.max(half, byWindows);
}

/** @param {Side} side */
function errorOfTotal({ sums, intervals }) {
    const all = allOf(sums), size = sums.size[all];

    if (!size)
        return 0;
    if (!intervals || intervals.cover.isSelected)
        return halfByChance(sums, all, false) / size;
    if (Number.isNaN(intervals.cover.half))
        return Infinity;
    const whole = intervals.whole.sampled[0]; /* of all of the time, as the half is */
    const error = intervals.cover.half / (whole > 0 ? whole : size);

    /* Samples only estimate which part of the time was not idle. */
    return size < whole ? Math.max(halfByChance(sums, all, false) / size, error) : error;
}

/**
 * Half of the 95 % interval of the change of a function; infinite: it is unknown.
 *
 * @param {[Side, Side]} sides the second one is scaled
 * @param {number} id
 * @param {number} change
 * @param {{ scale: number, byShare: boolean }} options `byShare`: the scale makes the totals equal
 */
export function noiseOf([ours, others], id, change, { scale, byShare }) {
    const noise = Math.hypot(halfOfSide(ours, others, id, byShare),
        scale * halfOfSide(others, ours, id, byShare));

    return byShare && change ? Math.hypot(noise, change * errorOfTotal(ours)) : noise;
}
