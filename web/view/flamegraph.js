// SPDX-License-Identifier: Apache-2.0
/*
 * The flame graph. It has one part, a tree; or the two parts of a sandwich, a function's callers
 * above and its callees below, which share the row of the function; or, in order of time, A above and B
 * below, whose roots are neighbours.
 *
 *   scroller ─ spacer (as high as all rows) ─ canvas (as large as the scroller, always visible)
 *
 * Rows are numbered from the root of each tree. `top` gives their y.
 */
import { element } from "#view/dom";
import { Layout } from "#view/flame_layout";
import { Painter, Picture, ROW } from "#view/flame_draw";
import { moved } from "#view/flame_keys";
import { drawTimeTicks } from "#view/time_ticks";
import { nodeOfPath, pathOf } from "#view/flame_path";

/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("./theme.js").Theme} Theme */
/** @typedef {{ part: number, node: number }} Place */
/** @typedef {{ picture: Picture, upwards: boolean, base: number }} Shown `upwards`: the root is at
 *     the bottom; `base`: the row of a sandwich's function, else 0 */
/** @typedef {Shown & { layout: Layout, from: number, to: number,
 *     aim: { from: number, to: number } }} Part */
/**
 * @typedef {object} Listener
 * @property {(zoom: View["zoom"]) => void} onzoom
 * @property {(place: Place) => void} onspan a node of a tree in order of time is chosen
 * @property {(place: Place, x: number, y: number) => void} onmenu
 * @property {(place: Place | null, x: number, y: number) => void} onhover
 * @property {(place: Place) => void} onfocus
 */

const PAD = 4;
const ZOOM_MS = 180;

export class FlameGraph {
    /**
     * @param {HTMLElement} scroller
     * @param {Listener} listener
     */
    constructor(scroller, listener) {
        this.scroller = scroller;
        this.listener = listener;
        this.canvas = element("canvas", { tabIndex: 0, role: "application",
            "aria-label": "Flame graph. Arrows move between frames, Enter zooms, u undoes.",
            "aria-describedby": "said" });
        this.spacer = element("div", { className: "spacer" }, this.canvas);
        scroller.replaceChildren(this.spacer);
        this.context = /** @type {CanvasRenderingContext2D} */ (
            this.canvas.getContext("2d", { alpha: false }));
        this.painter = new Painter(this.context);
        /** @type {Part[]} */
        this.parts = [];
        /** @type {Place | null} */
        this.hovered = null;
        /** @type {Place | null} */
        this.focused = null;
        this.height = 0; /* px of the spacer */
        this.shown = 0; /* px of the scroller */
        this.asked = 0; /* id of the requested animation frame; 0: none */
        this.animated = { start: 0, until: 0 };
        this.listen();
    }

    listen() {
        const { canvas, scroller } = this;

        new ResizeObserver(() => this.resize()).observe(scroller);
        scroller.addEventListener("scroll", () => this.draw(), { passive: true });
        canvas.addEventListener("pointermove", (event) => this.hover(event));
        canvas.addEventListener("pointerleave", () => this.leave());
        canvas.addEventListener("click", (event) => this.click(event));
        canvas.addEventListener("contextmenu", (event) => this.menu(event));
        canvas.addEventListener("keydown", (event) => this.key(event));
        canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        for (const type of ["focus", "blur"])
            canvas.addEventListener(type, () => this.focusChanged());
    }

    /** @param {Theme} theme */
    setTheme(theme) {
        this.painter.setTheme(theme);
        this.draw();
    }

    /**
     * @param {Shown[]} parts
     * @param {View["zoom"]} zoom
     */
    show(parts, zoom) {
        const same = parts.length === this.parts.length
            && parts.every((part, i) => part.picture.tree === this.parts[i].picture.tree
                && part.upwards === this.parts[i].upwards);

        if (same)
            parts.forEach((part, i) => (this.parts[i].picture = part.picture));
        else
            this.replaceParts(parts);
        this.aimAt(zoom, same);
    }

    /**
     * @param {View["zoom"]} zoom
     * @param {boolean} smoothly
     */
    aimAt(zoom, smoothly) {
        this.parts.forEach((part, i) => {
            part.aim = this.rangeOf(part, zoom?.part === i ? zoom.path : []);
        });
        this.animate(smoothly);
    }

    get isZoomed() {
        return this.parts.some(({ aim, layout }) => aim.to - aim.from < layout.extent[0]);
    }

    /** @param {Shown[]} parts */
    replaceParts(parts) {
        this.parts = parts.map((part) => {
            const layout = new Layout(part.picture.tree);
            const all = { from: 0, to: layout.extent[0] };

            return { ...part, layout, ...all, aim: all };
        });
        this.hovered = this.focused = null;
        this.resize();
        this.scroller.scrollTop = this.parts.length === 1 && this.parts[0].upwards
            ? this.spacer.offsetHeight
            : Math.max(0, this.top(this.parts.length - 1, 0) - this.scroller.clientHeight / 2);
    }

    /**
     * @param {Part} part
     * @param {string[]} path
     */
    rangeOf(part, path) {
        const node = nodeOfPath(part.picture.tree, path);

        return { from: part.layout.start[node], to: part.layout.end(node) };
    }

    resize() {
        const { canvas, scroller, parts } = this;
        const width = scroller.clientWidth, height = scroller.clientHeight;
        const rows = parts.reduce((sum, part, i) => sum + part.layout.rows - this.firstRow(i), 0);
        const below = this.height - scroller.scrollTop - this.shown;
        const before = (this.top(1, 0) - scroller.scrollTop) / (this.shown || height);

        this.shown = height;
        this.height = Math.max(height, rows * ROW + 2 * PAD);
        this.spacer.style.height = `${this.height}px`;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        canvas.width = Math.round(width * devicePixelRatio);
        canvas.height = Math.round(height * devicePixelRatio);
        if (parts.length === 1 && parts[0].upwards)
            scroller.scrollTop = this.height - height - below;
        else if (parts.length === 2) /* both parts keep their shares of the height */
            scroller.scrollTop = this.top(1, 0) - before * height;
        this.paint();
    }

    /** The y of a row's top in the spacer, px. @param {number} part @param {number} row */
    top(part, row) {
        const { parts, height } = this;

        if (parts.length === 2) {
            const { base, layout: { rows } } = parts[0];

            return PAD + (part ? rows - this.sharedRows + row - 2 * base : rows - 1 - row) * ROW;
        }
        return parts[0]?.upwards ? height - PAD - (row + 1) * ROW : PAD + row * ROW;
    }

    /* ---- drawing ---- */

    draw() {
        if (!this.asked)
            this.asked = requestAnimationFrame((now) => this.tick(now));
    }

    /** @param {boolean} smoothly */
    animate(smoothly) {
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

        this.animated = smoothly && !still
            ? { start: performance.now(), until: performance.now() + ZOOM_MS }
            : { start: 0, until: 0 };
        this.origins = this.parts.map(({ from, to }) => ({ from, to }));
        this.draw();
    }

    /** @param {number} now */
    tick(now) {
        const { start, until } = this.animated;
        const past = until > now ? Math.max(0, (now - start) / (until - start)) : 1;
        const eased = 1 - (1 - past) ** 3;

        this.asked = 0;
        this.parts.forEach((part, i) => {
            const origin = this.origins?.[i] ?? part;

            part.from = origin.from + (part.aim.from - origin.from) * eased;
            part.to = origin.to + (part.aim.to - origin.to) * eased;
        });
        this.paint();
        if (past < 1)
            this.draw();
    }

    paint() {
        const { context, canvas, scroller } = this;
        const width = canvas.clientWidth, height = canvas.clientHeight, scroll = scroller.scrollTop;

        context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        context.fillStyle = this.painter.background ?? "";
        context.fillRect(0, 0, width, height);
        this.parts.forEach((part, index) => {
            this.painter.draw(part.picture, this.boxesOf(index), (row) => this.top(index, row) - scroll,
                this.stateOf(index));
        });
        for (const index of this.pinned)
            this.drawPinned(index);
    }

    /** The hovered and the focused node of a part; -1: none. @param {number} index */
    stateOf(index) {
        const at = (/** @type {Place | null} */ place) => (place?.part === index ? place.node : -1);

        return { hovered: at(this.hovered),
            focused: document.activeElement === this.canvas ? at(this.focused) : -1 };
    }

    /* ---- the rows that stay in sight ---- */

    /** The parts with such a row: the root, in a sandwich the function, which part 1 draws. */
    get pinned() {
        return this.parts.map((_, index) => index).slice(this.sharedRows);
    }

    /**
     * The y of a row on the canvas. A row that stays in sight is at an edge where it would be outside.
     *
     * @param {number} index of the part
     * @param {number} row
     */
    rowTop(index, row) {
        const { pinned, scroller } = this, at = pinned.indexOf(index);
        const top = this.top(index, row) - scroller.scrollTop;

        return at < 0 || row !== this.parts[index].base ? top
            : Math.max(at * ROW, Math.min(top, scroller.clientHeight - (pinned.length - at) * ROW));
    }

    /** Draw a row that stays in sight over the others. @param {number} index of the part */
    drawPinned(index) {
        const part = this.parts[index], { base, picture, layout } = part, { context, canvas } = this;
        const top = this.rowTop(index, base), width = canvas.clientWidth;

        if (top !== this.top(index, base) - this.scroller.scrollTop && layout.extent[0] > 0) {
            context.fillStyle = this.painter.background ?? "";
            context.fillRect(0, top - 1, width, ROW + 1);
            this.painter.draw(picture, layout.visible(part.from, part.to, width, base, base), () => top,
                this.stateOf(index));
        }
        if (picture.tree.time)
            drawTimeTicks(context, part, top, this.painter.rootLabelEnd(picture, width), width);
    }

    /**
     * Scroll a row into sight that does not stay there.
     *
     * @param {number} index of the part
     * @param {number} row
     */
    scrollTo(index, row) {
        const { scroller, pinned } = this, y = this.top(index, row), covered = pinned.length * ROW;

        if (pinned.includes(index) && row === this.parts[index].base)
            return;
        if (y - covered < scroller.scrollTop)
            scroller.scrollTop = y - covered;
        else if (y + ROW + covered > scroller.scrollTop + scroller.clientHeight)
            scroller.scrollTop = y + ROW + covered - scroller.clientHeight;
    }

    /** How many rows are of both parts: in a sandwich, the function. */
    get sharedRows() {
        return this.parts.length === 2 && !this.parts[0].picture.tree.time ? 1 : 0;
    }

    /** The first row that a part draws: part 1 draws the shared row. @param {number} index */
    firstRow(index) {
        return this.parts[index].base + (index === 0 ? this.sharedRows : 0);
    }

    /** The visible boxes of a part. @param {number} index */
    boxesOf(index) {
        const { scroller } = this, part = this.parts[index];
        const bottom = scroller.scrollTop + scroller.clientHeight;
        const rowAt = (/** @type {number} */ y) => (y - this.top(index, 0)) / ROW
            * (this.top(index, 1) < this.top(index, 0) ? -1 : 1);
        const [a, b] = [rowAt(scroller.scrollTop), rowAt(bottom)];

        return part.layout.visible(part.from, part.to, this.canvas.clientWidth,
            Math.max(this.firstRow(index), Math.floor(Math.min(a, b)) - 1),
            Math.ceil(Math.max(a, b)) + 1);
    }

    /* ---- actions of the user ---- */

    /**
     * The frame at the pointer, or null.
     *
     * @param {MouseEvent} event
     * @returns {Place | null}
     */
    placeAt(event) {
        const y = event.offsetY + this.scroller.scrollTop;

        for (const index of this.pinned) {
            const { base } = this.parts[index], within = event.offsetY - this.rowTop(index, base);

            if (within >= 0 && within < ROW)
                return this.placeIn(index, base, event);
        }
        for (let index = this.parts.length - 1; index >= 0; index--) {
            const down = this.top(index, 1) > this.top(index, 0);
            const row = Math.floor((y - this.top(index, 0)) / ROW) * (down ? 1 : -1);
            const place = row >= this.firstRow(index) ? this.placeIn(index, row, event) : null;

            if (place)
                return place;
        }
        return null;
    }

    /**
     * The frame of a row at the pointer, or null.
     *
     * @param {number} index of the part
     * @param {number} row
     * @param {MouseEvent} event
     * @returns {Place | null}
     */
    placeIn(index, row, { offsetX }) {
        const { layout, from, to } = this.parts[index];
        const node = layout.at(from + offsetX / this.canvas.clientWidth * (to - from), row);

        return node < 0 ? null : { part: index, node };
    }

    /** @param {PointerEvent} event */
    hover(event) {
        const place = this.placeAt(event);

        if (place?.node !== this.hovered?.node || place?.part !== this.hovered?.part) {
            this.hovered = place;
            this.canvas.style.cursor = place ? "pointer" : "";
            this.draw();
        }
        this.listener.onhover(place, event.clientX, event.clientY);
    }

    leave() {
        this.hovered = null;
        this.listener.onhover(null, 0, 0);
        this.draw();
    }

    /** @param {MouseEvent} event */
    click(event) {
        const place = this.placeAt(event);

        if (place) {
            this.focus(place);
            this.zoomTo(place);
        }
    }

    /** @param {Place} place */
    zoomTo(place) {
        const { tree } = this.parts[place.part].picture;

        if (tree.time) {
            this.listener.onspan(place);
            return;
        }
        const path = pathOf(tree, place.node);

        this.listener.onzoom(path.length ? { part: place.part, path } : null);
    }

    /** @param {MouseEvent} event */
    menu(event) {
        const byKey = event.button !== 2, place = byKey ? this.focused : this.placeAt(event);

        event.preventDefault();
        if (!place)
            return;
        this.focus(place);
        if (byKey)
            this.menuByKey(place);
        else
            this.listener.onmenu(place, event.clientX, event.clientY);
    }

    /** @param {Place} place */
    menuByKey(place) {
        const box = this.canvas.getBoundingClientRect(), part = this.parts[place.part];
        const x = (part.layout.start[place.node] - part.from) / (part.to - part.from) * box.width;
        const row = part.picture.tree.depth[place.node];

        this.listener.onmenu(place, box.left + Math.min(Math.max(8, x + 16), box.width - 40),
            box.top + this.rowTop(place.part, row) + ROW);
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        const place = this.focused ?? this.firstPlace();

        if (!place)
            return;
        if (event.key === "Enter" || event.key === " ")
            this.zoomTo(place);
        else if (event.key === "m")
            this.menuByKey(place);
        else if (!this.move(event.key, place))
            return;
        event.preventDefault();
    }

    /**
     * @param {string} key
     * @param {Place} place
     */
    move(key, place) {
        const to = moved(key, place, this.parts, (index) => this.boxesOf(index));

        if (to)
            this.focus(to);
        return to !== null;
    }

    /** @param {Place} place */
    focus(place) {
        this.focused = place;
        this.scrollTo(place.part, this.parts[place.part].picture.tree.depth[place.node]);
        this.listener.onfocus(place);
        this.draw();
    }

    focusChanged() {
        const place = this.firstPlace();

        if (!this.focused && place && document.activeElement === this.canvas)
            this.focus(place);
        this.draw();
    }

    /** Node 0, or in a sandwich its function; null before the first show(). */
    firstPlace() {
        const index = this.parts.length - 1, part = this.parts[index];
        let node = 0;

        if (!part)
            return null;
        for (let row = 0; row < part.base; row++)
            node = part.picture.tree.first[node];
        return { part: index, node };
    }

    /**
     * Zoom around the pointer with Ctrl. Move sideways with Shift or a horizontal wheel.
     *
     * @param {WheelEvent} event
     */
    wheel(event) {
        const sideways = event.shiftKey ? event.deltaY : event.deltaX;
        const part = this.parts[this.placeAt(event)?.part ?? 0];

        if (!part || !(event.ctrlKey || sideways))
            return;
        const width = part.aim.to - part.aim.from, all = part.layout.extent[0];
        const wide = event.ctrlKey ? Math.min(all, width * Math.exp(event.deltaY / 300)) : width;
        const at = event.ctrlKey ? event.offsetX / this.canvas.clientWidth * (width - wide)
            : sideways / this.canvas.clientWidth * width;
        const from = Math.min(Math.max(0, part.aim.from + at), all - wide);

        event.preventDefault();
        part.aim = { from, to: from + wide };
        this.animate(false);
    }
}
