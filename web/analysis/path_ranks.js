// SPDX-License-Identifier: Apache-2.0
/* The order of the nodes of a tree by their paths to the root. */
import { sortedBy } from "#analysis/counting_sort";

/** @typedef {import("#analysis/node_labels").Labels} Labels */

/**
 * By node, its rank by its own label, then its parent's, and so on to the root. A path comes after the
 * paths that it begins with. No two nodes have the same path, so no two have the same rank.
 *
 * Ranks of paths of 1 node give those of 2, then of 4 nodes and so on, as in Manber and Myers, "Suffix
 * arrays: a new method for on-line string searches" (1993).
 *
 * @param {{ count: number, parent: Uint32Array, label: Uint32Array }} nodes node 0 is the root, which
 *     has no label
 * @param {Labels} labels
 */
export function pathRanks({ count, parent, label }, { rank }) {
    const most = Math.max(count, rank.length + 1);
    let above = parent.slice(0, count);
    let ranks = above.map((_, node) => (node ? rank[label[node]] + 1 : 0));

    for (let different = 0; different < count;) {
        const outer = above, inner = ranks;
        const order = sortedBy(inner, most, sortedBy(outer.map((node) => inner[node]), most));

        ranks = new Uint32Array(count);
        for (let i = 1; i < count; i++) {
            const node = order[i], before = order[i - 1];

            ranks[node] = ranks[before] + Number(inner[node] !== inner[before]
                || inner[outer[node]] !== inner[outer[before]]);
        }
        different = ranks[order[count - 1]] + 1;
        above = outer.map((node) => outer[node]);
    }
    return ranks;
}
