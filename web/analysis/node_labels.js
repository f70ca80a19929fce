// SPDX-License-Identifier: Apache-2.0
/* The labels of nodes of a tree: first the functions, then the texts of root frames. */
import { sortedBy } from "#analysis/counting_sort";
import { functionsOf, textsOf } from "#analysis/functions";
import { KINDS, ROOT } from "#analysis/kinds";
import { remember } from "#analysis/memo";

/** @typedef {import("../types").Recording} Recording */

/**
 * @typedef {object} Labels
 * @property {number} functions how many of the labels are functions
 * @property {Uint32Array} name by label: an id of textsOf()
 * @property {Uint8Array} kind by label
 * @property {Uint32Array} frame by label: one frame of the function; 0: a root frame
 * @property {Uint32Array} rank by label, its place in the order of siblings: root frames, then functions,
 *     both by text, then by kind
 */

/**
 * @param {Recording} recording
 * @returns {Labels}
 */
export function labelsOf(recording) {
    const functions = functionsOf(recording), texts = textsOf(recording);

    return remember(recording, "labels", String(texts.list.length), () =>
        makeLabels(functions, texts.list.length, texts.order()));
}

/**
 * @param {import("#analysis/functions").Functions} functions
 * @param {number} length the number of texts
 * @param {Uint32Array} order by text
 * @returns {Labels}
 */
function makeLabels(functions, length, order) {
    const count = functions.count + length;
    const name = new Uint32Array(count), frame = new Uint32Array(count);
    const kind = new Uint8Array(count).fill(ROOT), rank = new Uint32Array(count);

    name.set(functions.text);
    kind.set(functions.kind);
    frame.set(functions.frame);
    for (let text = 0; text < length; text++)
        name[functions.count + text] = text;
    const texted = name.map((text, label) => (label < functions.count ? length : 0) + order[text]);

    sortedBy(texted, 2 * length, sortedBy(Uint32Array.from(kind), KINDS.length))
        .forEach((label, at) => { rank[label] = at; });
    return { functions: functions.count, name, kind, frame, rank };
}
