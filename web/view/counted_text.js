// SPDX-License-Identifier: Apache-2.0
/* The total of an event as text, with how sure it is. */
import { estimateText, numberText } from "#view/number_text";

/** @typedef {import("../types.js").Counted} Counted */
/** @typedef {import("../types.js").Weights["unit"]} Unit */

/**
 * "1.214 s \u00b1 0.030 s", "0 ns, at most 94 hits".
 *
 * @param {Counted} counted
 * @param {Unit} unit
 */
export function sumText({ sum, half, unseen }, unit) {
    return !sum && Number.isFinite(unseen) && unseen
        ? `${estimateText(0, 0, unit)}, at most ${numberText(unseen)} hits`
        : estimateText(sum, half, unit);
}
