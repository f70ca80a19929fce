// SPDX-License-Identifier: Apache-2.0
/* The rows of a tree of stacks whose nodes can be opened and closed. */

/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("../types").Kind} Kind */
/** @typedef {import("../types").TreeRow} TreeRow */

/* At first the way of at least this share of each node's weight is open. */
const MAIN = 0.5;
/* Rows that a search shows at most. */
const FOUND = 2000;

/**
 * The nodes that are open at first: from the whole on, while one callee has most of the weight.
 *
 * @param {Tree} tree
 */
export function openedAtFirst(tree) {
    const open = new Set([0]);

    for (let node = 0; ;) {
        const [first] = childrenOf(tree, node);

        if (first === undefined || sizeOf(tree, first) < MAIN * sizeOf(tree, node))
            return open;
        open.add(node = first);
    }
}

/**
 * The rows in sight: callees of open nodes below their callers, the heaviest first.
 *
 * @param {Tree} tree
 * @param {Set<number>} open
 * @returns {TreeRow[]}
 */
export function treeRows(tree, open) {
    /** @type {TreeRow[]} */
    const rows = [];
    const waiting = [0]; /* nodes, the next one last */

    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
        rows.push(rowOf(tree, node, open.has(node)));
        if (open.has(node))
            waiting.push(...childrenOf(tree, node).reverse());
    }
    return rows;
}

/**
 * The nodes with this text, and their callers, all open.
 *
 * @param {Tree} tree
 * @param {string} text in lower case
 * @returns {TreeRow[]}
 */
export function foundRows(tree, text) {
    const matches = tree.names.map((name) => name.toLowerCase().includes(text));
    const shown = new Set([0]);

    for (let node = 1; node < tree.count && shown.size < FOUND; node++)
        for (let at = matches[tree.name[node]] ? node : 0; at; at = tree.parent[at])
            shown.add(at);
    return treeRows(tree, shown).filter(({ node }) => shown.has(node))
        .map((row) => ({ ...row, isOpen: row.isOpen && childrenOf(tree, row.node).some((child) => shown.has(child)) }));
}

/**
 * @param {Tree} tree
 * @param {number} node
 * @param {boolean} isOpen
 * @returns {TreeRow}
 */
function rowOf(tree, node, isOpen) {
    const { self, total, samples, scale } = tree;
    const other = total[1] ? total[1][node] * scale : 0;

    return {
        node, depth: tree.depth[node], name: node ? tree.names[tree.name[node]] : "all",
        kind: /** @type {Kind} */ (tree.kind[node]), isOpen: tree.children[node] ? isOpen : null,
        self: self[0][node], total: total[0][node], half: 0, samples: samples[0][node],
        against: total[1] && { self: (self[1]?.[node] ?? 0) * scale, total: other,
            samples: samples[1]?.[node] ?? 0, change: total[0][node] - other, noise: 0 },
    };
}

/**
 * The weight of a node on both sides; in a comparison of the change: where it changed most.
 *
 * @param {Tree} tree
 * @param {number} node
 */
function sizeOf({ total, scale }, node) {
    return Math.abs(total[0][node]) + Math.abs((total[1]?.[node] ?? 0) * scale);
}

/**
 * The callees of a node, the heaviest first.
 *
 * @param {Tree} tree
 * @param {number} node
 */
function childrenOf(tree, node) {
    return Array.from({ length: tree.children[node] }, (_, i) => tree.first[node] + i)
        .sort((a, b) => sizeOf(tree, b) - sizeOf(tree, a));
}
