// SPDX-License-Identifier: Apache-2.0
/*
 * Classes of samples that are alike in some columns. What depends on these columns only is computed once
 * for a class: a recording has a million samples, but some hundred classes.
 */
import { bottomsOf } from "#analysis/bottoms";
import { remember } from "#analysis/memo";
import { PairTable } from "#analysis/pair_table";
import { PORT, namedByStack, showsThread } from "#analysis/root_texts";

/** @typedef {import("../types").Recording} Recording */

/**
 * @typedef {object} Classes
 * @property {Uint32Array} of the class by sample
 * @property {Uint32Array} first by class, its first sample
 */

/**
 * Split classes by a column.
 *
 * @param {Classes} classes
 * @param {ArrayLike<number>} column by sample; whole numbers
 * @returns {Classes}
 */
export function finer({ of: coarse, first: before }, column) {
    const pairs = new PairTable(before.length * 2), of = new Uint32Array(coarse.length);
    /** @type {number[]} */
    const first = [];

    for (let i = 0; i < of.length; i++) {
        const id = of[i] = pairs.add(coarse[i], column[i]);

        if (id === first.length)
            first.push(i);
    }
    return { of, first: Uint32Array.from(first) };
}

/**
 * The classes of samples with the same process, or activity of a thread without one, and with the same
 * root function if it names the process.
 *
 * @param {Recording} recording
 * @returns {Classes}
 */
export function whoClasses(recording) {
    return remember(recording, "who", "", () => {
        const { process, stack, activity, named, complete, thread, detail } = recording.samples;
        const bottoms = bottomsOf(recording), isByStack = namedByStack(recording);
        const known = new PairTable(), pairs = new PairTable(), of = new Uint32Array(process.length);
        /* By process, the class of its last sample, and what makes it: most samples are as the last. */
        const classes = new Uint32Array(isByStack.length);
        const newest = new Float64Array(isByStack.length).fill(-1);
        /** @type {number[]} */
        const first = [];

        for (let i = 0; i < of.length; i++) {
            const who = process[i] ? (isByStack[process[i]] ? bottoms[stack[i]] : 0)
                : activity[i] === PORT ? detail[i] : showsThread(activity[i]) ? thread[i] : 0;
            const flags = activity[i] * 4 + named[i] * 2 + complete[i], id = process[i];
            const key = who * 1024 + flags; /* activity is below 256 */

            if (newest[id] !== key) {
                newest[id] = key;
                classes[id] = pairs.add(known.add(id, flags), who);
                if (classes[id] === first.length)
                    first.push(i);
            }
            of[i] = classes[id];
        }
        return { of, first: Uint32Array.from(first) };
    });
}
