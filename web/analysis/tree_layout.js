// SPDX-License-Identifier: Apache-2.0
/* Sorts the nodes of a tree: parents before children, siblings side by side. */
/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("#analysis/sums").Sums} Sums */

/**
 * Nodes in any order; node 0 is the whole.
 *
 * @typedef {object} Nodes
 * @property {number} count
 * @property {ArrayLike<number>} parent
 * @property {Uint32Array} name
 * @property {Uint8Array} kind
 * @property {Uint32Array} frame
 * @property {Int32Array} ends by group of Alike: the node at which its stack ends, -1: none
 */

/**
 * @param {Nodes} nodes
 * @param {Uint32Array} ranks by name
 * @param {Sums[]} sides by group of Alike
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
 * Give each node its index in the sorted tree, `place`. Nodes are sorted by depth; siblings lie
 * together, sorted by name and kind.
 *
 * @param {Nodes} nodes
 * @param {Uint32Array} ranks
 */
function placeNodes({ count, parent: above, name, kind }, ranks) {
    const order = new Uint32Array(count), place = new Uint32Array(count);
    const parents = Uint32Array.from(above).subarray(0, count);

    parents[0] = count; /* node 0 is not its own child */
    const start = starts(parents, count + 1), siblings = dealOut(parents, start.slice());
    /** @type {(a: number, b: number) => number} */
    const compare = (a, b) => ranks[name[a]] - ranks[name[b]] || kind[a] - kind[b];
    const parent = new Uint32Array(count), first = new Uint32Array(count);
    const children = new Uint32Array(count), depth = new Uint16Array(count);

    for (let at = 0, end = 1; at < count; at++) {
        const node = order[at];

        first[at] = end;
        if (start[node + 1] - start[node] > 1) /* few nodes have more than one child */
            siblings.subarray(start[node], start[node + 1]).sort(compare);
        for (let i = start[node]; i < start[node + 1]; i++, end++) {
            order[end] = siblings[i];
            place[siblings[i]] = end;
            parent[end] = at;
            depth[end] = depth[at] + 1;
        }
        children[at] = end - first[at];
    }
    return { place, parent, first, children, depth };
}

/**
 * By key, the index of its first item when the items are sorted by key.
 *
 * @param {Uint32Array} keys by item
 * @param {number} count of possible keys
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
 * The items, sorted by key.
 *
 * @param {Uint32Array} keys by item
 * @param {Uint32Array} next the result of starts(); overwritten
 */
function dealOut(keys, next) {
    const items = new Uint32Array(keys.length);

    for (let item = 0; item < keys.length; item++)
        items[next[keys[item]]++] = item;
    return items;
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
