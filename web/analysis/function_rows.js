// SPDX-License-Identifier: Apache-2.0
/*
 * The weight of each function, without its callees (self) and with them (total). Only the outermost
 * call of a recursive function counts in its total, so that no sample counts twice.
 */
import { SURE } from "#analysis/counted";
import { functionsOf, textsOf } from "#analysis/functions";
import { ROOT } from "#analysis/kinds";
import { remember } from "#analysis/memo";
import { shownStacks } from "#analysis/shown_stacks";
import {
    countsSamples, findShared, scaleOf, sumSquares, sumUp, youngestShared,
} from "#analysis/sums";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Sides} Sides */
/** @typedef {import("../types").Kind} Kind */
/** @typedef {import("../types").FunctionRow} FunctionRow */
/** @typedef {import("../types").FunctionCaller} FunctionCaller */
/** @typedef {import("#analysis/shown_stacks").ShownStacks} ShownStacks */
/** @typedef {import("#analysis/row_interval").RowIntervals} RowIntervals */

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Sides} sides
 * @param {RowIntervals | null} intervals of side 0
 * @returns {FunctionRow[]}
 */
export function functionRows(recording, choice, weights, sides, intervals) {
    const functions = functionsOf(recording), { list } = textsOf(recording);
    const [ours, others] = sides.map((samples) =>
        samples && costs(recording, choice, weights, samples));
    const scale = scaleOf(recording, choice, weights, sides);
    const halves = intervals && halvesOf(recording, choice, sides[0], intervals);
    /** @type {FunctionRow[]} */
    const rows = [];

    for (let id = 0; ours && id < functions.count; id++) {
        if (!ours.samples[id] && !others?.samples[id])
            continue;
        rows.push({
            name: list[functions.text[id]], kind: /** @type {Kind} */ (functions.kind[id]),
            frame: functions.frame[id], self: ours.self[id], total: ours.total[id],
            half: halves?.[id] ?? 0, samples: ours.samples[id], against: others && comparison(ours, others, id, scale),
        });
    }
    return rows;
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
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @returns {Costs}
 */
function costs(recording, choice, weights, samples) {
    const shown = shownStacks(recording, choice), { count } = functionsOf(recording);
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
 * @param {Choice} choice
 * @param {Uint32Array} samples
 * @param {RowIntervals} intervals
 */
function halvesOf(recording, choice, samples, intervals) {
    const shown = shownStacks(recording, choice), outermost = outermostCalls(shown);
    const { parent, fn } = shown, nodes = nodesOfSamples(recording, shown);

    return intervals.halves(functionsOf(recording).count, samples, (sample, add) => {
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
function sumStacks(recording, shown, weights, samples) {
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
 * @param {Recording} recording
 * @param {ShownStacks} shown
 */
function nodesOfSamples({ samples }, shown) {
    return remember(shown, "samples", "", () => samples.stack.map((stack) => shown.of[stack]));
}

/**
 * By node of the shown stacks, 1 if no caller in the stack is the same function.
 *
 * @param {ShownStacks} shown
 */
function outermostCalls(shown) {
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

/**
 * The callers of a function with their part of its total, the greatest first. The caller "" is no
 * caller: the function is the root of the stack.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Sides} sides only the first one counts
 * @param {FunctionRow} row
 * @returns {FunctionCaller[]}
 */
export function functionCallers(recording, choice, weights, [samples], row) {
    const functions = functionsOf(recording), { list } = textsOf(recording);
    const shown = shownStacks(recording, choice), outermost = outermostCalls(shown);
    const { total } = sumStacks(recording, shown, weights, samples), wanted = functions.of[row.frame];
    /** @type {Map<number, number>} */
    const callers = new Map();

    for (let node = 1; node < shown.count; node++) {
        const above = shown.parent[node], caller = above ? shown.fn[above] : -1;

        if (shown.fn[node] === wanted && outermost[node] && total[node])
            callers.set(caller, (callers.get(caller) ?? 0) + total[node]);
    }
    return [...callers].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).map(([id, sum]) => ({
        name: id < 0 ? "" : list[functions.text[id]],
        kind: /** @type {Kind} */ (id < 0 ? ROOT : functions.kind[id]), total: sum,
    }));
}
