// SPDX-License-Identifier: Apache-2.0
/* Describes a frame: in a tooltip beside the pointer, and as a sentence for screen readers. */
import { element, fill } from "#view/dom";
import { amountText, changeText, estimateText, numberText, percentText } from "#view/number_text";
import { rangeText } from "#view/time_text";
import { timeOfNode } from "#view/time_ticks";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").Halves} Halves */
/** @typedef {import("./flame_draw.js").Picture} Picture */

/**
 * @param {HTMLElement} tooltip
 * @param {(Node | string)[]} content empty: hide the tooltip
 * @param {number} x
 * @param {number} y
 */
export function showTooltip(tooltip, content, x, y) {
    tooltip.hidden = !content.length;
    if (!content.length)
        return;
    fill(tooltip, ...content);
    const { offsetWidth: width, offsetHeight: height } = tooltip;

    const top = y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18;

    tooltip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
    tooltip.style.top = `${top}px`;
}

/**
 * The place of the frame's code: "lists.erl:123", "/usr/lib/libc.so.6".
 *
 * @param {Recording} recording
 * @param {number} frame
 */
function sourceText({ frames, strings }, frame) {
    const file = strings[frames.file[frame]], line = frames.line[frame];
    const module = strings[frames.module[frame]];

    return [file && (line ? `${file}:${line}` : file), module].filter(Boolean).join(" \u2013 ");
}

/**
 * @param {Recording} recording
 * @param {Picture} picture
 * @param {number} node
 * @param {string[]} kinds names of kinds
 * @param {(side: 0 | 1) => Halves | null} halvesOf
 * @returns {(Node | string)[]}
 */
export function frameContent(recording, picture, node, kinds, halvesOf) {
    const { tree } = picture, frame = tree.frame[node];
    const source = frame ? sourceText(recording, frame) : "";

    return [
        element("div", {}, element("b", {}, picture.nameOf(node)),
            node ? element("span", { className: "faint" }, ` ${kinds[tree.kind[node]]}`) : null),
        source ? element("div", { className: "faint" }, source) : "",
        tree.time ? element("div", { className: "faint" },
            rangeText(recording.header, timeOfNode(tree, node))) : "",
        tree.total[1] ? comparedTable(tree, node, halvesOf) : plainTable(picture, node, halvesOf(0)),
    ].filter((part) => part !== "");
}

/** @param {(string | Node)[][]} rows */
function table(rows) {
    return element("table", {}, ...rows.map((cells) =>
        element("tr", {}, ...cells.map((cell) => element("td", {}, cell)))));
}

/**
 * @param {Picture} picture
 * @param {number} node
 * @param {Halves | null} halves
 */
function plainTable({ whole, tree }, node, halves) {
    const { self: [self], total: [total], samples: [samples], weights: { unit } } = tree;

    return table([
        ["total", estimateText(total[node], halves?.total ?? 0, unit),
            percentText(total[node], whole)],
        ["self", estimateText(self[node], halves?.self ?? 0, unit),
            percentText(self[node], whole)],
        ...(unit === "samples" ? []
            : [["samples", numberText(samples[node]), percentText(samples[node], samples[0])]])]);
}

/**
 * @param {Tree} tree
 * @param {number} node
 * @param {(side: 0 | 1) => Halves | null} halvesOf
 */
function comparedTable(tree, node, halvesOf) {
    const { unit } = tree.weights;
    const line = (/** @type {"total" | "self"} */ name) => {
        const [own, other] = tree[name], a = (other?.[node] ?? 0) * tree.scale, b = own[node];

        return [name, estimateText(a, (halvesOf(1)?.[name] ?? 0) * tree.scale, unit),
            estimateText(b, halvesOf(0)?.[name] ?? 0, unit),
            element("span", { className: b > a ? "more" : b < a ? "less" : "" },
                changeText(b - a, unit)), percentText(b - a, a)];
    };
    const head = (/** @type {"A" | "B"} */ side) =>
        element("b", { className: `side-${side.toLowerCase()}` }, side);

    return table([["", head("A"), head("B"), "change", ""], line("total"), line("self"),
        ["samples", numberText(tree.samples[1]?.[node] ?? 0),
            numberText(tree.samples[0][node]), "", ""]]);
}

/**
 * The weights of a frame as one sentence.
 *
 * @param {Picture} picture
 * @param {number} node
 * @param {Halves | null} halves
 */
export function frameSentence(picture, node, halves) {
    const { tree, whole } = picture, { self: [self], total, weights: { unit } } = tree;
    const half = total[1] ? 0 : halves?.total ?? 0;
    const amount = `total ${estimateText(total[0][node], half, unit)}, `
        + `${percentText(total[0][node], whole)}; self ${amountText(self[node], unit)}, `
        + percentText(self[node], whole);
    const other = (total[1]?.[node] ?? 0) * tree.scale;

    return `${picture.nameOf(node)}: ${amount}`
        + (total[1] ? `; change ${changeText(total[0][node] - other, unit)}` : "");
}
