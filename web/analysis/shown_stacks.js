// SPDX-License-Identifier: Apache-2.0
/*
 * The stacks of a recording as they are shown: without what is hidden, without runs of one function
 * where recursion is folded, and equal ones merged. As ever a node is a function under a parent.
 */
import { functionsOf, textsOf } from "#analysis/functions";
import { nameOf, remember } from "#analysis/memo";
import { PairTable } from "#analysis/pair_table";
import { readPattern } from "#analysis/pattern";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Roots} Roots */

/**
 * @typedef {object} ShownStacks
 * @property {Uint32Array} of by stack id: its node, 0 where nothing of it is shown
 * @property {number} count
 * @property {Uint32Array} parent by node, a lower one
 * @property {Uint32Array} fn the function (functionsOf()), by node
 */

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @returns {ShownStacks}
 */
export function shownStacks(recording, { hidden, foldRecursion }) {
    const key = JSON.stringify([hidden, foldRecursion]);

    return remember(recording, "shown", key, () => show(recording, hidden, foldRecursion));
}

/**
 * @param {Recording} recording
 * @param {string[]} hidden
 * @param {boolean} fold
 */
function show(recording, hidden, fold) {
    const { stacks, frames } = recording, functions = functionsOf(recording);
    const isHidden = hiddenFunctions(recording, hidden);
    const same = fold ? sameFunctions(recording) : functions.of;
    const count = stacks.parent.length, of = new Uint32Array(count);
    const last = new Uint32Array(count); /* the innermost frame shown of each stack */
    const nodes = new PairTable(count);

    nodes.add(0, frames.kind.length); /* node 0, of no function */
    for (let id = 1; id < count; id++) {
        const parent = stacks.parent[id], frame = stacks.frame[id], before = last[parent];
        const goes = isHidden[functions.of[frame]] ||
            (fold && before && same[before] === same[frame]);

        of[id] = goes ? of[parent] : nodes.add(of[parent], functions.of[frame]);
        last[id] = goes ? before : frame;
    }
    return { of, count: nodes.count, parent: nodes.a, fn: nodes.b };
}

/**
 * By function.
 *
 * @param {Recording} recording
 * @param {string[]} hidden
 */
function hiddenFunctions(recording, hidden) {
    const { count, text } = functionsOf(recording), { list } = textsOf(recording);
    const tests = hidden.map((pattern) => readPattern(pattern).test ?? (() => false));
    const marked = new Uint8Array(count);

    for (let id = 0; tests.length && id < count; id++)
        marked[id] = tests.some((test) => test(list[text[id]])) ? 1 : 0;
    return marked;
}

/**
 * What folds into one frame, by frame id: equal symbols of one module and kind (view.c).
 *
 * @param {Recording} recording
 */
function sameFunctions({ frames }) {
    const places = new PairTable(), same = new PairTable();

    return Uint32Array.from(frames.symbol, (symbol, id) =>
        same.add(symbol, places.add(frames.module[id], frames.kind[id])));
}

/**
 * Samples that are shown alike: pairs of root frames and a stack.
 *
 * @typedef {object} Alike
 * @property {Uint32Array} of by sample
 * @property {number} count
 * @property {Uint32Array} root
 * @property {Uint32Array} node of the shown stacks
 */

/**
 * @param {Recording} recording
 * @param {Roots} roots
 * @param {ShownStacks} shown
 * @returns {Alike}
 */
export function alikeSamples({ samples }, roots, shown) {
    return remember(roots, "alike", nameOf(shown), () => {
        const pairs = new PairTable(shown.count), of = new Uint32Array(samples.count);

        for (let i = 0; i < of.length; i++)
            of[i] = pairs.add(roots.of[i], shown.of[samples.stack[i]]);
        return { of, count: pairs.count, root: pairs.a, node: pairs.b };
    });
}
