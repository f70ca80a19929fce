// SPDX-License-Identifier: Apache-2.0
/* Files of what the page shows: the graph as SVG and PNG, and texts. The clipboard. */
import { element } from "#view/dom";
import { graphSvg } from "#view/flame_svg";

/** @typedef {import("./flamegraph.js").FlameGraph} FlameGraph */

/**
 * Let the browser save a file.
 *
 * @param {string} name
 * @param {Blob} blob
 */
function save(name, blob) {
    const address = URL.createObjectURL(blob);

    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/**
 * @param {string} name
 * @param {string} text
 */
export function saveText(name, text) {
    save(name, new Blob([text], { type: "text/plain" }));
}

/**
 * Save the part of the graph that is in sight.
 *
 * @param {string} name
 * @param {FlameGraph} graph
 */
export function savePng(name, graph) {
    graph.canvas.toBlob((blob) => {
        if (blob)
            save(name, blob);
    });
}

/**
 * The same as a vector graphic. Names are cut as on the page; the pointer on a frame shows all.
 *
 * @param {string} name
 * @param {FlameGraph} graph
 */
export function saveSvg(name, graph) {
    save(name, new Blob([graphSvg(graph)], { type: "image/svg+xml" }));
}

/** Copy a text. A page opened from a file may have no clipboard. @param {string} text */
export function copy(text) {
    navigator.clipboard?.writeText(text).catch(() => {});
}
