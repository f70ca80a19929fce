// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of the table of source lines. Frames of a function with the same file and line are one
 * line. The total of a line is the weight of the stacks in which the function is at that line: it
 * runs there, or what it calls there does.
 */
import { costsById } from "#analysis/costs";
import { functionsOf, textsOf } from "#analysis/functions";
import { remember } from "#analysis/memo";
import { PairTable } from "#analysis/pair_table";
import { shownLines } from "#analysis/shown_stacks";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Sides} Sides */
/** @typedef {import("../types").Kind} Kind */
/** @typedef {import("../types").LineRow} LineRow */
/** @typedef {import("#analysis/costs").Intervals} Intervals */

/**
 * @typedef {object} Lines
 * @property {Uint32Array} of the line by frame id
 * @property {number} count
 * @property {Uint32Array} frame by line: its first frame id
 */

/**
 * @param {Recording} recording
 * @returns {Lines}
 */
function linesOf(recording) {
    return remember(recording, "lines", "", () => {
        const { frames } = recording, functions = functionsOf(recording);
        const places = new PairTable(), lines = new PairTable(), files = sameFiles(recording);
        const of = functions.of.map((fn, id) =>
            lines.add(fn, places.add(files[frames.file[id]], frames.line[id])));
        const frame = new Uint32Array(lines.count);

        for (let id = of.length - 1; id > 0; id--)
            frame[of[id]] = id;
        return { of, count: lines.count, frame };
    });
}

/**
 * The number of a file without its folder, by string id: recordings that are compared can be of
 * builds in different folders.
 *
 * @param {Recording} recording
 */
function sameFiles({ frames, strings }) {
    /** @type {Map<string, number>} */
    const numbers = new Map(), of = new Uint32Array(strings.length);

    for (const file of new Set(frames.file)) {
        const name = fileName(strings[file]);

        of[file] = numbers.get(name) ?? numbers.size;
        numbers.set(name, of[file]);
    }
    return of;
}

/** "lists.erl" of "stdlib/src/lists.erl". @param {string} path */
const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);

/**
 * Code without a source line, such as C code, has no rows. In a sandwich only the lines of its
 * function have rows.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Sides} sides
 * @param {Intervals} intervals
 * @returns {LineRow[]}
 */
export function lineRows(recording, choice, weights, sides, intervals) {
    const { frames, strings } = recording, lines = linesOf(recording);
    const functions = functionsOf(recording), { list } = textsOf(recording);
    const costs = costsById(recording, choice, weights, sides, intervals,
        shownLines(recording, choice, lines), lines.count);
    const only = choice.form === "sandwich" ? choice.focus : "";
    /** @type {LineRow[]} */
    const rows = [];

    for (const [id, cost] of costs) {
        const frame = lines.frame[id], fn = functions.of[frame], name = list[functions.text[fn]];

        if (frames.line[frame] && (!only || name === only))
            rows.push({ place: `${fileName(strings[frames.file[frame]])}:${frames.line[frame]}`, name,
                kind: /** @type {Kind} */ (functions.kind[fn]), frame, ...cost });
    }
    return rows;
}
