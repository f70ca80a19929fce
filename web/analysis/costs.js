// SPDX-License-Identifier: Apache-2.0
/*
 * The weight of each function or source line, without its callees (self) and with them (total). Only
 * the outermost call of a recursive function counts in its total, so that no sample counts twice.
 */
import { SURE } from "#analysis/counted";
import { remember } from "#analysis/memo";
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

/**
 * The cost of each function of `shown` with a sample in A or B, by id. Callers come before callees.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Sides} sides
 * @param {RowIntervals | null} intervals of side 0
 * @param {ShownStacks} shown
 * @param {number} count of functions
 * @returns {Map<number, Cost>}
 */
export function costsById(recording, choice, weights, sides, intervals, shown, count) {
    const [ours, others] = sides.map((samples) =>
        samples && sumCosts(recording, shown, count, weights, samples));
    const scale = scaleOf(recording, choice, weights, sides);
    const halves = intervals && halvesOf(recording, shown, count, sides[0], intervals);
    /** @type {Map<number, Cost>} */
    const costs = new Map();

    for (let node = 1; ours && node < shown.count; node++) {
        const id = shown.fn[node];

        if (!costs.has(id) && (ours.samples[id] || others?.samples[id]))
            costs.set(id, { self: ours.self[id], total: ours.total[id], half: halves?.[id] ?? 0,
                samples: ours.samples[id], against: others && comparison(ours, others, id, scale) });
    }
    return costs;
}

/**
 * @typedef {object} Costs by function
 * @property {Float64Array} self
 * @property {Float64Array} total
 * @property {Float64Array} samples number of samples in `total`
 * @property {Float64Array} squares the variance of `total`
 * @property {Float64Array} units number of samples for the variance of one sample; a weight that is
 *     a number of samples counts as so many
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
    const self = new Float64Array(count), total = new Float64Array(count);
    const counts = new Float64Array(count), squares = new Float64Array(count);

    for (let node = 1; node < shown.count; node++) {
        self[shown.fn[node]] += nodes.self[node];
        if (outermost[node]) {
            total[shown.fn[node]] += nodes.total[node];
            counts[shown.fn[node]] += nodes.samples[node];
            squares[shown.fn[node]] += nodes.squares[node];
        }
    }
    return { self, total, samples: counts, squares,
        units: countsSamples(weights) ? squares : counts };
}

/**
 * Half of the interval of the total, by function.
 *
 * @param {Recording} recording
 * @param {ShownStacks} shown
 * @param {number} count of functions
 * @param {Uint32Array} samples
 * @param {RowIntervals} intervals
 */
function halvesOf(recording, shown, count, samples, intervals) {
    const outermost = outermostCalls(shown);
    const { parent, fn } = shown, nodes = nodesOfSamples(recording, shown);

    return intervals.halves(count, samples, (sample, add) => {
        for (let node = nodes[sample]; node; node = parent[node])
            if (outermost[node])
                add(fn[node]);
    });
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
    const { weight: self, samples: counts } = sumUp(ids, shown.count, weights, samples);
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
        counts[shown.parent[node]] += counts[node];
        squares[shown.parent[node]] += squares[node];
    }
    return { self, total, samples: counts, squares };
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
 * @param {Costs} ours
 * @param {Costs} others
 * @param {number} id
 * @param {number} scale
 */
function comparison(ours, others, id, scale) {
    const total = others.total[id] * scale;

    return {
        self: others.self[id] * scale, total, samples: others.samples[id],
        change: ours.total[id] - total,
        noise: SURE * noise(ours, others, id, scale),
    };
}

/**
 * The standard error of the difference of two sums, if samples hit a function by chance (Poisson).
 * A side without samples gets the variance of one sample (src/output/changes/function_changes.c).
 *
 * @param {Costs} ours
 * @param {Costs} others
 * @param {number} id
 * @param {number} scale
 */
function noise(ours, others, id, scale) {
    const after = ours.squares[id], before = others.squares[id] * scale * scale;
    const one = Math.max(after / ours.units[id] || 0, before / others.units[id] || 0);

    return Math.sqrt((after || one) + (before || one));
}
