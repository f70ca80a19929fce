// SPDX-License-Identifier: Apache-2.0
/* The nodes of a tree that match a search, and their weight. */

/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("../types").Pattern} Pattern */
/** @typedef {import("../types").Match} Match */

/**
 * @param {Tree} tree
 * @param {Pattern} pattern
 * @returns {Match}
 */
export function matchTree(tree, { test }) {
    const { count, name, names, parent } = tree;
    const ofName = new Uint8Array(names.length), of = new Uint8Array(count);
    const within = new Uint8Array(count); /* 1: the node or a caller matches */
    let found = 0;

    for (let node = 1; test && node < count; node++) {
        ofName[name[node]] ||= test(names[name[node]]) ? 2 : 1;
        of[node] = ofName[name[node]] - 1;
        within[node] = within[parent[node]] | of[node];
        found += of[node];
    }
    return { of, count: found,
        amounts: tree.self.flatMap((self) => (self ? [amountsOf(self, within)] : [])) };
}

/**
 * Sums `self`, not `total`: in a total, growth and release cancel out.
 *
 * @param {Float64Array} self
 * @param {Uint8Array} within
 */
function amountsOf(self, within) {
    let matched = 0, whole = 0;

    for (let node = 0; node < self.length; node++) {
        const amount = Math.abs(self[node]);

        whole += amount;
        matched += within[node] ? amount : 0;
    }
    return { matched, whole };
}
