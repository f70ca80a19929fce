// SPDX-License-Identifier: Apache-2.0
/* The path of the zoomed frame, above the graph: "all › worker › lists:map/2  6.6 s, 22.5 %  ✕". */
import { button, element, fill } from "#view/dom";
import { estimateText, percentText } from "#view/number_text";
import { nodeOfPath } from "#view/flame_path";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Halves} Halves */
/** @typedef {import("./flame_draw.js").Picture} Picture */

/* Of a longer path, the frames at both ends. */
const FIRST = 2, LAST = 3;

/**
 * @param {HTMLElement} place
 * @param {Picture} picture of the part that is zoomed
 * @param {View["zoom"]} zoom
 * @param {(node: number, side: 0 | 1) => Halves | null} halvesOf
 * @param {(zoom: View["zoom"]) => void} onzoom
 */
export function showPath(place, picture, zoom, halvesOf, onzoom) {
    const { tree, whole } = picture, { unit } = tree.weights, path = zoom?.path ?? [];
    const node = nodeOfPath(tree, path), depth = tree.depth[node], total = tree.total[0][node];
    const part = zoom?.part ?? 0, known = path.slice(0, depth);
    const parts = [picture.all, ...known].map((name, at) => button(name,
        () => onzoom(at ? { part, path: known.slice(0, at) } : null),
        { className: "plain", title: name, "aria-current": String(at === depth) }));
    const shown = parts.filter((_, at) => at < FIRST || at > depth - LAST);

    if (shown.length < parts.length)
        shown.splice(FIRST, 0, element("button", { type: "button", className: "plain",
            title: known.slice(FIRST - 1, depth - LAST).join("\n"), "aria-label": "frames between",
            onclick: () => onzoom({ part, path: known.slice(0, depth - LAST) }) }, "\u2026"));
    fill(place, ...shown.flatMap((made, at) => [at ? element("span", { "aria-hidden": true,
        className: "faint" }, "\u203a") : null, made]),
    element("span", { className: "amount" }, tree.total[1]
        ? comparedText(tree, node, halvesOf)
        : `${estimateText(total, halvesOf(node, 0)?.total ?? 0, unit)}, ${percentText(total, whole)}`),
    depth ? button("\u2715", () => onzoom(null), { className: "plain", title: "zoom out (0)",
        "aria-label": "zoom out" }) : null);
}

/**
 * "A 6.60 s (scaled), B 7.10 s": with the factor of the status line.
 *
 * @param {Picture["tree"]} tree
 * @param {number} node
 * @param {(node: number, side: 0 | 1) => Halves | null} halvesOf
 */
function comparedText({ total, scale, weights: { unit } }, node, halvesOf) {
    const text = (/** @type {0 | 1} */ side, /** @type {number} */ by) =>
        estimateText((total[side]?.[node] ?? 0) * by, (halvesOf(node, side)?.total ?? 0) * by, unit);

    return `A ${text(1, scale)}${scale === 1 ? "" : " (scaled)"}, B ${text(0, 1)}`;
}
