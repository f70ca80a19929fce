// SPDX-License-Identifier: Apache-2.0
/*
 * The weight of each function or source line, without its callees (self) and with them (total). Only
 * the outermost call of a recursive function counts in its total, so that no sample counts twice.
 */
import { remember } from "#analysis/memo";
import { noiseOf } from "#analysis/noise";
import { nodesOfSamples } from "#analysis/shown_stacks";
import {
    countsSamples, findShared, scaleOf, sumSquares, sumUp, youngestShared,
} from "#analysis/sums";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Sides} Sides */
/** @typedef {import("../types").Cost} Cost */
/** @typedef {import("#analysis/shown_stacks").ShownStacks} ShownStacks */
/** @typedef {import("#analysis/row_interval").RowIntervals} RowIntervals */
/** @typedef {[RowIntervals | null, RowIntervals | null]} Intervals by side */

/**
 * The cost of each function of `shown` with a sample in A or B, by id. Callers come before callees.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Sides} sides
 * @param {Intervals} intervals
 * @param {ShownStacks} shown
 * @param {number} count of functions
 * @returns {Map<number, Cost>}
 */
export function costsById(recording, choice, weights, sides, intervals, shown, count) {
    const options = { scale: scaleOf(recording, choice, weights, sides),
        byShare: choice.against !== null && choice.per === "total" };
    const sideOf = (/** @type {Uint32Array} */ samples, /** @type {number} */ side) =>
        ({ sums: sumCosts(recording, shown, count, weights, samples), intervals: intervals[side],
            halves: halvesOf(recording, shown, count, samples, intervals[side], options.byShare) });
    const ours = sideOf(sides[0], 0), others = sides[1] && sideOf(sides[1], 1);
    /** @type {Map<number, Cost>} */
    const costs = new Map();

    for (let node = 1; node < shown.count; node++) {
        const id = shown.fn[node], { sums } = ours;

        if (!costs.has(id) && (sums.samples[id] || others?.sums.samples[id]))
            costs.set(id, { self: sums.self[id], total: sums.total[id], half: ours.halves?.[id] ?? 0,
                samples: sums.samples[id], against: others && comparison([ours, others], id, options) });
    }
    return costs;
}

/**
 * @typedef {{ self: Float64Array, total: Float64Array } & import("#analysis/noise").Sums} Costs by
 *     function; `samples`, `size` and `squares` are of `total`
 */

/**
 * @param {Recording} recording
 * @param {ShownStacks} shown
 * @param {number} count of functions
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @returns {Costs}
 */
function sumCosts(recording, shown, count, weights, samples) {
    const nodes = sumStacks(recording, shown, weights, samples), outermost = outermostCalls(shown);
    const [self, total, size, counts, squares] =
        Array.from({ length: 5 }, () => new Float64Array(count + 1));
    const add = (/** @type {number} */ id, /** @type {number} */ node) => {
        total[id] += nodes.total[node];
        size[id] += nodes.size[node];
        counts[id] += nodes.samples[node];
        squares[id] += nodes.squares[node];
    };

    for (let node = 1; node < shown.count; node++) {
        self[shown.fn[node]] += nodes.self[node];
        if (outermost[node])
            add(shown.fn[node], node);
    }
    add(count, 0);
    return { self, total, size, samples: counts, squares,
        units: countsSamples(weights) ? squares : counts };
}

/**
 * Half of the interval of the total, by function; null: unknown how the event was seen.
 *
 * @param {Recording} recording
 * @param {ShownStacks} shown
 * @param {number} count of functions
 * @param {Uint32Array} samples
 * @param {RowIntervals | null} intervals
 * @param {boolean} ofShares
 */
function halvesOf(recording, shown, count, samples, intervals, ofShares) {
    if (!intervals)
        return null;
    const outermost = outermostCalls(shown);
    const { parent, fn } = shown, nodes = nodesOfSamples(recording, shown);

    return intervals.halves(count, samples, (sample, add) => {
        for (let node = nodes[sample]; node; node = parent[node])
            if (outermost[node])
                add(fn[node]);
    }, ofShares);
}

/**
 * The sums of the shown stacks, by node: `self` without callees, the others with them.
 *
 * @param {Recording} recording
 * @param {ShownStacks} shown
 * @param {Weights} weights
 * @param {Uint32Array} samples
 */
export function sumStacks(recording, shown, weights, samples) {
    const ids = nodesOfSamples(recording, shown);
    const { weight: self, size, samples: counts } = sumUp(ids, shown.count, weights, samples);
    const squares = sumSquares(ids, shown.count, weights, samples), total = self.slice();
    const { a, b, hits, products } = findShared(ids, recording, weights, samples);

    /* The square of a hit's weight is larger than the sum of the squares of its parts. */
    for (let i = 0; i < hits.length; i++) {
        const node = youngestShared(shown.parent, a[i], b[i]);

        counts[node] -= hits[i];
        squares[node] += 2 * products[i];
    }
    for (let node = shown.count - 1; node > 0; node--) {
        total[shown.parent[node]] += total[node];
        size[shown.parent[node]] += size[node];
        counts[shown.parent[node]] += counts[node];
        squares[shown.parent[node]] += squares[node];
    }
    return { self, total, size, samples: counts, squares };
}

/**
 * By node of the shown stacks, 1 if no caller in the stack is the same function.
 *
 * @param {ShownStacks} shown
 */
export function outermostCalls(shown) {
    return remember(shown, "outermost", "", () => {
        const { parent, fn, count } = shown, outermost = new Uint8Array(count);

        for (let node = 1; node < count; node++) {
            let at = parent[node];

            while (at && fn[at] !== fn[node])
                at = parent[at];
            outermost[node] = at ? 0 : 1;
        }
        return outermost;
    });
}

/**
 * @param {[import("#analysis/noise").Side & { sums: Costs }, import("#analysis/noise").Side & { sums: Costs }]} sides
 * @param {number} id
 * @param {{ scale: number, byShare: boolean }} options
 */
function comparison(sides, id, options) {
    const [{ sums: ours }, { sums: others }] = sides, { scale } = options;
    const total = others.total[id] * scale, change = ours.total[id] - total;

    return { self: others.self[id] * scale, total, samples: others.samples[id], change,
        noise: noiseOf(sides, id, change, options) };
}
