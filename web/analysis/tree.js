// SPDX-License-Identifier: Apache-2.0
/*
 * The tree of a flame graph: from the root (src/output/frame_tree.c), from the leaf, or around one
 * function.
 *
 * The merged stacks of all samples are cached, because the shapes of trees with another weight, or
 * of other samples, are parts of their shape. So such a tree costs one addition for each sample, and
 * one step for each node.
 */
import { functionsOf, textsOf } from "#analysis/functions";
import { nameOf, remember } from "#analysis/memo";
import { Merger, outermostCalls } from "#analysis/merging";
import { labelsOf } from "#analysis/node_labels";
import { alikeSamples, shownStacks } from "#analysis/shown_stacks";
import { findShared, scaleOf, sumUp, youngestShared } from "#analysis/sums";
import { layOut, nodesOf, partOf, placesOf } from "#analysis/tree_layout";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("../types").Sides} Sides */
/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("../types").Halves} Halves */
/** @typedef {import("../types").Sandwich} Sandwich */
/** @typedef {import("#analysis/merging").Merged} Merged */
/** @typedef {import("#analysis/sums").Sums} Sums */
/** @typedef {import("#analysis/shown_stacks").Alike} Alike */
/** @typedef {import("#analysis/sums").SharedHits} SharedHits */
/** @typedef {import("#analysis/tree_layout").Shape} Shape */
/** @typedef {import("#analysis/row_interval").RowIntervals} RowIntervals */

/**
 * The tree in the form of `choice`, but not "sandwich": see buildSandwich().
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Sides} sides
 * @returns {Tree}
 */
export function buildTree(recording, choice, weights, roots, sides) {
    const { form } = choice;
    const laidOut = layOutOnce(recording, choice, roots, form, (merger) =>
        [form === "callers" ? merger.fromLeaf() : merger.fromRoot()]);

    return weighTrees(recording, choice, weights, roots, sides, laidOut)[0];
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Sides} sides
 * @returns {Sandwich}
 */
export function buildSandwich(recording, choice, weights, roots, sides) {
    const { text } = functionsOf(recording), wanted = textsOf(recording).ids.get(choice.focus);
    const laidOut = layOutOnce(recording, choice, roots, `around ${choice.focus}`, (merger) => {
        const calls = outermostCalls(merger.shown, (fn) => text[fn] === wanted);

        return [merger.callersOf(calls), merger.calleesOf(calls)];
    });
    const [callers, callees] = weighTrees(recording, choice, weights, roots, sides, laidOut);

    return { callers, callees };
}

/** @typedef {{ shape: Shape, ends: Int32Array }} LaidOut the result of layOut() */

/**
 * Merge the stacks of all samples.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Roots} roots
 * @param {string} how a name of `merge`
 * @param {(merger: Merger) => Merged[]} merge
 * @returns {LaidOut[]}
 */
function layOutOnce(recording, choice, roots, how, merge) {
    const shown = shownStacks(recording, choice), alike = alikeSamples(recording, roots, shown);

    return remember(recording, "laid out", JSON.stringify([nameOf(alike), how]), () => {
        const labels = labelsOf(recording);

        return merge(new Merger(alike, roots, shown, labels)).map((merged) => layOut(merged, labels));
    });
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Sides} sides
 * @param {LaidOut[]} laidOut
 * @returns {Tree[]}
 */
function weighTrees(recording, choice, weights, roots, sides, laidOut) {
    const alike = alikeSamples(recording, roots, shownStacks(recording, choice));
    const sums = sides.flatMap((samples) => (samples
        ? [sumOnce(recording, alike, weights, samples)] : []));
    const scale = scaleOf(recording, choice, weights, sides), names = textsOf(recording).list;

    return laidOut.map(({ shape, ends }) =>
        ({ ...weighTree(shape, sums.map((side) => sumNodes(side, ends, shape)), ends), names, scale,
            weights, groups: alike.of }));
}

/**
 * The sums of the groups: they are the same in each form.
 *
 * @param {Recording} recording
 * @param {Alike} alike
 * @param {Weights} weights
 * @param {Uint32Array} samples
 */
function sumOnce(recording, alike, weights, samples) {
    const { of, count } = alike, { buffer, byteOffset, length } = samples;
    const key = JSON.stringify([...[alike, weights, buffer].map(nameOf), byteOffset, length]);

    return remember(recording, "sums", key, () => ({ ...sumUp(of, count, weights, samples),
        shared: findShared(of, recording, weights, samples) }));
}

/**
 * The tree of the nodes that have samples.
 *
 * @param {Shape} shape
 * @param {NodeSums[]} sides
 * @param {Int32Array} ends
 * @returns {Omit<Tree, "names" | "scale" | "weights" | "groups">}
 */
function weighTree(shape, sides, ends) {
    const [ours, others] = sides.map(({ samples }) => samples), nodes = new Uint32Array(shape.count);
    let count = 1; /* node 0 is always shown */

    for (let node = 1; node < shape.count; node++)
        if (ours[node] || others?.[node])
            nodes[count++] = node;
    const isWhole = count === shape.count, shown = nodes.subarray(0, count);
    /** @type {(what: keyof NodeSums) => [Float64Array, Float64Array | null]} */
    const both = (what) => {
        const [own, other = null] = sides.map((side) =>
            (isWhole ? side[what] : nodesOf(side[what], shown)));

        return [own, other];
    };

    return { ...(isWhole ? shape : partOf(shape, shown)), self: both("self"), total: both("total"),
        ownSamples: both("ownSamples"), samples: both("samples"),
        ends: () => (isWhole ? ends : placesOf(ends, shown, shape.count)) };
}

/**
 * By node.
 *
 * @typedef {{ self: Float64Array, total: Float64Array, ownSamples: Float64Array,
 *     samples: Float64Array }} NodeSums
 */

/**
 * A hit whose parts are in two nodes counts once from the youngest node on that has both.
 *
 * @param {Sums & { shared: SharedHits }} sums by group of Alike
 * @param {Int32Array} ends
 * @param {Shape} shape
 * @returns {NodeSums}
 */
function sumNodes(sums, ends, { count, parent }) {
    const self = new Float64Array(count), ownSamples = new Float64Array(count);
    const { a, b, hits } = sums.shared;

    for (let id = 0; id < ends.length; id++) {
        if (ends[id] >= 0) {
            self[ends[id]] += sums.weight[id];
            ownSamples[ends[id]] += sums.samples[id];
        }
    }
    const total = self.slice(), samples = ownSamples.slice();

    for (let i = 0; i < hits.length; i++) {
        const one = ends[a[i]], other = ends[b[i]];

        if (one >= 0 && other >= 0)
            samples[youngestShared(parent, one, other)] -= hits[i];
        if (one >= 0 && one === other)
            ownSamples[one] -= hits[i];
    }

    for (let node = count - 1; node > 0; node--) {
        total[parent[node]] += total[node];
        samples[parent[node]] += samples[node];
    }
    return { self, total, ownSamples, samples };
}

/**
 * Half of the intervals of a node. One node at a time: all of a large tree take seconds.
 *
 * @param {Tree} tree
 * @param {number} node
 * @param {Uint32Array} samples of one side
 * @param {RowIntervals} intervals of these samples
 * @returns {Halves}
 */
export function nodeHalves({ count, parent, groups, ends: endsOf }, node, samples, intervals) {
    const ends = endsOf(), isInside = new Uint8Array(count);

    isInside[node] = 1;
    for (let at = node + 1; at < count; at++)
        isInside[at] = isInside[parent[at]];
    const [total, self] = intervals.halves(2, samples, (sample, add) => {
        const end = ends[groups[sample]];

        if (end >= 0 && isInside[end])
            add(0);
        if (end === node)
            add(1);
    });

    return { total, self };
}

/**
 * Half of the intervals of the totals of some nodes, in one pass over the samples.
 *
 * @param {Tree} tree
 * @param {number[]} nodes
 * @param {Uint32Array} samples of one side
 * @param {RowIntervals} intervals of these samples
 */
export function totalHalves({ count, parent, groups, ends: endsOf }, nodes, samples, intervals) {
    const ends = endsOf(), rows = new Int32Array(count).fill(-1);
    const nearest = new Int32Array(count); /* by node, the youngest on its path that has a row; -1: none */

    nodes.forEach((node, row) => (rows[node] = row));
    for (let node = 0; node < count; node++)
        nearest[node] = rows[node] >= 0 ? node : node ? nearest[parent[node]] : -1;
    return intervals.halves(nodes.length, samples, (sample, add) => {
        const end = ends[groups[sample]];

        for (let at = end < 0 ? end : nearest[end]; at >= 0; at = at ? nearest[parent[at]] : -1)
            add(rows[at]);
    });
}
