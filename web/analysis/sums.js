// SPDX-License-Identifier: Apache-2.0
/* The sums of groups of samples, and the scale between the sides of a comparison. */
import { PairTable } from "#analysis/pair_table";
import { recordedMs } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Sides} Sides */

/**
 * @typedef {object} Sums by group
 * @property {Float64Array} weight
 * @property {Float64Array} size the weight, without signs
 * @property {Float64Array} samples number of samples with a weight
 */

/**
 * @param {Uint32Array} ids the group by sample
 * @param {number} count of groups
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @returns {Sums}
 */
export function sumUp(ids, count, { of }, samples) {
    const weight = new Float64Array(count), counts = new Float64Array(count);
    const size = new Float64Array(count);

    for (let i = 0; i < samples.length; i++) {
        const sample = samples[i], id = ids[sample];

        if (of[sample]) {
            weight[id] += of[sample];
            size[id] += Math.abs(of[sample]);
            counts[id]++;
        }
    }
    return { weight, size, samples: counts };
}

/**
 * Hits whose parts are samples of two groups, or two samples of one. Column i is of all hits of the
 * pair of groups a[i], b[i].
 *
 * @typedef {object} SharedHits
 * @property {Uint32Array} a
 * @property {Uint32Array} b
 * @property {number[]} hits how many
 * @property {number[]} products sum of the products of both weights
 */

/**
 * The hits with two samples among these that have a weight.
 *
 * @param {Uint32Array} ids the group by sample
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @returns {SharedHits}
 */
export function findShared(ids, { samples: { count, parts: { first, second } } }, { of }, samples) {
    const isSelected = new Uint8Array(second.length ? count : 0), pairs = new PairTable();
    /** @type {number[]} */
    const hits = [];
    /** @type {number[]} */
    const products = [];

    for (let i = 0; second.length && i < samples.length; i++)
        isSelected[samples[i]] = of[samples[i]] ? 1 : 0;
    for (let i = 0; i < second.length; i++) {
        if (isSelected[first[i]] && isSelected[second[i]]) {
            const pair = pairs.add(ids[first[i]], ids[second[i]]);

            hits[pair] = (hits[pair] ?? 0) + 1;
            products[pair] = (products[pair] ?? 0) + of[first[i]] * of[second[i]];
        }
    }
    return { a: pairs.a, b: pairs.b, hits, products };
}

/**
 * The youngest node that two nodes share. A parent is always a lower node.
 *
 * @param {Uint32Array} parent by node
 * @param {number} a
 * @param {number} b
 */
export function youngestShared(parent, a, b) {
    while (a !== b) {
        if (a > b)
            a = parent[a];
        else
            b = parent[b];
    }
    return a;
}

/**
 * The variance of the sums of sumUp(), if samples hit a group by chance.
 *
 * @param {Uint32Array} ids
 * @param {number} count
 * @param {Weights} weights
 * @param {Uint32Array} samples
 */
export function sumSquares(ids, count, weights, samples) {
    const squares = new Float64Array(count), isCount = countsSamples(weights), { of } = weights;

    for (let i = 0; i < samples.length; i++) {
        const weight = of[samples[i]];

        squares[ids[samples[i]]] += isCount ? Math.abs(weight) : weight * weight;
    }
    return squares;
}

/**
 * True if a weight of 3 means 3 samples, and not one sample with a weight of 3
 * (src/output/changes/changes.c).
 *
 * @param {Weights} weights
 */
export const countsSamples = ({ unit, name }) => unit === "samples" || name === "samples";

/**
 * The factor for side 1, so that both sides cover the same time (per "time") or have the same total
 * (per "total"). It is 1 if one side is empty.
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
