// SPDX-License-Identifier: Apache-2.0
/* What a recording lacks, in the words of the summary (src/output/summary/summary.c). */
import { amountText, numberText } from "#view/number_text";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").Header["parts"][number]} Part */
/** @typedef {Part["losses"][number]} Loss */

/* Names of losses, of enum loss in src/profile/profile.h. */
const SAMPLES = ["ring_full", "bad_sample"], FRAMES = ["unknown_erlang", "unknown_native"];
const STACKS = ["stack_incomplete", "stack_truncated", "stack_pointer", "native_unwind",
    "kernel_stack", "kernel_entry", "memory"];

/** @param {Part} part @param {string[]} names */
const lossesOf = ({ losses }, names) => losses.filter(({ name }) => names.includes(name));

/** The number of lost samples. @param {Part} part */
export function lostOf(part) {
    return lossesOf(part, SAMPLES).reduce((sum, { count }) => sum + count, 0);
}

/** @param {Loss} loss */
export function sentenceOf({ count, sentence }) {
    return `${numberText(count)}: ${sentence}`;
}

/** @param {Loss[]} losses */
const hintOf = (losses) => losses.map(sentenceOf).join("\n");

/**
 * Stacks that are incomplete, and frames without a name, apart: nothing of either was lost.
 *
 * @param {Part} part
 */
function incompleteOf(part) {
    const { erlangSamples = 0, completeStacks = 0, truncatedStacks = 0, frames = 0,
        unknownErlangFrames = 0, unknownNativeFrames = 0 } = part.totals;
    const percent = (/** @type {number} */ of, /** @type {number} */ whole, digits = 1) =>
        `${(whole ? 100 * of / whole : 0).toFixed(digits)} %`;

    return [
        ...(erlangSamples ? [{ hint: hintOf(lossesOf(part, STACKS)),
            text: `Erlang stacks: ${percent(completeStacks, erlangSamples)} complete, `
                + `${percent(truncatedStacks, erlangSamples)} truncated` }] : []),
        ...(frames ? [{ hint: hintOf(lossesOf(part, FRAMES)),
            text: `frames: ${percent(unknownErlangFrames + unknownNativeFrames, frames, 2)} `
                + "unresolved" }] : []),
    ];
}

/**
 * Facts about what a part lacks. "none lost" only if nothing of any kind was; "no samples lost" if
 * all of them are there, and something else is not.
 *
 * @param {Recording} recording
 * @param {Part} part
 * @returns {{ text: string, hint: string }[]}
 */
export function lossFacts({ events, header }, part) {
    const index = header.parts.indexOf(part);
    const ofEvents = events.reduce((sum, { summaries }) => sum + (summaries[index]?.lost ?? 0), 0);
    const lost = Math.max(lostOf(part), ofEvents), { losses } = part;
    const others = losses.filter(({ name }) => ![...SAMPLES, ...STACKS, ...FRAMES].includes(name));
    const none = losses.length ? "no samples lost" : "none lost";
    const text = [part.cut && "cut off", lost && `${amountText(lost, "samples")} lost`,
        ...others.map(({ count, sentence }) => `${numberText(count)} ${sentence}`)]
        .filter(Boolean).join(", ");

    return [{ text: text || none, hint: hintOf(losses) }, ...incompleteOf(part)];
}
