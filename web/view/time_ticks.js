// SPDX-License-Identifier: Apache-2.0
/* The axis of a graph in order of time, and the time of its nodes. */
import { FONT, INSET, ROW } from "#view/flame_draw";
import { clockText } from "#view/number_text";
import { styleColour } from "#view/theme";

/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").Range} Range */

const APART = 110; /* least distance of labels, px */
const STEPS = [1, 2, 5]; /* times a power of ten, ms */
const LINE = 3; /* px */

/** "A worker <0.85.0>": what a tree in order of time shows. @param {Tree} tree */
export const timeName = ({ time }) =>
    [time?.side, time?.subject || "nothing"].filter(Boolean).join(" ");

/**
 * The time of a node, in whole ms on the axis.
 *
 * @param {Tree} tree in order of time
 * @param {number} node
 * @returns {Range}
 */
export function timeOfNode({ time, total }, node) {
    const { from = 0, start = total[0] } = time ?? {};

    return { from: Math.floor(from + start[node] / 1e6),
        to: Math.ceil(from + (start[node] + total[0][node]) / 1e6) };
}

/**
 * Draw times into the row of node 0, right of its label; in a comparison with a line in its colour.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{ from: number, to: number, picture: { tree: Tree } }} part `from` and `to` in ns
 * @param {number} top of the row, px
 * @param {number} free where the label ends, px
 * @param {number} width px
 */
export function drawTimeTicks(context, { from, to, picture: { tree: { time } } }, top, free, width) {
    if (!(width > 0 && to > from))
        return;
    const scale = width / (to - from) * 1e6; /* px a ms */
    const base = (time?.from ?? 0) - (time?.clock ?? 0);
    const power = 10 ** Math.floor(Math.log10(APART / scale));
    const step = (STEPS.find((size) => size * power * scale >= APART) ?? 10) * power;
    const decimals = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(step))));

    if (time?.side) {
        context.fillStyle = styleColour(time.side === "A" ? "a" : "b");
        context.fillRect(0, time.side === "A" ? top + ROW - LINE - 1 : top, width, LINE);
    }
    context.font = FONT;
    context.textBaseline = "middle";
    context.fillStyle = styleColour("box-text");
    for (let ms = Math.ceil((base + from / 1e6) / step) * step; ; ms += step) {
        const x = (ms - base - from / 1e6) * scale, text = clockText(ms, decimals);

        if (x > width)
            return;
        if (x < free + INSET)
            continue;
        context.fillRect(x, top, 1, ROW - 1);
        if (x + INSET + context.measureText(text).width <= width)
            context.fillText(text, x + INSET, top + ROW / 2);
    }
}
