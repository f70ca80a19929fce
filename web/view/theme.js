// SPDX-License-Identifier: Apache-2.0
/*
 * The themes dark and light, and the colours of the canvases. All other colours are in style.css.
 *
 * The colours of kinds are far from each other in OKLab, also with each form of colour blindness
 * (Machado et al. 2009, at full severity): where hues look the same, the lightness differs. Text is
 * readable on each colour (WCAG 2, AA).
 */

import { keep, kept } from "#view/kept";

/** @typedef {"light" | "dark"} Theme */
/** @typedef {[lightness: number, chroma: number, hue: number]} Oklch */

/** By Kind. @type {Record<Theme, Oklch[]>} */
const KIND_COLOURS = {
    light: [
        [0.93, 0.014, 255], /* root */
        [0.795, 0.115, 61], /* Erlang */
        [0.885, 0.13, 98], /* BIF, NIF */
        [0.82, 0.04, 210], /* JIT runtime */
        [0.76, 0.115, 249], /* native */
        [0.62, 0.08, 174], /* kernel */
        [0.96, 0.006, 260], /* mark */
        [0.695, 0.096, 322], /* Elixir */
        [0.645, 0.17, 29], /* garbage collection */
    ],
    dark: [
        [0.66, 0.02, 260],
        [0.755, 0.115, 61],
        [0.845, 0.1, 108],
        [0.765, 0.07, 192],
        [0.69, 0.11, 253],
        [0.625, 0.09, 158],
        [0.57, 0.01, 260],
        [0.61, 0.115, 320],
        [0.585, 0.155, 32],
    ],
};

/* Blue for less, vermilion for more, and so for A and B of a comparison: they look different with
 * each form of colour blindness. */
/** @type {Record<Theme, { less: Oklch, even: Oklch, more: Oklch }>} */
const CHANGE_COLOURS = {
    light: { less: [0.68, 0.14, 250], even: [0.94, 0.006, 260], more: [0.7, 0.16, 38] },
    dark: { less: [0.66, 0.13, 250], even: [0.6, 0.006, 260], more: [0.68, 0.15, 38] },
};

/* The colours of the heatmap, from the least to the greatest absolute weight. */
/** @type {Record<Theme, { positive: Oklch[], negative: Oklch[] }>} */
const HEAT_COLOURS = {
    light: { positive: [[0.955, 0.03, 85], [0.87, 0.1, 76], [0.74, 0.145, 58], [0.57, 0.155, 40]],
        negative: [[0.95, 0.02, 250], [0.84, 0.07, 248], [0.69, 0.12, 252], [0.52, 0.13, 258]] },
    dark: { positive: [[0.3, 0.045, 50], [0.45, 0.09, 50], [0.62, 0.13, 58], [0.83, 0.11, 80]],
        negative: [[0.3, 0.05, 260], [0.45, 0.1, 258], [0.62, 0.12, 252], [0.83, 0.08, 245]] },
};

/* The number of shades of a kind. They distinguish modules. */
export const SHADES = 5;

/** @param {Oklch} colour */
const css = ([lightness, chroma, hue]) => `oklch(${lightness} ${chroma} ${hue})`;

/**
 * @param {Oklch} a
 * @param {Oklch} b
 * @param {number} part of b, 0..1
 * @returns {Oklch}
 */
function mixed(a, b, part) {
    return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part];
}

/**
 * @param {Theme} theme
 * @param {number} kind
 * @param {number} [shade] 0 .. SHADES - 1
 */
export function kindColour(theme, kind, shade = (SHADES - 1) / 2) {
    const [lightness, chroma, hue] = KIND_COLOURS[theme][kind];
    const off = shade / (SHADES - 1) - 0.5;

    return css([lightness + off * 0.045, chroma, hue + (chroma > 0.03 ? off * 10 : 0)]);
}

/**
 * The colour of a change from -1 (all weight is in the other side) to 1 (none is).
 *
 * @param {Theme} theme
 * @param {number} change
 */
export function changeColour(theme, change) {
    const { less, even, more } = CHANGE_COLOURS[theme];
    const end = change < 0 ? less : more;
    const [lightness, chroma] = mixed(even, end, Math.min(1, Math.abs(change)));

    return css([lightness, chroma, end[2]]);
}

/**
 * The colours of the heatmap's scale, in steps.
 *
 * @param {Theme} theme
 * @param {"positive" | "negative"} sign
 * @param {number} steps
 * @returns {Uint32Array} pixels of ImageData, in native byte order
 */
export function heatScale(theme, sign, steps) {
    const stops = HEAT_COLOURS[theme][sign];
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
        new OffscreenCanvas(steps, 1).getContext("2d", { willReadFrequently: true }));

    for (let i = 0; i < steps; i++) {
        const at = i / (steps - 1) * (stops.length - 1), stop = Math.min(stops.length - 2, at | 0);

        context.fillStyle = css(mixed(stops[stop], stops[stop + 1], at - stop));
        context.fillRect(i, 0, 1, 1);
    }
    return new Uint32Array(context.getImageData(0, 0, steps, 1).data.buffer);
}

/** A colour of style.css. @param {string} name */
export function styleColour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const KEPT_AS = "beamflame-theme";

/** The theme of the page: the system's theme until the user switches. */
export class ThemeSwitch {
    /** @param {() => void} onchange */
    constructor(onchange) {
        const system = matchMedia("(prefers-color-scheme: dark)");
        const chosen = kept(KEPT_AS);

        /** @type {Theme} */
        this.theme = chosen === "dark" || chosen === "light" ? chosen
            : system.matches ? "dark" : "light";
        this.onchange = onchange;
        document.documentElement.dataset.theme = this.theme;
        system.addEventListener("change", () => {
            if (!kept(KEPT_AS))
                this.show(system.matches ? "dark" : "light");
        });
    }

    toggle() {
        this.show(this.theme === "dark" ? "light" : "dark");
        keep(KEPT_AS, this.theme);
    }

    /** @param {Theme} theme */
    show(theme) {
        this.theme = theme;
        document.documentElement.dataset.theme = theme;
        this.onchange();
    }
}
