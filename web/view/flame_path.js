// SPDX-License-Identifier: Apache-2.0
/* Nodes by the names that lead to them, which are the same in another tree of the same stacks. */

/** @typedef {import("../types.js").Tree} Tree */

/**
 * Names of the frames from the root's child on.
 *
 * @param {Tree} tree
 * @param {number} node
 */
export function pathOf(tree, node) {
    const path = [];

    for (let at = node; at; at = tree.parent[at])
        path.unshift(tree.names[tree.name[at]]);
    return path;
}

/**
 * As far as there are such frames.
 *
 * @param {Tree} tree
 * @param {string[]} path
 */
export function nodeOfPath(tree, path) {
    let node = 0;

    for (const name of path) {
        const end = tree.first[node] + tree.children[node];
        let child = tree.first[node];

        while (child < end && tree.names[tree.name[child]] !== name)
            child++;
        if (child === end)
            return node;
        node = child;
    }
    return node;
}
