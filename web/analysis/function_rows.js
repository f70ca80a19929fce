// SPDX-License-Identifier: Apache-2.0
/* The rows of the table of functions, and the callers of a function. */
import { isComparable } from "#analysis/builds";
import { callCounts } from "#analysis/call_counts";
import { costsById, outermostCalls, sumStacks } from "#analysis/costs";
import { functionsOf, textsOf } from "#analysis/functions";
import { ROOT } from "#analysis/kinds";
import { shownStacks } from "#analysis/shown_stacks";
import { partOf } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Sides} Sides */
/** @typedef {import("../types").Kind} Kind */
/** @typedef {import("../types").Cost} Cost */
/** @typedef {import("../types").FunctionRow} FunctionRow */
/** @typedef {import("../types").FunctionCaller} FunctionCaller */
/** @typedef {import("#analysis/costs").Intervals} Intervals */

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Sides} sides
 * @param {Intervals} intervals
 * @returns {FunctionRow[]}
 */
export function functionRows(recording, choice, weights, sides, intervals) {
    const { count, text, kind, frame } = functionsOf(recording), { list } = textsOf(recording);
    const costs = costsById(recording, choice, weights, sides, intervals,
        shownStacks(recording, choice), count);
    const counts = callCounts(recording, sides[0], partOf(recording, choice.range));

    return Array.from(costs, ([id, cost]) => ({ name: list[text[id]],
        kind: /** @type {Kind} */ (kind[id]), frame: frame[id],
        calls: counts.get(list[text[id]]) ?? null, ...cost,
        against: againstOf(recording, frame[id], cost.against) }));
}

/**
 * The other side of a function; the change of one that is not comparable is NaN.
 *
 * @param {Recording} recording
 * @param {number} frame
 * @param {Cost["against"]} against
 * @returns {Cost["against"]}
 */
function againstOf(recording, frame, against) {
    return against && !isComparable(recording, frame)
        ? { ...against, change: NaN, noise: NaN } : against;
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
