// SPDX-License-Identifier: Apache-2.0
/* The columns of tables with costs: self and total; in a comparison A, B, the change and its noise. */
import { callColumns } from "#view/call_columns";
import { element } from "#view/dom";
import { figureText, numberText, percentText, withPlus } from "#view/number_text";
import { halfColumns, samplesColumns, totalCell } from "#view/sure_columns";

/** @typedef {import("../types.js").Cost} Cost */
/** @typedef {import("../types.js").Weights} Weights */

/**
 * @typedef {object} CostScale
 * @property {Weights["unit"]} unit
 * @property {number} total the weight that is 100 %
 * @property {boolean} compares
 * @property {boolean} hasHalf totals have intervals
 * @property {boolean} hasCalls calls of some functions are known
 */

/** Equal for scales with the same columns. @param {CostScale} scale */
export const kindOfColumns = ({ unit, compares, hasHalf, hasCalls }) =>
    JSON.stringify([compares, unit === "samples", hasHalf, hasCalls && unit]);

/**
 * @param {() => CostScale} scale of the rows that are shown
 * @param {"self" | "total"} first which of both is first, if nothing is compared
 * @returns {import("./table.js").Column<Cost>[]}
 */
export function costColumns(scale, first) {
    const self = { title: "self", hint: "where it was the leaf" };
    const total = { title: "total", hint: "with its callees" };

    if (scale().compares)
        return changeColumns(scale);
    const both = first === "self" ? [self, total] : [total, self];

    return [...both.flatMap(({ title, hint }) => pairOfColumns(scale, title, hint)),
        ...halfColumns(scale().unit, scale().hasHalf),
        ...scale().hasCalls ? callColumns(scale().unit) : [],
        ...samplesColumns(scale().unit)];
}

/** The place of the change among costColumns() of a comparison. */
export const CHANGE_COLUMN = 2;

/**
 * A cost and its share.
 *
 * @param {() => CostScale} scale
 * @param {string} title "self" or "total"
 * @param {string} hint
 * @returns {import("./table.js").Column<Cost>[]}
 */
function pairOfColumns(scale, title, hint) {
    const amountOf = (/** @type {Cost} */ row) => (title === "self" ? row.self : row.total);

    return [
        { title, hint, width: "104px", number: true, order: amountOf,
            cell: (row) => (title === "self" ? figureText(row.self, scale().unit)
                : totalCell(row, scale().unit)) },
        { title: "", hint: "of all that is selected", width: "68px", number: true, order: null,
            cell: (row) => percentText(amountOf(row), scale().total) },
    ];
}

/**
 * @param {() => CostScale} scale
 * @returns {import("./table.js").Column<Cost>[]}
 */
function changeColumns(scale) {
    const text = (/** @type {number} */ amount) => figureText(amount, scale().unit);

    return [
        { title: "A", className: "side-a", width: "104px", number: true,
            order: (row) => row.against?.total ?? 0,
            cell: (row) => text(row.against?.total ?? 0) },
        { title: "B", className: "side-b", width: "104px", number: true,
            order: (row) => row.total, cell: (row) => text(row.total) },
        { title: "change", width: "112px", number: true,
            hint: "of total, from A to B, the largest first; grey where that may be chance",
            order: (row) => Math.abs(row.against?.change ?? 0),
            cell: (row) => changeCell(row, scale().unit) },
        { title: "\u00b1 noise", hint: "95 of 100 changes by chance are less", width: "96px",
            number: true, order: (row) => row.against?.noise ?? 0,
            cell: (row) => (isCompared(row) ? noiseText(row.against?.noise ?? 0, scale().unit) : "") },
    ];
}

/** "?" where windows are too few. @param {number} noise @param {Weights["unit"]} unit */
const noiseText = (noise, unit) => (Number.isFinite(noise) ? figureText(noise, unit) : "?");

/** @param {Cost} row */
const isCompared = ({ against }) => !Number.isNaN(against?.change);

/**
 * @param {Cost} row
 * @param {Weights["unit"]} unit
 */
function changeCell(row, unit) {
    if (!isCompared(row))
        return element("span", { className: "faint",
            title: "only the offset is known, in files of different builds" }, "not compared");
    const change = row.against?.change ?? 0, noise = row.against?.noise ?? 0;
    const className = Math.abs(change) <= noise ? "faint" : change > 0 ? "more" : "less";

    return element("span", { className },
        withPlus(change, unit === "samples" ? numberText(change) : figureText(change, unit)));
}
