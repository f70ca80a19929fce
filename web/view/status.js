// SPDX-License-Identifier: Apache-2.0
/* The status line: the selection and its weight. The share that a search matches. */
import { amountText, changeText, estimateText, numberText, percentText } from "#view/number_text";
import { sumText } from "#view/counted_text";
import { rangeText } from "#view/time_text";
import { weightText } from "#view/weight_text";

/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Header} Header */
/** @typedef {import("../types.js").Counted} Counted */
/** @typedef {import("../types.js").Halves} Halves */

/** A value named "samples" of another program's recording has unit "count". @param {Tree} tree */
function unitOf({ weights: { name, unit } }) {
    return name === "samples" ? "samples" : unit;
}

/**
 * @param {Tree} tree
 * @param {number} side
 * @param {Halves | null} halves of all that the tree has
 */
function amountOf(tree, side, halves) {
    const unit = unitOf(tree), sum = tree.total[side]?.[0] ?? 0;
    const count = tree.samples[side]?.[0] ?? 0;

    return unit === "samples" ? amountText(sum, unit)
        : `${estimateText(sum, halves?.total ?? 0, unit)} in ${amountText(count, "samples")}`;
}

/** "; of gc 4.6 ms ± 0.2 ms were counted, ...". @param {Counted | null} counted @param {Tree} tree */
function countedText(counted, tree) {
    if (!counted)
        return "";
    const unit = unitOf(tree), { event, share, windows } = counted;

    const cover = event === "wall"
        ? `${percentText(share, 1)} of the processes read in ${numberText(windows)} sweep`
        : `${percentText(share, 1)} of the time covered in ${numberText(windows)} window`;

    return `; ${event} in all: ${sumText(counted, unit)}, ${cover}${windows === 1 ? "" : "s"}`;
}

/**
 * @param {Tree} tree in order of time
 * @param {string} when
 */
function timeText({ time, total: [[whole]], self: [[unseen]], samples: [[samples]] }, when) {
    return `${time?.side ? `${time.side}: ` : ""}${time?.subject || "Nothing"} in order of time${when}: `
        + `${amountText(whole - unseen, "ns")} of ${amountText(whole, "ns")} seen in `
        + amountText(samples, "samples")
        + (time?.isCut ? "; the rest is not shown: select a shorter time" : "");
}

/**
 * @param {Header} header
 * @param {View} view
 * @param {Tree[]} trees the last one has all that is selected, in order of time only B
 * @param {Counted | null} counted
 * @param {(side: 0 | 1) => Halves | null} halvesOf all that the last tree has
 */
export function statusText(header, { range, against }, trees, counted, halvesOf) {
    const tree = trees[trees.length - 1], { weights, total, scale } = tree;
    const unknown = weights.unknown
        ? `; not known at ${amountText(weights.unknown, "samples")}` : "";
    const what = unitOf(tree) === "samples" ? "" : `${weightText(weights.name, weights.unit)}: `;
    const when = (/** @type {View["range"]} */ chosen) =>
        (chosen ? ` from ${rangeText(header, chosen)}` : "");

    if (tree.time)
        return trees.map((one) => timeText(one, when(one.time?.side === "A" ? against : range)))
            .join("; ");
    if (!total[1])
        return `Selected ${what}${amountOf(tree, 0, halvesOf(0))}${when(range)}${unknown}`
            + countedText(counted, tree);
    const change = total[0][0] - total[1][0] * scale;

    return `${what ? `${what[0].toUpperCase()}${what.slice(1)}` : ""}A `
        + `${amountOf(tree, 1, halvesOf(1))}${when(against)}`
        + `${scale === 1 ? "" : ` \u00d7 ${scale.toPrecision(4)}`}`
        + `; B ${amountOf(tree, 0, halvesOf(0))}${when(range)}`
        + `; change ${changeText(change, unitOf(tree))}${unknown}`;
}

/**
 * "matched 12.3 % in 5 frames", or "" without a search.
 *
 * @param {Match[] | null} matches by tree
 * @param {Tree[]} trees
 */
export function matchedText(matches, trees) {
    if (!matches)
        return "";
    const names = trees[0].time ? ["A ", "B "] : ["callers ", "callees "];

    return "matched " + matches.map(({ amounts, count }, i) => (trees.length > 1 ? names[i] : "")
        + amounts.map(({ matched, whole }) => percentText(matched, whole)).join(" and ")
        + ` in ${numberText(count)} frame${count === 1 ? "" : "s"}`).join(", ");
}
