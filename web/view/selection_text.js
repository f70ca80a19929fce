// SPDX-License-Identifier: Apache-2.0
/* The selection as text, for a message: what is shown, and the functions with most of it. */
import { estimateText, percentText } from "#view/number_text";

/** @typedef {import("../types.js").FunctionRow} FunctionRow */
/** @typedef {import("../types.js").Weights} Weights */

const ROWS = 30;

/**
 * @param {string[]} head lines about what is selected
 * @param {FunctionRow[]} rows
 * @param {Weights} weights
 * @param {number} whole the weight that is 100 %
 */
export function selectionText(head, rows, { unit }, whole) {
    const most = rows.slice().sort((a, b) => Math.abs(b.self) - Math.abs(a.self)).slice(0, ROWS);
    const lines = most.map(({ name, self, total, half }) => [percentText(self, whole).padStart(7),
        percentText(total, whole).padStart(8), estimateText(total, half, unit).padStart(24),
        ` ${name}`].join(" "));

    return [...head, "", "   self    total          total, absolute  function", ...lines, ""]
        .join("\n");
}
