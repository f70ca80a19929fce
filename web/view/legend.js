// SPDX-License-Identifier: Apache-2.0
/* The legend: the meaning of the colours that the graph has. */
import { element, fill, scrollByKeys } from "#view/dom";
import { KINDS } from "#analysis/kinds";
import { changeColour, kindColour, styleColour } from "#view/theme";

/** @typedef {import("./flame_draw.js").Picture} Picture */
/** @typedef {import("./theme.js").Theme} Theme */

/**
 * @param {Element} place
 * @param {Picture[]} pictures
 * @param {boolean} signed colours show changes, not kinds
 * @param {[string, string]} names of less and more
 * @param {Theme} theme
 */
export function showLegend(place, pictures, signed, names, theme) {
    const isPresent = (/** @type {number} */ kind) =>
        pictures.some(({ tree }) => tree.kind.includes(kind, 1));
    const entries = signed
        ? names.map((name, i) => ({ name, colour: changeColour(theme, i ? 1 : -1) }))
        : KINDS.map((name, kind) => ({ name, kind, colour: kindColour(theme, kind) }))
            .filter(({ kind }) => isPresent(kind))
            .concat(pictures.some(({ busy }) => busy)
                ? [{ name: "busy waiting", kind: -1, colour: styleColour("busy") }] : []);

    fill(place, ...entries.map(({ name, colour }) => {
        const dot = element("i", { className: "dot" });

        dot.style.background = colour;
        return element("span", {}, dot, name);
    }));
    scrollByKeys(place);
}
