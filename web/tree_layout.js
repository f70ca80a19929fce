// SPDX-License-Identifier: Apache-2.0
/* The nodes of a tree in the order in which they are drawn: parents first, children side by side. */
import { KINDS } from "#kinds";

/** @typedef {import("./types").Tree} Tree */
/** @typedef {import("#sums").Sums} Sums */

/**
 * Nodes in any order, 0 being the root of all.
 *
 * @typedef {object} Nodes
 * @property {number} count
 * @property {ArrayLike<number>} parent
 * @property {Uint32Array} name
 * @property {Uint8Array} kind
 * @property {Uint32Array} frame
 * @property {Int32Array} ends by id of what is alike: the node that its stack ends at, -1 for none
 */

/**
 * @param {Nodes} nodes
 * @param {Uint32Array} ranks by name
 * @param {Sums[]} sides by id of what is alike
 * @returns {Omit<Tree, "names" | "scale" | "weights">}
 */
export function layOut(nodes, ranks, sides) {
    const { count, name, kind, frame, ends } = nodes;
    const { place, parent, first, children, depth } = placeNodes(nodes, ranks);
    const totals = sides.map((side) => sumNodes(side, ends, place, parent, count));
    /** @type {(what: "self" | "total" | "samples") => [Float64Array, Float64Array | null]} */
    const both = (what) => [totals[0][what], totals[1]?.[what] ?? null];

    return {
        count, parent, first, children, depth, self: both("self"), total: both("total"),
        samples: both("samples"), name: placed(name, place), kind: placed(kind, place),
        frame: placed(frame, place),
    };
}

/**
 * @template {Uint8Array | Uint32Array} T
 * @param {T} column
 * @param {Uint32Array} place
 */
function placed(column, place) {
    const result = column.slice();

    for (let node = 0; node < place.length; node++)
        result[place[node]] = column[node];
    return /** @type {T} */ (result);
}

/**
 * Level by level: sorted by name and kind, then dealt out to the parents, then taken parent by parent.
 *
 * @param {Nodes} nodes
 * @param {Uint32Array} ranks
 */
function placeNodes({ count, parent: above, name, kind }, ranks) {
    const rank = name.map((id) => ranks[id]);
    const byKind = sortedBy(kind, KINDS.length, name.map((_, node) => node));
    const byName = sortedBy(rank, ranks.length, byKind);
    const parents = Uint32Array.from(above).subarray(0, count);

    parents[0] = count; /* its own child it is not */
    const byParent = sortedBy(parents, count + 1, byName), start = starts(parents, count + 1);
    const order = new Uint32Array(count), place = new Uint32Array(count);
    const parent = new Uint32Array(count), first = new Uint32Array(count);
    const children = new Uint32Array(count), depth = new Uint16Array(count);

    for (let at = 0, end = 1; at < count; at++) {
        const node = order[at];

        first[at] = end;
        for (let i = start[node]; i < start[node + 1]; i++, end++) {
            order[end] = byParent[i];
            place[byParent[i]] = end;
            parent[end] = at;
            depth[end] = depth[at] + 1;
        }
        children[at] = end - first[at];
    }
    return { place, parent, first, children, depth };
}

/**
 * Where those of each key begin among all that are sorted by it.
 *
 * @param {Uint32Array | Uint8Array} keys
 * @param {number} count of keys that there can be
 */
function starts(keys, count) {
    const start = new Uint32Array(count + 1);

    for (let i = 0; i < keys.length; i++)
        start[keys[i] + 1]++;
    for (let key = 0; key < count; key++)
        start[key + 1] += start[key];
    return start;
}

/**
 * Sorted by their keys, and as they were where these are equal.
 *
 * @param {Uint32Array | Uint8Array} keys by item
 * @param {number} count of keys that there can be
 * @param {Uint32Array} items
 */
function sortedBy(keys, count, items) {
    const next = starts(keys, count), sorted = new Uint32Array(items.length);

    for (let i = 0; i < items.length; i++)
        sorted[next[keys[items[i]]]++] = items[i];
    return sorted;
}

/**
 * @param {Sums} sums
 * @param {Int32Array} ends
 * @param {Uint32Array} place
 * @param {Uint32Array} parent
 * @param {number} count
 */
function sumNodes(sums, ends, place, parent, count) {
    const self = new Float64Array(count), samples = new Float64Array(count);

    for (let id = 0; id < ends.length; id++) {
        if (ends[id] >= 0) {
            self[place[ends[id]]] += sums.weight[id];
            samples[place[ends[id]]] += sums.samples[id];
        }
    }
    const total = self.slice();

    for (let node = count - 1; node > 0; node--) {
        total[parent[node]] += total[node];
        samples[parent[node]] += samples[node];
    }
    return { self, total, samples };
}
