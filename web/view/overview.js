// SPDX-License-Identifier: Apache-2.0
/*
 * The overview of a long recording: all of it in one strip, with the window that the heatmap below
 * shows. A drag or the keys move the window.
 */
import { element } from "#view/dom";
import { styleColour } from "#view/theme";
import { rangeText } from "#view/time_text";

/** @typedef {import("../types.js").Cells} Cells */
/** @typedef {import("../types.js").Header} Header */
/** @typedef {import("../types.js").Range} Range */
/** @typedef {{ cells: Cells, range: Range | null, against: Range | null }} Shown */

const HEIGHT = 30, BAND = 4; /* px of the strip, and of its ranges at the bottom */

export class Overview {
    /**
     * @param {HTMLElement} place
     * @param {Header} header
     * @param {(middle: number) => void} onmove the middle of the window, ms on the axis
     */
    constructor(place, header, onmove) {
        this.place = place;
        this.header = header;
        this.onmove = onmove;
        this.canvas = element("canvas", { tabIndex: 0, role: "slider", "aria-orientation": "horizontal",
            "aria-label": "Window of the heatmap" });
        this.context = /** @type {CanvasRenderingContext2D} */ (
            this.canvas.getContext("2d", { alpha: false }));
        /** @type {Shown | null} */
        this.shown = null;
        /** @type {Range} */
        this.window = { from: 0, to: 0 };
        place.replaceChildren(this.canvas);
        this.listen();
    }

    listen() {
        const { canvas } = this;

        new ResizeObserver(() => this.draw()).observe(this.place);
        canvas.addEventListener("pointerdown", (event) => {
            if (!event.button) {
                canvas.setPointerCapture(event.pointerId);
                this.onmove(this.timeAt(event.offsetX));
            }
        });
        canvas.addEventListener("pointermove", (event) => {
            if (event.buttons & 1)
                this.onmove(this.timeAt(event.offsetX));
        });
        canvas.addEventListener("keydown", (event) => this.key(event));
    }

    /** @param {Shown} shown */
    show(shown) {
        this.shown = shown;
        this.draw();
    }

    /** @param {Range} window that the heatmap shows */
    setWindow(window) {
        if (window.from === this.window.from && window.to === this.window.to)
            return;
        this.window = window;
        this.draw();
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        const { from, to } = this.window, middle = (from + to) / 2, size = to - from;
        /** @type {Record<string, number>} */
        const targets = { ArrowLeft: middle - size / 10, ArrowRight: middle + size / 10,
            ArrowDown: middle - size / 10, ArrowUp: middle + size / 10, PageDown: middle - size,
            PageUp: middle + size, Home: this.start, End: this.start + this.span };

        if (!(event.key in targets) || event.ctrlKey || event.metaKey || event.altKey)
            return;
        this.onmove(targets[event.key]);
        event.preventDefault();
        event.stopPropagation();
    }

    get start() {
        return this.shown?.cells.start ?? 0;
    }

    /** The time that the strip shows, ms. */
    get span() {
        const { columns = 0, columnMs = 0 } = this.shown?.cells ?? {};

        return columns * columnMs;
    }

    /** The time on the axis, ms. @param {number} x px */
    timeAt(x) {
        return this.start + x / this.canvas.clientWidth * this.span;
    }

    /** @param {number} time ms on the axis */
    placeOf(time) {
        return (time - this.start) / this.span * this.canvas.clientWidth;
    }

    /* ---- drawing ---- */

    draw() {
        const { canvas, context, place, shown, window: { from, to } } = this, width = place.clientWidth;

        if (!shown || !width)
            return;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${HEIGHT}px`;
        canvas.width = Math.round(width * devicePixelRatio);
        canvas.height = Math.round(HEIGHT * devicePixelRatio);
        context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        context.fillStyle = styleColour("cell");
        context.fillRect(0, 0, width, HEIGHT);
        this.drawAmounts(shown.cells);
        this.drawRange(shown.against, "a");
        this.drawRange(shown.range, shown.against ? "b" : "range");
        context.fillStyle = styleColour("accent");
        for (const { time } of this.header.moments)
            context.fillRect(this.placeOf(time), 0, 1, HEIGHT);
        this.drawWindow();
        for (const [name, value] of [["min", this.start], ["max", this.start + this.span], ["now", from]])
            canvas.setAttribute(`aria-value${name}`, String(Math.round(Number(value) / 1000)));
        canvas.setAttribute("aria-valuetext", rangeText(this.header, { from, to }));
    }

    /** Draw a bar for each bin. @param {Cells} cells */
    drawAmounts({ of, greatest, least, columns }) {
        const most = Math.max(greatest, -least), size = this.canvas.clientWidth / columns;

        this.context.fillStyle = styleColour("lane");
        for (let bin = 0; bin < columns; bin++) {
            const height = Math.min(1, Math.abs(of[bin]) / most) * HEIGHT, x = Math.round(bin * size);

            if (height > 0)
                this.context.fillRect(x, HEIGHT - height,
                    Math.max(1, Math.round((bin + 1) * size) - x), height);
        }
    }

    /**
     * @param {Range | null} range
     * @param {"a" | "b" | "range"} name of its colour
     */
    drawRange(range, name) {
        if (!range)
            return;
        const x = this.placeOf(range.from);

        this.context.fillStyle = styleColour(name);
        this.context.fillRect(x, HEIGHT - BAND, Math.max(2, this.placeOf(range.to) - x), BAND);
    }

    /** Draw what is outside of the window pale, and a frame around the window. */
    drawWindow() {
        const { context, window: { from, to } } = this, width = this.canvas.clientWidth;
        const left = Math.max(0, this.placeOf(from)), right = Math.min(width, this.placeOf(to));

        context.fillStyle = styleColour("surface");
        context.globalAlpha = 0.6;
        context.fillRect(0, 0, left, HEIGHT);
        context.fillRect(right, 0, width - right, HEIGHT);
        context.globalAlpha = 1;
        context.strokeStyle = styleColour("accent");
        context.lineWidth = 2;
        context.strokeRect(left + 1, 1, Math.max(4, right - left - 2), HEIGHT - 2);
    }
}
