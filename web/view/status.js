// SPDX-License-Identifier: Apache-2.0
/* The status line: the selection and its weight. The share that a search matches. */
import { amountText, changeText, numberText, percentText } from "#view/number_text";
import { rangeText } from "#view/heatmap";

/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("../types.js").View} View */

/** A value named "samples" of another program's recording has unit "count". @param {Tree} tree */
function unitOf({ weights: { name, unit } }) {
    return name === "samples" ? "samples" : unit;
}

/**
 * @param {Tree} tree
 * @param {number} side
 */
function amountOf(tree, side) {
    const { total, samples } = tree, unit = unitOf(tree);
    const amount = amountText(total[side]?.[0] ?? 0, unit);

    return unit === "samples" ? amount
        : `${amount} in ${amountText(samples[side]?.[0] ?? 0, "samples")}`;
}

/**
 * @param {View} view
 * @param {Tree} tree
 */
export function statusText({ range, against }, tree) {
    const { weights, total, scale } = tree;
    const unknown = weights.unknown
        ? `; not known at ${amountText(weights.unknown, "samples")}` : "";
    const what = unitOf(tree) === "samples" ? "" : `${weights.name}: `;
    const when = range ? ` from ${rangeText(range)}` : "";

    if (!total[1])
        return `Selected ${what}${amountOf(tree, 0)}${when}${unknown}`;
    const change = total[0][0] - total[1][0] * scale;

    return `This ${what}${amountOf(tree, 0)}${when}; other ${amountOf(tree, 1)}`
        + `${against ? ` from ${rangeText(against)}` : ""}`
        + `${scale === 1 ? "" : ` \u00d7 ${scale.toPrecision(4)}`}`
        + `; change ${changeText(change, unitOf(tree))}${unknown}`;
}

/**
 * "matched 12.3 % in 5 frames", or "" without a search.
 *
 * @param {Match[] | null} matches by tree
 */
export function matchedText(matches) {
    if (!matches)
        return "";
    const names = matches.length === 2 ? ["callers ", "callees "] : [""];

    return "matched " + matches.map(({ amounts, count }, i) => names[i]
        + amounts.map(({ matched, whole }) => percentText(matched, whole)).join(" and ")
        + ` in ${numberText(count)} frame${count === 1 ? "" : "s"}`).join(", ");
}
