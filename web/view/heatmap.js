// SPDX-License-Identifier: Apache-2.0
/*
 * The heatmap. A column is a second, a minute or an hour, a cell is a part of it. Dragging selects a range
 * of time, with Shift the range to compare with. A click selects a column. One finger selects, two move the
 * heatmap. Keys do the same as the pointer. Below it are lanes, in which time runs to the right only.
 */
import { COLUMN_MS } from "#analysis/heatmap_scales";
import { element } from "#view/dom";
import { percentText } from "#view/number_text";
import { rangeText, timeText } from "#view/time_text";
import { AXIS, HeatPainter } from "#view/heatmap_draw";
import { heightOf, laneAt, laneText, LanePainter, markText } from "#view/lane_draw";
import { markAt } from "#view/lane_marks";

/** @typedef {import("../types.js").Cells} Cells */
/** @typedef {import("../types.js").Header} Header */
/** @typedef {import("../types.js").Range} Range */
/** @typedef {import("./theme.js").Theme} Theme */
/**
 * @typedef {object} Listener
 * @property {(which: "range" | "against", range: Range) => void} onselect
 * @property {() => void} onclear
 * @property {(text: string, x: number, y: number) => void} onhover "": the pointer has left
 * @property {(amount: number) => string} amountText
 * @property {(from: number, to: number) => string} whyUnseen "": the event could be seen
 * @property {(text: string) => void} onsay
 * @property {(window: Range) => void} onwindow the time in sight has changed
 */

const LEAST_WIDTH = 4, MOST_WIDTH = 240; /* of a column, px */
const EDGE = 16; /* px at the left and right in which a drag scrolls */
const HEIGHT = 150; /* approximate height of all rows, px */
/* Of columns, by their time in ms. */
const NAMES = Object.fromEntries(Object.entries(COLUMN_MS).map(([name, ms]) => [ms, name]));

export class Heatmap {
    /**
     * @param {HTMLElement} scroller
     * @param {Listener} listener
     * @param {Header} header
     */
    constructor(scroller, listener, header) {
        this.header = header;
        this.scroller = scroller;
        this.listener = listener;
        this.canvas = element("canvas", { tabIndex: 0, role: "application" });
        this.spacer = element("div", { className: "spacer" }, this.canvas);
        scroller.replaceChildren(this.spacer);
        this.context = /** @type {CanvasRenderingContext2D} */ (
            this.canvas.getContext("2d", { alpha: false }));
        this.painter = new HeatPainter(this.context);
        this.lanePainter = new LanePainter(this.context);
        /** @type {import("../types.js").Lane[]} */
        this.lanes = [];
        /** @type {Cells | null} */
        this.cells = null;
        /** @type {Uint8Array | null} */
        this.marks = null;
        /** @type {{ range: Range | null, against: Range | null }} */
        this.selected = { range: null, against: null };
        this.drawn = this.selected; /* with the range that is being selected */
        /** @type {{ cell: number, which: "range" | "against", inLanes: boolean } | null} */
        this.begun = null;
        /** @type {Map<number, number>} */
        this.touches = new Map(); /* x by id of the fingers that touch */
        /** True: the next range is the one to compare with, also without Shift. */
        this.comparesNext = false;
        this.cursor = -1;
        this.asked = 0;
        this.at = 0; /* of the last show(), or where the user has moved to since */
        this.listen();
    }

    listen() {
        const { canvas, scroller } = this;

        new ResizeObserver(() => this.resize()).observe(scroller);
        scroller.addEventListener("scroll", () => this.draw(), { passive: true });
        canvas.addEventListener("pointerdown", (event) => this.press(event));
        canvas.addEventListener("pointermove", (event) => this.drag(event));
        canvas.addEventListener("pointerup", (event) => this.release(event));
        canvas.addEventListener("pointercancel", ({ pointerId }) => {
            this.touches.delete(pointerId);
            this.abandon();
        });
        canvas.addEventListener("pointerleave", () => this.listener.onhover("", 0, 0));
        canvas.addEventListener("keydown", (event) => this.key(event));
        for (const type of ["focus", "blur"])
            canvas.addEventListener(type, () => this.draw());
    }

    /** @param {Theme} theme */
    setTheme(theme) {
        this.painter.setTheme(theme);
        this.lanePainter.setTheme(theme);
        this.draw();
    }

    /** @param {import("../types.js").Lane[]} lanes */
    showLanes(lanes) {
        if (lanes !== this.lanes) {
            this.lanes = lanes;
            this.resize();
        }
    }

    /**
     * @param {Cells} cells
     * @param {Uint8Array | null} marks
     * @param {Range | null} range
     * @param {Range | null} against
     * @param {number} at the left edge, ms on the axis; 0: the start
     */
    show(cells, marks, range, against, at) {
        const resized = cells.columns !== this.cells?.columns || cells.rows !== this.cells.rows;
        const isOtherScale = cells.columnMs !== this.cells?.columnMs;
        const middle = middleOf(range ?? (this.cells ? this.window : { from: at, to: at }));

        this.cells = cells;
        this.marks = marks;
        this.selected = this.drawn = { range, against };
        if (resized) {
            this.cursor = -1;
            this.canvas.setAttribute("aria-label", `Heatmap: a column is a ${
                NAMES[cells.columnMs] ?? "second"}. Arrows move, Enter begins and ends a range, with `
                + "Shift the range to compare with, Escape selects everything.");
            this.resize();
        }
        if (at !== this.at) {
            this.at = at;
            this.scroller.scrollLeft = this.placeOf(at);
        } else if (isOtherScale) {
            this.moveTo(middle);
        }
        this.draw();
    }

    /** Show this time in the middle. @param {number} time ms on the axis */
    moveTo(time) {
        this.scroller.scrollLeft = this.placeOf(time) - this.scroller.clientWidth / 2;
    }

    /** The place of a time, px from the first column. @param {number} time ms on the axis */
    placeOf(time) {
        const { start = 0, columnMs = 1 } = this.cells ?? {};

        return (time - start) / columnMs * (this.columnWidth ?? 1);
    }

    /** The time in sight, ms on the axis. @returns {Range} */
    get window() {
        const { start = 0, columnMs = 1, columns = 0 } = this.cells ?? {}, { scroller } = this;
        const scale = columnMs / (this.columnWidth ?? 1), from = start + scroller.scrollLeft * scale;

        return { from, to: Math.min(start + columns * columnMs, from + scroller.clientWidth * scale) };
    }

    /** The time at the left edge, ms on the axis; 0: it is not scrolled. */
    get edge() {
        return this.scroller.scrollLeft ? Math.round(this.window.from) : 0;
    }

    resize() {
        const { canvas, scroller, cells } = this, width = scroller.clientWidth;

        if (!cells)
            return;
        this.rowHeight = Math.max(1, Math.round(HEIGHT / cells.rows));
        this.columnWidth = Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width / cells.columns));
        const height = this.lanesTop + heightOf(this.lanes);

        this.spacer.style.width = `${Math.floor(this.columnWidth * cells.columns)}px`;
        this.spacer.style.height = canvas.style.height = `${height}px`;
        canvas.style.width = `${width}px`;
        canvas.width = Math.round(width * devicePixelRatio);
        canvas.height = Math.round(height * devicePixelRatio);
        this.paint();
    }

    /** Where the lanes begin, px below the upper edge. */
    get lanesTop() {
        return (this.rowHeight ?? 1) * (this.cells?.rows ?? 0) + AXIS;
    }

    draw() {
        if (!this.asked) {
            this.asked = requestAnimationFrame(() => {
                this.asked = 0;
                this.paint();
            });
        }
    }

    /** @returns {import("./heatmap_draw.js").Scene | null} */
    get scene() {
        const { cells, marks, columnWidth = 1, rowHeight = 1 } = this;

        return cells && { cells, marks, header: this.header, columnWidth, rowHeight,
            left: this.scroller.scrollLeft, width: this.canvas.clientWidth, ...this.drawn,
            cursor: document.activeElement === this.canvas ? this.cursor : -1 };
    }

    paint() {
        const { context, scene } = this;

        if (!scene)
            return;
        context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        this.painter.draw(scene);
        this.lanePainter.draw(this.lanes, scene, this.lanesTop);
        this.listener.onwindow(this.window);
    }

    /* ---- cells and time ---- */

    /**
     * The cell at the pointer, or the nearest one. In a lane, the cell at that time: time runs to the
     * right there, within a column too.
     *
     * @param {MouseEvent} event
     */
    cellAt(event) {
        const { cells, columnWidth = 1, rowHeight = 1 } = this;

        if (!cells)
            return 0;
        const place = (event.offsetX + this.scroller.scrollLeft) / columnWidth;

        if (this.isInLanes(event))
            return clamp(Math.floor(place * cells.rows), cells.columns * cells.rows);
        const column = Math.floor(place);
        const row = cells.rows - 1 - Math.floor(event.offsetY / rowHeight);

        return clamp(column, cells.columns) * cells.rows + clamp(row, cells.rows);
    }

    /** A drag that began in the lanes stays there. @param {MouseEvent} event */
    isInLanes({ offsetY }) {
        return this.begun ? this.begun.inLanes : laneAt(this.lanes, offsetY - this.lanesTop) !== undefined;
    }

    /**
     * The lane at the pointer, and its mark there.
     *
     * @param {MouseEvent} event
     */
    laneAt({ offsetX, offsetY }) {
        const lane = laneAt(this.lanes, offsetY - this.lanesTop), { scene } = this;

        return { lane, mark: lane && scene ? markAt(lane, scene, offsetX) : undefined };
    }

    /** The start of a cell on the time axis, ms. @param {number} cell */
    timeOf(cell) {
        const { start = 0, cellMs = 1 } = this.cells ?? {};

        return start + cell * cellMs;
    }

    /**
     * The range from the start of the earlier to the end of the later of two cells.
     *
     * @param {number} a
     * @param {number} b
     * @returns {Range}
     */
    rangeOf(a, b) {
        return { from: this.timeOf(Math.min(a, b)), to: this.timeOf(Math.max(a, b) + 1) };
    }

    /** The range of the column that contains a cell. @param {number} cell */
    columnOf(cell) {
        const rows = this.cells?.rows ?? 1, first = cell - cell % rows;

        return this.rangeOf(first, first + rows - 1);
    }

    /** @param {number} cell */
    textOf(cell) {
        const amount = this.cells?.of[cell] ?? NaN;
        const covered = this.cells?.covered?.[cell] ?? 1;
        const what = Number.isNaN(amount) ? "nothing was recorded"
            : amount || covered ? this.listener.amountText(amount) + partText(covered)
                : `not seen: ${this.listener.whyUnseen(this.timeOf(cell), this.timeOf(cell + 1))}`;

        return `${timeText(this.header, this.timeOf(cell))}: ${what}${this.momentsText(cell)}`;
    }

    /** The moments of the column that contains a cell. @param {number} cell */
    momentsText(cell) {
        const { from, to } = this.columnOf(cell);

        return this.header.moments.filter(({ time }) => time >= from && time < to)
            .map(({ time, label }) => `; mark at ${timeText(this.header, time)}: ${label}`).join("");
    }

    /** The range that an action selects. @param {PointerEvent | KeyboardEvent} event */
    whichOf({ shiftKey }) {
        return shiftKey || this.comparesNext ? "against" : "range";
    }

    /* ---- actions of the user ---- */

    /** @param {PointerEvent} event */
    press(event) {
        if (event.button || !this.cells)
            return;
        this.canvas.setPointerCapture(event.pointerId);
        if (event.pointerType === "touch")
            this.touches.set(event.pointerId, event.clientX);
        if (this.touches.size > 1) {
            this.abandon();
            return;
        }
        this.cursor = this.cellAt(event);
        this.begun = { cell: this.cursor, which: this.whichOf(event),
            inLanes: this.isInLanes(event) };
    }

    /** @param {PointerEvent} event */
    drag(event) {
        const cell = this.cellAt(event);

        if (this.panned(event))
            return;
        if (this.begun && event.buttons) {
            this.scrollAtEdge(event.offsetX);
            this.drawn = { ...this.selected,
                [this.begun.which]: this.rangeOf(this.begun.cell, cell) };
            this.draw();
        }
        const { lane, mark } = this.laneAt(event), time = mark?.time ?? this.timeOf(cell);
        const text = lane ? `${timeText(this.header, time)}: ${
            mark ? markText(lane, mark) : laneText(lane, time)}` : this.textOf(cell);

        this.listener.onhover(this.begun && cell !== this.begun.cell
            ? rangeText(this.header, this.rangeOf(this.begun.cell, cell)) : text,
        event.clientX, event.clientY);
    }

    /** Move the heatmap with two fingers; one finger selects. @param {PointerEvent} event */
    panned(event) {
        const before = this.touches.get(event.pointerId);

        if (before !== undefined)
            this.touches.set(event.pointerId, event.clientX);
        if (before === undefined || this.touches.size < 2)
            return false;
        this.scroller.scrollLeft += (before - event.clientX) / this.touches.size;
        return true;
    }

    /** Bring more columns into sight during a drag. @param {number} x px from the left edge */
    scrollAtEdge(x) {
        const { scroller } = this;

        if (x < EDGE)
            scroller.scrollLeft -= EDGE;
        else if (x > scroller.clientWidth - EDGE)
            scroller.scrollLeft += EDGE;
    }

    /** @param {PointerEvent} event */
    release(event) {
        const { begun } = this, cell = this.cellAt(event);

        this.touches.delete(event.pointerId);
        if (!begun)
            return;
        const { mark } = this.laneAt(event);

        this.begun = null;
        this.listener.onselect(begun.which, cell !== begun.cell ? this.rangeOf(begun.cell, cell)
            : begun.inLanes && mark ? mark.range : this.columnOf(cell));
    }

    abandon() {
        this.begun = null;
        this.drawn = this.selected;
        this.draw();
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        const { cells } = this;

        if (!cells || event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === "Enter" || event.key === " ")
            this.choose(this.whichOf(event));
        else if (event.key === "Escape" && this.begun)
            this.abandon();
        else if (event.key === "Escape")
            this.listener.onclear();
        else if (!this.moveCursor(event.key, cells))
            return;
        event.preventDefault();
        event.stopPropagation();
    }

    /**
     * @param {string} key
     * @param {Cells} cells
     */
    moveCursor(key, { rows, columns }) {
        /** @type {Record<string, number>} */
        const steps = { ArrowLeft: -rows, ArrowRight: rows, ArrowUp: 1, ArrowDown: -1,
            PageUp: -10 * rows, PageDown: 10 * rows, Home: -Infinity, End: Infinity };

        if (!(key in steps))
            return false;
        this.cursor = this.cursor < 0 ? 0 : clamp(this.cursor + steps[key], rows * columns);
        this.keepInSight();
        if (this.begun)
            this.drawn = { ...this.selected,
                [this.begun.which]: this.rangeOf(this.begun.cell, this.cursor) };
        this.listener.onsay([this.textOf(this.cursor), ...this.lanes.map((lane) =>
            laneText(lane, this.timeOf(this.cursor)))].join("; "));
        this.draw();
        return true;
    }

    keepInSight() {
        const { scroller, columnWidth = 1 } = this;
        const x = Math.floor(this.cursor / (this.cells?.rows ?? 1)) * columnWidth;

        if (x < scroller.scrollLeft || x + columnWidth > scroller.scrollLeft + scroller.clientWidth)
            scroller.scrollLeft = x - scroller.clientWidth / 2;
    }

    /** Begin a range at the cursor, or end the begun one. @param {"range" | "against"} which */
    choose(which) {
        const { begun } = this;

        this.cursor = Math.max(0, this.cursor);
        if (!begun) {
            this.begun = { cell: this.cursor, which, inLanes: false };
            this.listener.onsay(`from ${timeText(this.header, this.timeOf(this.cursor))}: `
                + "move, then Enter");
            return;
        }
        this.begun = null;
        this.listener.onselect(begun.which, this.rangeOf(begun.cell, this.cursor));
    }
}

/** Of a cell that was seen for a part of its time. @param {number} covered 0 to 1 */
function partText(covered) {
    return covered > 0.999 ? "" : `, ${percentText(covered, 1)} of this time covered`;
}

/** @param {Range} range */
const middleOf = ({ from, to }) => (from + to) / 2;

/**
 * @param {number} number
 * @param {number} count
 */
function clamp(number, count) {
    return Math.min(Math.max(0, number), count - 1);
}
