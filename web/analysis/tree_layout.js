// SPDX-License-Identifier: Apache-2.0
/* Sorts the nodes of merged stacks: parents before children, siblings side by side. */
import { sortedBy, startsOf } from "#analysis/counting_sort";

/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("#analysis/merging").Merged} Merged */
/** @typedef {import("#analysis/node_labels").Labels} Labels */

/* Insertion sorts so many siblings faster. */
const FEW = 24;

/**
 * A tree without weights.
 *
 * @typedef {Pick<Tree, "count" | "parent" | "first" | "children" | "depth" | "name" | "kind" |
 *     "frame">} Shape
 */

/**
 * @param {Merged} merged
 * @param {Labels} labels
 * @returns {{ shape: Shape, ends: Int32Array }} ends: as those of Merged, in the shape
 */
export function layOut(merged, labels) {
    const { order, ...links } = placeNodes(merged, labels), { count } = merged;
    const name = new Uint32Array(count), kind = new Uint8Array(count);
    const frame = new Uint32Array(count), place = new Uint32Array(count);

    for (let at = 0; at < count; at++) {
        const label = merged.label[order[at]];

        place[order[at]] = at;
        if (at) {
            name[at] = labels.name[label];
            kind[at] = labels.kind[label];
            frame[at] = labels.frame[label];
        }
    }
    return { shape: { count, ...links, name, kind, frame },
        ends: merged.ends.map((node) => (node < 0 ? -1 : place[node])) };
}

/**
 * Sort the nodes by depth; siblings lie together, sorted by rank. `order` has the node by its index
 * in the sorted tree; the other columns are the sorted tree's.
 *
 * @param {Merged} merged
 * @param {Labels} labels
 */
function placeNodes({ count, parent: above, label }, { rank }) {
    const parents = above.slice(0, count);

    parents[0] = count; /* node 0 is not its own child */
    const start = startsOf(parents, count + 1), siblings = sortedBy(parents, count + 1);
    const order = new Uint32Array(count), parent = new Uint32Array(count);
    const first = new Uint32Array(count), children = new Uint32Array(count);
    const depth = new Uint16Array(count);

    for (let at = 0, end = 1; at < count; at++) {
        const from = start[order[at]], to = start[order[at] + 1];

        first[at] = end;
        children[at] = to - from;
        if (to - from > 1)
            sortSiblings(siblings.subarray(from, to), label, rank);
        for (let i = from; i < to; i++, end++) {
            order[end] = siblings[i];
            parent[end] = at;
            depth[end] = depth[at] + 1;
        }
    }
    return { order, parent, first, children, depth };
}

/**
 * @param {Uint32Array} nodes
 * @param {Uint32Array} label by node
 * @param {Uint32Array} rank by label
 */
function sortSiblings(nodes, label, rank) {
    if (nodes.length > FEW) {
        nodes.sort((a, b) => rank[label[a]] - rank[label[b]]);
        return;
    }
    for (let i = 1; i < nodes.length; i++) {
        const node = nodes[i], own = rank[label[node]];
        let at = i;

        for (; at > 0 && rank[label[nodes[at - 1]]] > own; at--)
            nodes[at] = nodes[at - 1];
        nodes[at] = node;
    }
}

/**
 * By node, its index when callees follow their caller at once, and siblings are sorted by rank.
 *
 * @param {{ count: number, parent: Uint32Array, label: Uint32Array }} nodes each after its parent
 * @param {Labels} labels
 */
export function callOrder({ count, parent: above, label }, { rank, ranks }) {
    const ranked = sortedBy(label.subarray(0, count).map((id) => rank[id]), ranks);
    const parent = above.subarray(0, count), start = startsOf(parent, count);
    const siblings = sortedBy(parent, count, ranked);
    const size = new Uint32Array(count).fill(1), place = new Uint32Array(count);

    for (let node = count - 1; node > 0; node--)
        size[parent[node]] += size[node];
    for (let node = 0; node < count; node++) {
        for (let i = start[node], at = place[node] + 1; i < start[node + 1]; i++) {
            if (siblings[i]) { /* node 0 is not its own callee */
                place[siblings[i]] = at;
                at += size[siblings[i]];
            }
        }
    }
    return place;
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
