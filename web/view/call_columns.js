// SPDX-License-Identifier: Apache-2.0
/* The columns of the calls of functions, where events of the recording counted them. */
import { estimateText, numberText } from "#view/number_text";

/** @typedef {import("../types.js").Cost} Cost */
/** @typedef {import("../types.js").CallCount} CallCount */
/** @typedef {import("../types.js").Weights["unit"]} Unit */
/** @typedef {Cost & { calls?: CallCount | null }} Row */

/** True if the unit of a total says something of one call. @param {Unit} unit */
const hasPerCall = (unit) => unit === "ns" || unit === "words" || unit === "bytes";

/**
 * @param {Unit} unit of totals
 * @returns {import("./table.js").Column<Row>[]}
 */
export function callColumns(unit) {
    /** @type {import("./table.js").Column<Row>[]} */
    const columns = [{ title: "calls", hint: "counted by events; without \u00b1 they are exact",
        width: "116px", number: true, order: ({ calls }) => calls?.calls ?? NaN,
        cell: ({ calls }) => (calls ? estimateText(calls.calls, calls.half, "count") : "") }];

    if (hasPerCall(unit))
        columns.push({ title: "per call", hint: "the total by calls: of a call with its callees",
            width: "140px", number: true, order: perCall, cell: (row) => perCallText(row, unit) });
    return columns;
}

/** The total of a call; NaN: calls are not known, or are 0. @param {Row} row */
const perCall = ({ total, calls }) => (calls?.calls ? total / calls.calls : NaN);

/**
 * Relative errors of a quotient add up as squares (prof_row_per_call_half()).
 *
 * @param {Row} row
 * @param {Unit} unit
 */
function perCallText(row, unit) {
    const { total, half, calls } = row, one = perCall(row);

    if (Number.isNaN(one) || !calls)
        return "";
    const own = one * Math.hypot(total ? half / total : 0, calls.half / calls.calls);

    return unit === "words" ? wordsText(one, own) : estimateText(one, own, unit);
}

/**
 * "2.1 \u00b1 0.2": a call can allocate few words.
 *
 * @param {number} words
 * @param {number} half
 */
function wordsText(words, half) {
    const text = (/** @type {number} */ number) =>
        (number < 100 ? number.toFixed(1) : numberText(number));

    if (!half)
        return text(words);
    return `${text(words)} \u00b1 ${Number.isNaN(half) ? "?" : text(half)}`;
}
