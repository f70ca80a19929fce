// SPDX-License-Identifier: Apache-2.0
/* Sorts the nodes of merged stacks: parents before children, siblings side by side. */
import { sortedBy, startsOf } from "#analysis/counting_sort";

/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("#analysis/merging").Merged} Merged */
/** @typedef {import("#analysis/node_labels").Labels} Labels */

/**
 * A tree without weights.
 *
 * @typedef {Pick<Tree, "count" | "parent" | "first" | "children" | "depth" | "name" | "kind" |
 *     "frame">} Shape
 */

/**
 * Sort the nodes by depth. Nodes in call order then have their siblings side by side, in the order of
 * their callers: it takes one step for each node, and reads and writes columns nearly in order.
 *
 * @param {Merged} merged
 * @param {Labels} labels
 * @returns {{ shape: Shape, ends: Int32Array }} ends: as those of Merged, in the shape
 */
export function layOut({ count, parent: above, label: labelOf, ends }, labels) {
    const depths = depthsOf(above, count), next = startsOf(depths, count);
    const place = new Uint32Array(count), parent = new Uint32Array(count);
    const first = new Uint32Array(count), children = new Uint32Array(count);
    const depth = new Uint16Array(count), name = new Uint32Array(count);
    const kind = new Uint8Array(count), frame = new Uint32Array(count);

    for (let node = 1; node < count; node++) {
        const at = next[depths[node]]++, caller = place[above[node]], label = labelOf[node];

        if (!children[caller]++)
            first[caller] = at;
        place[node] = at;
        parent[at] = caller;
        depth[at] = depths[node];
        name[at] = labels.name[label];
        kind[at] = labels.kind[label];
        frame[at] = labels.frame[label];
    }
    return { shape: { count, parent, first, children, depth, name, kind, frame },
        ends: ends.map((node) => (node < 0 ? -1 : place[node])) };
}

/**
 * @param {Uint32Array} parent by node, a lower node
 * @param {number} count
 */
export function depthsOf(parent, count) {
    const depths = new Uint32Array(count);

    for (let node = 1; node < count; node++)
        depths[node] = depths[parent[node]] + 1;
    return depths;
}

/**
 * Nodes in call order: callees follow their caller at once, and siblings are sorted by rank. By node as it
 * was, `place` has its index and `size` how many nodes it and its callees are.
 *
 * @param {{ count: number, parent: Uint32Array, label: Uint32Array }} nodes each after its parent
 * @param {Labels} labels
 */
export function inCallOrder({ count, parent: above, label: labelOf }, { rank }) {
    const ranked = sortedBy(labelOf.subarray(0, count).map((id) => rank[id]), rank.length);
    const callers = above.subarray(0, count), start = startsOf(callers, count);
    const siblings = sortedBy(callers, count, ranked);
    const size = new Uint32Array(count).fill(1), place = new Uint32Array(count);
    const parent = new Uint32Array(count), label = new Uint32Array(count);

    for (let node = count - 1; node > 0; node--)
        size[callers[node]] += size[node];
    for (let node = 0; node < count; node++) {
        for (let i = start[node], at = place[node] + 1; i < start[node + 1]; i++) {
            if (siblings[i]) { /* node 0 is not its own callee */
                place[siblings[i]] = at;
                at += size[siblings[i]];
            }
        }
        parent[place[node]] = place[callers[node]];
        label[place[node]] = labelOf[node];
    }
    return { count, parent, label, place, size };
}

/**
 * The part of a shape that these nodes make. They are in order, and have their parents.
 *
 * @param {Shape} shape
 * @param {Uint32Array} nodes
 * @returns {Shape}
 */
export function partOf(shape, nodes) {
    const count = nodes.length, place = new Uint32Array(shape.count);
    const parent = new Uint32Array(count), children = new Uint32Array(count);
    const first = new Uint32Array(count);

    for (let at = 1; at < count; at++) {
        place[nodes[at]] = at;
        parent[at] = place[shape.parent[nodes[at]]];
        children[parent[at]]++;
    }
    for (let at = 0, end = 1; at < count; at++) {
        first[at] = end;
        end += children[at];
    }
    return { count, parent, first, children, depth: nodesOf(shape.depth, nodes),
        name: nodesOf(shape.name, nodes), kind: nodesOf(shape.kind, nodes),
        frame: nodesOf(shape.frame, nodes) };
}

/**
 * The nodes of a part of a shape at which stacks end; -1: it has no such node.
 *
 * @param {Int32Array} ends in the whole shape
 * @param {Uint32Array} nodes of the part, in order
 * @param {number} count of nodes of the whole shape
 */
export function placesOf(ends, nodes, count) {
    const place = new Int32Array(count).fill(-1);

    for (let at = 0; at < nodes.length; at++)
        place[nodes[at]] = at;
    return ends.map((node) => (node < 0 ? -1 : place[node]));
}

/**
 * The values of these nodes.
 *
 * @template {Uint8Array | Uint16Array | Uint32Array | Float64Array} T
 * @param {T} column
 * @param {Uint32Array} nodes
 */
export function nodesOf(column, nodes) {
    const values = column.slice(0, nodes.length);

    for (let i = 0; i < nodes.length; i++)
        values[i] = column[nodes[i]];
    return /** @type {T} */ (values);
}
