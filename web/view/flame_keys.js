// SPDX-License-Identifier: Apache-2.0
/* Moves the focus between frames by keys. */
import { nodeOfPath, pathOf } from "#view/flame_path";

/** @typedef {import("./flamegraph.js").Place} Place */
/** @typedef {import("./flamegraph.js").Part} Part */
/** @typedef {import("./flame_layout.js").Boxes} Boxes */

/**
 * The frame that a key moves to, in the direction on the screen; null if the key does not move.
 *
 * @param {string} key
 * @param {Place} place
 * @param {Part[]} parts
 * @param {(part: number) => Boxes} boxesOf the visible boxes of a part
 * @returns {Place | null}
 */
export function moved(key, place, parts, boxesOf) {
    const upwards = parts.length === 2 ? place.part === 0 : parts[place.part].upwards;

    switch (key) {
    case "ArrowLeft":
        return neighbour(place, parts, boxesOf, -1);
    case "ArrowRight":
        return neighbour(place, parts, boxesOf, 1);
    case "Home":
        return neighbour(place, parts, boxesOf, -Infinity);
    case "End":
        return neighbour(place, parts, boxesOf, Infinity);
    case "ArrowUp":
        return vertical(place, parts, upwards);
    case "ArrowDown":
        return vertical(place, parts, !upwards);
    default:
        return null;
    }
}

/**
 * @param {Place} place
 * @param {Part[]} parts
 * @param {boolean} outwards true: to the widest child; false: to the parent
 */
function vertical(place, parts, outwards) {
    const { layout, base, picture: { tree } } = parts[place.part];

    if (outwards)
        return { part: place.part, node: widestChild(layout, place.node) };
    const parent = tree.parent[place.node];

    if (parts.length === 1)
        return { part: 0, node: parent };
    if (tree.time)
        return place.node ? { part: place.part, node: parent } : { part: 1 - place.part, node: 0 };
    if (tree.depth[place.node] === base)
        return { part: 0, node: widestChild(parts[0].layout, sameNode(place, parts, 0)) };
    return tree.depth[parent] > base ? { part: place.part, node: parent }
        : { part: 1, node: sameNode({ part: place.part, node: parent }, parts, 1) };
}

/**
 * The node with the same path in another part, or its nearest ancestor that exists there.
 *
 * @param {Place} place
 * @param {Part[]} parts
 * @param {number} other
 */
function sameNode(place, parts, other) {
    return nodeOfPath(parts[other].picture.tree,
        pathOf(parts[place.part].picture.tree, place.node));
}

/**
 * @param {Part["layout"]} layout
 * @param {number} node
 */
function widestChild({ tree, extent }, node) {
    const first = tree.first[node], end = first + tree.children[node];
    let widest = node, width = 0;

    for (let child = first; child < end; child++) {
        if (extent[child] > width) {
            widest = child;
            width = extent[child];
        }
    }
    return widest;
}

/**
 * The frame `step` further in the row. Only frames with a visible box of their own count.
 *
 * @param {Place} place
 * @param {Part[]} parts
 * @param {(part: number) => Boxes} boxesOf
 * @param {number} step
 */
function neighbour(place, parts, boxesOf, step) {
    const row = parts[place.part].picture.tree.depth[place.node], boxes = boxesOf(place.part);
    const nodes = [];

    for (let i = 0; i < boxes.count; i++) {
        if (boxes.row[i] === row && !boxes.run[i])
            nodes.push(boxes.node[i]);
    }
    const at = Math.min(Math.max(0, nodes.indexOf(place.node) + step), nodes.length - 1);

    return nodes.length ? { part: place.part, node: nodes[at] } : place;
}
