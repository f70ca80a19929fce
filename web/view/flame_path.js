// SPDX-License-Identifier: Apache-2.0
/* Paths of nodes by names of frames. A path is valid in another tree of the same stacks, too. */

/** @typedef {import("../types.js").Tree} Tree */

/**
 * The names of the frames from the child of node 0 to the node.
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
 * The node of a path, or the last one that exists on it.
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
