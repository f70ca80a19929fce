// SPDX-License-Identifier: Apache-2.0
/*
 * The stacks of a recording as they are shown: without hidden frames, with direct recursion folded
 * and without C code and BIFs if selected, and with equal stacks merged. A node is a function and
 * its parent node, the caller.
 */
import { sortedBy } from "#analysis/counting_sort";
import { functionsOf, textsOf } from "#analysis/functions";
import { nameOf, remember } from "#analysis/memo";
import { labelsOf } from "#analysis/node_labels";
import { PairTable } from "#analysis/pair_table";
import { readPattern } from "#analysis/pattern";
import { inCallOrder } from "#analysis/tree_layout";
import { foldTest, foldedWaiting } from "#analysis/waiting";

const ERLANG = 1, MARK = 6; /* Frames.kind */
const TABLE_MARK = "[table ";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("#analysis/waiting").Folded} Folded */

/**
 * @typedef {object} ShownStacks
 * @property {Uint32Array} of the node by stack id; 0: no frame of the stack is shown
 * @property {number} count of nodes
 * @property {Uint32Array} parent by node, always a lower node
 * @property {Uint32Array} fn the function (functionsOf()) by node
 * @property {Folded | null} folded the samples whose node is `waiting`, whatever their stack is
 * @property {number} waiting
 */

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @returns {ShownStacks}
 */
export function shownStacks(recording, choice) {
    const { hidden, foldRecursion, erlangOnly } = choice, folded = foldedWaiting(recording, choice);
    const stacks = remember(recording, "shown", JSON.stringify([hidden, foldRecursion, erlangOnly]),
        () => {
            const { of, nodes } = show(recording, hidden, foldRecursion, erlangOnly,
                functionsOf(recording));

            return { ...asShown(recording, of, nodes), folded: null, waiting: 0 };
        });

    return folded ? remember(stacks, "folded", JSON.stringify(folded), () =>
        withWaiting(recording, stacks, folded)) : stacks;
}

/**
 * The same, with a node for folded samples.
 *
 * @param {Recording} recording
 * @param {ShownStacks} stacks
 * @param {Folded} folded
 * @returns {ShownStacks}
 */
function withWaiting(recording, { of, count, parent, fn }, folded) {
    const nodes = new PairTable(count + 1);

    for (let node = 0; node < count; node++)
        nodes.add(parent[node], fn[node]);
    const waiting = nodes.add(0, functionsOf(recording).waiting);
    const { place, ...shown } = asShown(recording, of, nodes);

    return { ...shown, folded, waiting: place[waiting] };
}

/**
 * The same, but with a node for each source line of a function: `fn` has the line by node. Folded
 * samples have no line.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {{ of: Uint32Array, count: number }} lines by frame id, and how many
 * @returns {ShownStacks}
 */
export function shownLines(recording, choice, lines) {
    const { hidden, foldRecursion, erlangOnly } = choice, folded = foldedWaiting(recording, choice);
    const key = JSON.stringify([hidden, foldRecursion, erlangOnly, folded]);

    return remember(lines, "shown", key, () => {
        const { of, nodes: { count, a, b } } = show(recording, hidden, foldRecursion, erlangOnly,
            lines);

        return { of, count, parent: a.slice(0, count), fn: b.slice(0, count), folded, waiting: 0 };
    });
}

/**
 * @param {Recording} recording
 * @param {string[]} hidden
 * @param {boolean} fold
 * @param {boolean} erlangOnly
 * @param {{ of: Uint32Array, count: number }} labels of nodes, by frame id, and how many
 */
function show(recording, hidden, fold, erlangOnly, labels) {
    const { stacks } = recording, functions = functionsOf(recording);
    const isHidden = hiddenFunctions(recording, hidden);
    const isCalled = erlangOnly ? calledFrames(recording)
        : new Uint8Array(recording.frames.kind.length);
    const same = fold ? sameFunctions(recording) : functions.of;
    const count = stacks.parent.length, of = new Uint32Array(count);
    const last = new Uint32Array(count); /* by stack, the youngest frame that is shown */
    const nodes = new PairTable(count);

    nodes.add(0, labels.count); /* node 0 has no function */
    for (let id = 1; id < count; id++) {
        const parent = stacks.parent[id], frame = stacks.frame[id], before = last[parent];
        const goes = isHidden[functions.of[frame]] ||
            (isCalled[frame] && before && !isCalled[before]) ||
            (fold && before && same[before] === same[frame]);

        of[id] = goes ? of[parent] : nodes.add(of[parent], labels.of[frame]);
        last[id] = goes ? before : frame;
    }
    return { of, nodes };
}

/**
 * Nodes in call order: stacks are merged in this order (merging.js).
 *
 * @param {Recording} recording
 * @param {Uint32Array} of
 * @param {PairTable} nodes
 */
function asShown(recording, of, { count, a, b }) {
    const { parent, label, place } = inCallOrder({ count, parent: a, label: b }, labelsOf(recording));

    return { of: of.map((node) => place[node]), count, parent, fn: label, place };
}

/**
 * The node by sample.
 *
 * @param {Recording} recording
 * @param {ShownStacks} shown
 */
export function nodesOfSamples(recording, shown) {
    return remember(shown, "samples", "", () => {
        const isFolded = foldTest(recording, shown.folded), { waiting, of } = shown;

        return recording.samples.stack.map((stack, sample) =>
            (isFolded(sample) ? waiting : of[stack]));
    });
}

/**
 * By frame, 1 if it is no call site: C code, a BIF, or a table that they work on (call_site() in
 * src/output/summary/summary_event.c). Without an Erlang function below it, it is shown.
 *
 * @param {Recording} recording
 */
function calledFrames({ frames: { kind, symbol }, strings }) {
    return kind.map((of, id) => Number(of !== ERLANG
        && (of !== MARK || strings[symbol[id]].startsWith(TABLE_MARK))));
}

/**
 * By function, 1 if a pattern hides it.
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
 * Ids of functions for folding, by frame id: frames with the same symbol, module and kind fold
 * (src/view/view.c).
 *
 * @param {Recording} recording
 */
export function sameFunctions({ frames }) {
    const places = new PairTable(), same = new PairTable();

    return Uint32Array.from(frames.symbol, (symbol, id) =>
        same.add(symbol, places.add(frames.module[id], frames.kind[id])));
}

/**
 * Groups of samples that look the same: each group is a pair of root frames and a shown stack.
 *
 * @typedef {object} Alike
 * @property {Uint32Array} of the group by sample
 * @property {number} count of groups
 * @property {Uint32Array} root by group, a node of Roots; in ascending order
 * @property {Uint32Array} node by group, a node of ShownStacks
 */

/**
 * @param {Recording} recording
 * @param {Roots} roots
 * @param {ShownStacks} shown
 * @returns {Alike}
 */
export function alikeSamples(recording, roots, shown) {
    return remember(roots, "alike", nameOf(shown), () =>
        findAlike(nodesOfSamples(recording, shown), roots, shown.count));
}

/**
 * @param {Uint32Array} nodes by sample
 * @param {Roots} roots
 * @param {number} shown the number of nodes
 * @returns {Alike}
 */
function findAlike(nodes, roots, shown) {
    const { length } = nodes, of = new Uint32Array(length);
    const order = sortedBy(roots.of, roots.outer.length);
    const root = new Uint32Array(length), node = new Uint32Array(length);
    const newest = new Uint32Array(shown); /* by node, 1 + the number of its newest group */
    let count = 0, first = 0; /* first: group of the root frames */

    for (let i = 0; i < length; i++) {
        const sample = order[i], chain = roots.of[sample], at = nodes[sample];

        if (i && chain !== root[count - 1])
            first = count;
        if (newest[at] <= first) {
            root[count] = chain;
            node[count] = at;
            newest[at] = ++count;
        }
        of[sample] = newest[at] - 1;
    }
    return { of, count, root: root.slice(0, count), node: node.slice(0, count) };
}
