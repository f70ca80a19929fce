// SPDX-License-Identifier: Apache-2.0
/* Functions: the frames with the same text and kind are one function (src/output/frame_tree.c). In a
 * comparison of recordings, a text that is only an offset says so within one build only. */
import { ROOT, kindsOfFrames } from "#analysis/kinds";
import { remember } from "#analysis/memo";
import { PairTable } from "#analysis/pair_table";
import { WAITING } from "#analysis/root_texts";

/** @typedef {import("../types").Recording} Recording */

/** The distinct texts of frames; id 0 is "". */
class Texts {
    constructor() {
        this.list = [""];
        /** @type {Map<string, number>} */
        this.ids = new Map([["", 0]]);
        this.ranks = new Uint32Array(0);
    }

    /** @param {string} text */
    add(text) {
        let id = this.ids.get(text);

        if (id === undefined) {
            id = this.list.push(text) - 1;
            this.ids.set(text, id);
        }
        return id;
    }

    /** By text id, the rank of the text in alphabetical order. */
    order() {
        if (this.ranks.length < this.list.length) {
            const { list } = this;
            const sorted = Uint32Array.from(list.keys())
                .sort((a, b) => (list[a] < list[b] ? -1 : list[a] > list[b] ? 1 : 0));

            this.ranks = new Uint32Array(list.length);
            sorted.forEach((id, rank) => { this.ranks[id] = rank; });
        }
        return this.ranks;
    }
}

/**
 * @param {Recording} recording
 * @returns {Texts}
 */
export function textsOf(recording) {
    return remember(recording, "texts", "", () => new Texts());
}

/**
 * @typedef {object} Functions
 * @property {Uint32Array} of the function by frame id
 * @property {number} count
 * @property {Uint32Array} text by function: an id of textsOf()
 * @property {Uint8Array} kind by function
 * @property {Uint32Array} frame by function: its first frame id; 0: it has none
 * @property {number} waiting the function that stands for the stacks of folded waiting processes
 */

/**
 * @param {Recording} recording
 * @returns {Functions}
 */
export function functionsOf(recording) {
    return remember(recording, "functions", "", () => makeFunctions(recording));
}

/** @param {Recording} recording */
function makeFunctions(recording) {
    const { frames, strings, header: { compares } } = recording;
    const texts = textsOf(recording), kinds = kindsOfFrames(recording);
    const builds = new PairTable(), pairs = new PairTable(), of = new Uint32Array(frames.kind.length);

    for (let id = 1; id < of.length; id++) {
        const symbol = frames.symbol[id], isOffset = compares && frames.unnamed[id];

        of[id] = pairs.add(texts.add(symbol ? strings[symbol] : "[unknown]"),
            builds.add(kinds[id], isOffset ? frames.build[id] : 0));
    }
    const waiting = pairs.add(texts.add(WAITING), builds.add(ROOT, 0)), { count } = pairs;
    const frame = new Uint32Array(count);

    for (let id = of.length - 1; id > 0; id--)
        frame[of[id]] = id;
    return { of, count, text: pairs.a.slice(0, count),
        kind: Uint8Array.from(pairs.b.subarray(0, count), (id) => builds.a[id]), frame, waiting };
}
