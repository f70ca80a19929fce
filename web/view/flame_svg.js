// SPDX-License-Identifier: Apache-2.0
/* The visible part of the graph as SVG, in the colours and with the labels of the page. */
import { FONT, INSET, LEAST_LABEL, ROW } from "#view/flame_draw";

/** @typedef {import("./flamegraph.js").FlameGraph} FlameGraph */

/** @param {FlameGraph} graph */
export function graphSvg(graph) {
    const { scroller, canvas, painter } = graph;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const boxes = graph.parts.flatMap((part, index) => {
        const found = graph.boxesOf(index), texts = [];

        for (let i = 0; i < found.count; i++) {
            const from = Math.max(0, found.x[i]), to = Math.min(width, found.x[i] + found.width[i]);
            const y = graph.top(index, found.row[i]) - scroller.scrollTop;
            const isRun = found.run[i] > 0, node = found.node[i];
            const colour = isRun ? painter.merged ?? "" : painter.colourOf(part.picture, node);

            texts.push(boxText(from, y, to - from, hex(colour),
                isRun ? "" : part.picture.nameOf(node), painter));
        }
        return texts;
    });

    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" `
        + `style="font: ${FONT.replaceAll("'", "")}">\n`
        + `<rect width="100%" height="100%" fill="${hex(painter.background ?? "")}"/>\n`
        + `<g fill="${hex(painter.text ?? "")}">\n${boxes.join("")}</g>\n</svg>\n`;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {string} colour
 * @param {string} name "": several narrow frames
 * @param {FlameGraph["painter"]} painter
 */
function boxText(x, y, width, colour, name, { labels }) {
    const label = name && width >= LEAST_LABEL ? labels.fit(name, width - 2 * INSET) : "";
    const size = (/** @type {number} */ number) => Number(number.toFixed(2));

    return `<g><title>${escaped(name)}</title><rect x="${size(x)}" y="${size(y)}" `
        + `width="${size(Math.max(0.5, width - (width > 3 ? 1 : 0)))}" height="${ROW - 1}" `
        + `fill="${colour}"/>`
        + (label ? `<text x="${size(x + INSET)}" y="${size(y + ROW - 5)}">${escaped(label)}</text>`
            : "") + "</g>\n";
}

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"\p{Cc}]/gu, (character) =>
    `&#${character < " " ? 0xfffd : character.charCodeAt(0)};`);

/** @type {Map<string, string>} */
const known = new Map();

/** A colour of CSS as "#rrggbb", which all programs read. @param {string} colour */
function hex(colour) {
    let text = known.get(colour);

    if (text === undefined) {
        const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
            new OffscreenCanvas(1, 1).getContext("2d"));

        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        text = `#${[...context.getImageData(0, 0, 1, 1).data.subarray(0, 3)]
            .map((part) => part.toString(16).padStart(2, "0")).join("")}`;
        known.set(colour, text);
    }
    return text;
}
