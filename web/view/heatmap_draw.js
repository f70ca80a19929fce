// SPDX-License-Identifier: Apache-2.0
/* Draws the visible columns of a heatmap: cells, axis, selected ranges, marks, moments, cursor. */
import { heatScale, styleColour } from "#view/theme";
import { clockText } from "#view/number_text";

/** @typedef {import("../types.js").Cells} Cells */
/** @typedef {import("../types.js").Header} Header */
/** @typedef {import("../types.js").Range} Range */
/** @typedef {import("./theme.js").Theme} Theme */

export const AXIS = 18;
const STEPS = 64;
const LETTER = 15; /* px of the square with the letter of a range */
const HATCH = 5; /* px between lines, across */
const FONT = "10.5px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
/* Seconds between labels of the axis. */
const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400];

/**
 * @typedef {object} Scene
 * @property {Cells} cells
 * @property {Uint8Array | null} marks by cell, 1 if the search matches a sample; null: no search
 * @property {Header} header
 * @property {number} left px scrolled out of view on the left
 * @property {number} width
 * @property {number} columnWidth
 * @property {number} rowHeight
 * @property {Range | null} range
 * @property {Range | null} against
 * @property {number} cursor number of a cell, -1: none
 */

/**
 * The place of a time, px from the left edge of the canvas. Time runs to the right only.
 *
 * @param {Pick<Scene, "cells" | "left" | "columnWidth">} scene
 * @param {number} time ms on the axis
 */
export const placeOf = ({ cells, left, columnWidth }, time) =>
    (time - cells.start) / cells.columnMs * columnWidth - left;

export class HeatPainter {
    /** @param {CanvasRenderingContext2D} context */
    constructor(context) {
        this.context = context;
        this.image = document.createElement("canvas");
        this.hatches = document.createElement("canvas");
        this.setTheme("light");
    }

    /** @param {Theme} theme */
    setTheme(theme) {
        this.positive = heatScale(theme, "positive", STEPS);
        this.negative = heatScale(theme, "negative", STEPS);
        this.colours = Object.fromEntries(["surface", "gap", "cell", "text-faint", "line", "range",
            "a", "b", "mark", "accent"].map((name) => [name, styleColour(name)]));
        this.hatching = this.context.createPattern(hatchTile(this.colours["text-faint"]), "repeat");
    }

    /** @param {Scene} scene */
    draw(scene) {
        const { context } = this, { cells, width, columnWidth } = scene;
        const first = Math.max(0, Math.floor(scene.left / columnWidth));
        const last = Math.min(cells.columns, Math.ceil((scene.left + width) / columnWidth));

        context.fillStyle = this.colours?.surface ?? "";
        context.fillRect(0, 0, width, cells.rows * scene.rowHeight + AXIS);
        if (last <= first)
            return;
        this.drawCells(scene, first, last);
        this.drawHatches(scene, first, last);
        this.drawColumnGaps(scene, first, last);
        this.drawMarks(scene, first, last);
        this.drawRange(scene, scene.against, "a");
        this.drawRange(scene, scene.range, scene.against ? "b" : "range");
        this.drawMoments(scene);
        this.drawCursor(scene);
        this.drawAxis(scene, first, last);
    }

    /**
     * Draw an image with one pixel per cell, and enlarge it: that is fast for any number of cells.
     *
     * @param {Scene} scene
     * @param {number} first
     * @param {number} last
     */
    drawCells(scene, first, last) {
        const { cells, left, columnWidth, rowHeight } = scene;
        const columns = last - first, { rows } = cells;
        const pixels = new ImageData(columns, rows), words = new Uint32Array(pixels.data.buffer);

        for (let column = 0; column < columns; column++) {
            for (let row = 0; row < rows; row++) {
                const cell = (first + column) * rows + row;
                const pixel = isHatched(cells, cell) ? pixelOf(this.colours?.gap ?? "")
                    : this.pixel(cells, cells.of[cell]);

                words[(rows - 1 - row) * columns + column] =
                    standsOut(scene, cell) ? pixel : faded(pixel);
            }
        }
        this.image.width = columns;
        this.image.height = rows;
        this.image.getContext("2d")?.putImageData(pixels, 0, 0);

        const x = first * columnWidth - left, { context } = this;

        context.imageSmoothingEnabled = false;
        context.drawImage(this.image, x, 0, columns * columnWidth, rows * rowHeight);
    }

    /**
     * Hatch the cells in which the event could not be seen: cut the hatching out by an image with
     * one pixel per cell.
     *
     * @param {Scene} scene
     * @param {number} first
     * @param {number} last
     */
    drawHatches(scene, first, last) {
        const { cells, left, columnWidth, rowHeight } = scene, columns = last - first;
        const { rows } = cells, pixels = new ImageData(columns, rows);
        const words = new Uint32Array(pixels.data.buffer), width = columns * columnWidth;
        let any = false;

        for (let cell = first * rows; cell < last * rows; cell++) {
            if (isHatched(cells, cell)) {
                words[(rows - 1 - cell % rows) * columns + Math.floor(cell / rows) - first] =
                    0xffffffff;
                any = true;
            }
        }
        if (!any)
            return;
        this.image.getContext("2d")?.putImageData(pixels, 0, 0);
        this.drawHatching(width, rows * rowHeight);
        this.context.drawImage(this.hatches, 0, 0, this.hatches.width, this.hatches.height,
            first * columnWidth - left, 0, width, rows * rowHeight);
    }

    /**
     * Draw lines into `hatches`, where `image` is opaque.
     *
     * @param {number} width px
     * @param {number} height px
     */
    drawHatching(width, height) {
        const { hatches } = this, lines = /** @type {CanvasRenderingContext2D} */ (
            hatches.getContext("2d"));

        hatches.width = Math.ceil(width * devicePixelRatio);
        hatches.height = Math.ceil(height * devicePixelRatio);
        lines.imageSmoothingEnabled = false;
        lines.drawImage(this.image, 0, 0, hatches.width, hatches.height);
        lines.globalCompositeOperation = "source-in";
        lines.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        lines.fillStyle = this.hatching ?? "";
        lines.fillRect(0, 0, width + 1, height + 1);
    }

    /**
     * The colour of a cell. The scale is a square root, so that a cell with a small weight looks
     * different from an empty one.
     *
     * @param {Cells} cells
     * @param {number} amount
     */
    pixel(cells, amount) {
        const scale = amount < 0 ? this.negative : this.positive;
        const most = amount < 0 ? cells.least : cells.greatest;

        if (Number.isNaN(amount))
            return pixelOf(this.colours?.gap ?? "");
        if (!amount || !most || !scale)
            return this.empty();
        return scale[Math.max(1, Math.round(Math.sqrt(Math.min(1, amount / most)) * (STEPS - 1)))];
    }

    empty() {
        return pixelOf(this.colours?.cell ?? "");
    }

    /**
     * @param {Scene} scene
     * @param {number} first
     * @param {number} last
     */
    drawColumnGaps({ cells, left, columnWidth, rowHeight }, first, last) {
        if (columnWidth < 6)
            return;
        this.context.fillStyle = this.colours?.surface ?? "";
        for (let column = first; column < last; column++)
            this.context.fillRect((column + 1) * columnWidth - left - 1, 0, 1,
                cells.rows * rowHeight);
    }

    /**
     * @param {Scene} scene
     * @param {number} first
     * @param {number} last
     */
    drawMarks({ cells, marks, left, columnWidth, rowHeight }, first, last) {
        const { rows } = cells;

        if (!marks)
            return;
        this.context.fillStyle = this.colours?.mark ?? "";
        for (let cell = first * rows; cell < last * rows; cell++) {
            if (marks[cell]) {
                const x = Math.floor(cell / rows) * columnWidth - left;

                this.context.fillRect(x, (rows - 1 - cell % rows) * rowHeight,
                    Math.min(3, columnWidth / 2), rowHeight);
            }
        }
    }

    /**
     * Draw a range below the cells, at least 2 px wide, so that a very short range is visible; in a
     * comparison with its letter.
     *
     * @param {Scene} scene
     * @param {Range | null} range
     * @param {"a" | "b" | "range"} name of its colour
     */
    drawRange(scene, range, name) {
        const { context } = this, y = scene.cells.rows * scene.rowHeight;

        if (!range)
            return;
        const from = placeOf(scene, range.from), to = placeOf(scene, range.to);

        context.fillStyle = this.colours?.[name] ?? "";
        context.fillRect(from, y, Math.max(2, to - from), 4);
        if (name === "range")
            return;
        context.fillRect(from, y - LETTER, LETTER, LETTER);
        context.fillStyle = this.colours?.surface ?? "";
        context.font = `bold ${FONT}`;
        context.textBaseline = "middle";
        context.textAlign = "center";
        context.fillText(name.toUpperCase(), from + LETTER / 2, y - LETTER / 2 + 1);
        context.textAlign = "start";
    }

    /**
     * Draw a line at the column of each moment, and its label, unless that would cover another one.
     *
     * @param {Scene} scene
     */
    drawMoments({ cells, header: { moments }, left, width, columnWidth, rowHeight }) {
        const { context } = this;
        let free = 0; /* px from which on there is no label */

        context.font = FONT;
        context.textBaseline = "top";
        for (const { time, label } of moments) {
            const x = Math.floor((time - cells.start) / cells.columnMs) * columnWidth - left;
            const size = context.measureText(label).width + 6;

            if (x < -columnWidth || x > width)
                continue;
            context.fillStyle = this.colours?.accent ?? "";
            context.fillRect(x, 0, 2, cells.rows * rowHeight);
            if (x < free || x + size > width)
                continue;
            context.fillStyle = this.colours?.surface ?? "";
            context.fillRect(x + 2, 0, size, 14);
            context.fillStyle = this.colours?.accent ?? "";
            context.fillText(label, x + 5, 2);
            free = x + size;
        }
    }

    /** @param {Scene} scene */
    drawCursor({ cells, cursor, left, columnWidth, rowHeight }) {
        if (cursor < 0)
            return;
        const x = Math.floor(cursor / cells.rows) * columnWidth - left;
        const y = (cells.rows - 1 - cursor % cells.rows) * rowHeight;

        this.context.strokeStyle = this.colours?.accent ?? "";
        this.context.lineWidth = 2;
        this.context.strokeRect(x - 1, y - 1, Math.max(4, columnWidth) + 1, rowHeight + 2);
    }

    /**
     * @param {Scene} scene
     * @param {number} first
     * @param {number} last
     */
    drawAxis(scene, first, last) {
        const { cells: { start, columnMs }, columnWidth, header: { parts, compares } } = scene;
        const columnSeconds = columnMs / 1000, width = columnWidth / columnSeconds; /* of a second, px */
        const every = TICKS.find((tick) => tick * width >= 64) ?? 86400;
        const clocks = compares ? parts : [{ from: 0, to: Infinity }];

        for (const { from, to } of clocks) {
            const origin = (start - from) / 1000;
            const begin = Math.max(0, Math.ceil((origin + first * columnSeconds) / every) * every);
            const end = Math.min(origin + last * columnSeconds, (to - from) / 1000);

            for (let second = begin; second <= end; second += every)
                this.drawTick(scene, (second - origin) * width, clockText(second * 1000, 0));
        }
    }

    /**
     * @param {Scene} scene
     * @param {number} place px from the first column
     * @param {string} text
     */
    drawTick({ cells, left, width, rowHeight }, place, text) {
        const { context } = this, x = place - left, y = cells.rows * rowHeight;

        context.font = FONT;
        context.textBaseline = "middle";
        context.fillStyle = this.colours?.["text-faint"] ?? "";
        context.fillRect(x, y, 1, 4);
        if (x + 4 + context.measureText(text).width <= width)
            context.fillText(text, x + 4, y + AXIS / 2 + 2);
    }
}

/**
 * True if a cell is not faded: it is in a selected range, if there is one, and it has a match, if
 * something is searched.
 *
 * @param {Scene} scene
 * @param {number} cell
 */
function standsOut({ cells, marks, range, against }, cell) {
    const middle = cells.start + (cell + 0.5) * cells.cellMs;
    const isIn = (/** @type {Range | null} */ chosen) =>
        chosen !== null && middle >= chosen.from && middle < chosen.to;

    return (!marks || marks[cell] !== 0) && (!(range || against) || isIn(range) || isIn(against));
}

/**
 * True if the event could not be seen in a cell of the recording. A cell with a weight is shown.
 *
 * @param {Cells} cells
 * @param {number} cell
 */
function isHatched({ of, covered }, cell) {
    return covered !== null && !covered[cell] && of[cell] === 0;
}

/**
 * A tile of thin diagonal lines.
 *
 * @param {string} colour
 */
function hatchTile(colour) {
    const tile = document.createElement("canvas");
    const context = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));

    tile.width = tile.height = HATCH;
    context.strokeStyle = colour;
    context.globalAlpha = 0.45;
    for (const x of [-HATCH, 0, HATCH]) { /* also the corners */
        context.moveTo(x, HATCH);
        context.lineTo(x + HATCH, 0);
    }
    context.stroke();
    return tile;
}

/**
 * A pixel with less opacity. Alpha is the highest byte of a word of ImageData.
 *
 * @param {number} pixel
 */
function faded(pixel) {
    return (pixel & 0xffffff | Math.round((pixel >>> 24) * 0.35) << 24) >>> 0;
}

/** @type {Map<string, number>} */
const pixels = new Map();

/** A colour of style.css as a pixel of ImageData. @param {string} colour */
function pixelOf(colour) {
    let pixel = pixels.get(colour);

    if (pixel === undefined) {
        const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
            new OffscreenCanvas(1, 1).getContext("2d"));

        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        pixel = new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
        pixels.set(colour, pixel);
    }
    return pixel;
}
