// SPDX-License-Identifier: Apache-2.0
/* The labels of nodes of a tree: first the functions, then the texts of root frames. */
import { functionsOf, textsOf } from "#analysis/functions";
import { KINDS, ROOT } from "#analysis/kinds";

/** @typedef {import("../types").Recording} Recording */

/**
 * @typedef {object} Labels
 * @property {Uint32Array} name by label: an id of textsOf()
 * @property {Uint8Array} kind by label
 * @property {Uint32Array} frame by label: one frame of the function; 0: a root frame
 * @property {Uint32Array} rank by label, in the order of siblings: by text, then by kind
 * @property {number} ranks more than the highest rank
 */

/**
 * @param {Recording} recording
 * @returns {Labels}
 */
export function labelsOf(recording) {
    const functions = functionsOf(recording), texts = textsOf(recording), order = texts.order();
    const count = functions.count + texts.list.length, rank = new Uint32Array(count);
    const name = new Uint32Array(count), frame = new Uint32Array(count);
    const kind = new Uint8Array(count).fill(ROOT);

    name.set(functions.text);
    kind.set(functions.kind);
    frame.set(functions.frame);
    for (let label = 0; label < count; label++) {
        if (label >= functions.count)
            name[label] = label - functions.count;
        rank[label] = order[name[label]] * KINDS.length + kind[label];
    }
    return { name, kind, frame, rank, ranks: texts.list.length * KINDS.length };
}
