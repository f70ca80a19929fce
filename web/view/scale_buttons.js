// SPDX-License-Identifier: Apache-2.0
/* The scales of the heatmap as buttons: how long a cell and a column are. */
import { COLUMN_MS } from "#analysis/heatmap_scales";
import { button, fill } from "#view/dom";

/** @typedef {import("../types.js").Scale} Scale */

const UNITS = /** @type {[number, string][]} */ ([[3600000, "h"], [60000, "min"], [1000, "s"], [1, "ms"]]);

/** "20 ms", "1 min". @param {number} ms */
function lengthText(ms) {
    const [size, unit] = UNITS.find(([least]) => ms >= least) ?? [1, "ms"];

    return `${ms / size} ${unit}`;
}

export class ScaleButtons {
    /**
     * @param {Element} place
     * @param {Scale[]} scales
     * @param {(scale: Scale) => void} onchoose
     */
    constructor(place, scales, onchoose) {
        this.scales = scales;
        this.buttons = scales.map((scale) =>
            button("", () => onchoose(scale), { role: "radio" }));
        fill(place, ...this.buttons);
    }

    /**
     * @param {Scale} chosen
     * @param {(scale: Scale) => number} cellMs
     */
    show(chosen, cellMs) {
        this.buttons.forEach((made, i) => {
            const scale = this.scales[i], cell = lengthText(cellMs(scale));
            const column = lengthText(COLUMN_MS[scale]);

            made.textContent = `${cell} \u00d7 ${column}`;
            made.title = `a cell is ${cell}, a column is ${column} (+ and -)`;
            made.setAttribute("aria-checked", String(scale === chosen));
        });
    }
}
