// SPDX-License-Identifier: Apache-2.0
/* What of a tree matches, and how much that is together. */

/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("../types").Pattern} Pattern */
/** @typedef {import("../types").Match} Match */

/**
 * `total` has each side's, side 1 as it is, not scaled. A match below another one is in that one's
 * total already.
 *
 * @param {Tree} tree
 * @param {Pattern} pattern
 * @returns {Match}
 */
export function matchTree(tree, { test }) {
    const { count, name, names, parent, total: [ours, others] } = tree;
    const ofName = new Uint8Array(names.length), of = new Uint8Array(count);
    const within = new Uint8Array(count); /* a match, or below one */
    /** @type {[number, number]} */
    const total = [0, 0];
    let found = 0;

    for (let node = 1; test && node < count; node++) {
        const above = within[parent[node]];

        ofName[name[node]] ||= test(names[name[node]]) ? 2 : 1;
        of[node] = ofName[name[node]] - 1;
        within[node] = above | of[node];
        found += of[node];
        if (of[node] && !above) {
            total[0] += ours[node];
            total[1] += others?.[node] ?? 0;
        }
    }
    return { of, total, count: found };
}
