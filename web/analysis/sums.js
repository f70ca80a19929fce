// SPDX-License-Identifier: Apache-2.0
/* What samples that are alike count together, on each side of a comparison. */
import { recordedMs } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Sides} Sides */

/**
 * @typedef {object} Sums by id of what is alike
 * @property {Float64Array} weight
 * @property {Float64Array} samples how many these are
 * @property {Float64Array} squares the variance of the weight, where samples are met by chance
 */

/**
 * @param {Uint32Array} ids by sample
 * @param {number} count of ids
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @returns {Sums}
 */
export function sumUp(ids, count, weights, samples) {
    const weight = new Float64Array(count), counts = new Float64Array(count), { of } = weights;
    const squares = new Float64Array(count), isCount = countsSamples(weights);

    for (let i = 0; i < samples.length; i++) {
        const sample = samples[i];

        if (of[sample]) {
            weight[ids[sample]] += of[sample];
            counts[ids[sample]]++;
            squares[ids[sample]] += isCount ? Math.abs(of[sample]) : of[sample] * of[sample];
        }
    }
    return { weight, samples: counts, squares };
}

/**
 * Whether a weight of 3 is 3 samples, not one that weighs as much (src/output/changes.c).
 *
 * @param {Weights} weights
 */
export const countsSamples = ({ unit, name }) => unit === "samples" || name === "samples";

/**
 * What side 1 is multiplied by, so that both sides are of as much time or of equal totals. Where one
 * side is nothing, they are compared as they are.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Sides} sides
 */
export function scaleOf(recording, choice, weights, [ours, others]) {
    const factor = choice.per === "time"
        ? recordedMs(recording, choice.range) / recordedMs(recording, choice.against)
        : choice.per === "total" && others ? amount(weights, ours) / amount(weights, others) : 1;

    return others && factor > 0 && Number.isFinite(factor) ? factor : 1;
}

/**
 * @param {Weights} weights
 * @param {Uint32Array} samples
 */
function amount({ of }, samples) {
    let sum = 0;

    for (let i = 0; i < samples.length; i++)
        sum += Math.abs(of[samples[i]]);
    return sum;
}
