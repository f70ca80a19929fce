// SPDX-License-Identifier: Apache-2.0
/*
 * A table of any length: only visible rows have elements. A click on a column head sorts. Arrows
 * move between rows; Enter and a click pick one.
 */
import { element, fill } from "#view/dom";

const ROW = 24;

/**
 * @template R
 * @typedef {object} Column
 * @property {string} title
 * @property {string} [hint] the meaning of the column
 * @property {string} [className] of its head
 * @property {string} width a track size of CSS grid
 * @property {boolean} [number] right-aligned, sorted with the greatest first
 * @property {((row: R) => number | string) | null} order the sort key; null: not sortable
 * @property {(row: R) => Node | string} cell
 */

/** @template R */
export class Table {
    /**
     * @param {string} label
     * @param {{ key(row: R): string, text(row: R): string,
     *     onpick(row: R, more: boolean): void, onfocus(row: R): void }} rows `key` is unique;
     *     find() searches `text`; `more`: Ctrl or Shift is held; onfocus() follows each move
     * @param {{ role?: string, attributes?: (row: R) => Record<string, unknown>,
     *     onkey?: (row: R, key: string) => boolean }} [kind] what is not as in other tables: its role,
     *     further attributes of rows, other keys; onkey() returns true if it has used the key
     */
    constructor(label, { key, text, onpick, onfocus }, kind = {}) {
        this.key = key;
        this.text = text;
        this.onpick = onpick;
        this.onfocus = onfocus;
        this.kind = kind;
        /** @type {Column<R>[]} */
        this.columns = [];
        /** @type {R[]} */
        this.all = [];
        /** @type {R[]} */
        this.rows = [];
        /** @type {Set<string>} */
        this.picked = new Set();
        this.sorted = { column: 0, most: true };
        this.wanted = "";
        this.active = 0;
        this.id = label.replace(/\W+/g, "-");
        this.head = element("div", { className: "head", role: "row" });
        this.spacer = element("div", { className: "spacer", role: "presentation" });
        this.body = element("div", { className: "body", role: "rowgroup" }, this.spacer);
        this.element = element("div", { className: "table", role: kind.role ?? "grid", tabIndex: 0,
            "aria-label": label }, this.head, this.body);
        this.listen();
    }

    listen() {
        this.element.addEventListener("scroll", () => this.draw(), { passive: true });
        new ResizeObserver(() => this.draw()).observe(this.element);
        this.body.addEventListener("click", (event) => this.click(event));
        this.element.addEventListener("keydown", (event) => this.keyed(event));
    }

    /**
     * @param {Column<R>[]} columns
     * @param {number} sorted
     */
    setColumns(columns, sorted) {
        this.columns = columns;
        this.sorted = { column: sorted, most: Boolean(columns[sorted].number) };
        this.element.style.setProperty("--columns",
            columns.map((column) => column.width).join(" "));
    }

    /**
     * @param {R[]} rows
     * @param {Set<string>} picked keys
     */
    show(rows, picked) {
        if (rows !== this.all) {
            this.active = 0;
            this.element.scrollTop = 0;
        }
        this.all = rows;
        this.picked = picked;
        this.arrange();
    }

    /** Show other rows at the same place. @param {R[]} rows */
    replace(rows) {
        this.all = rows;
        this.arrange();
    }

    /** @param {number} index of a row */
    moveTo(index) {
        this.active = index;
        this.moved();
    }

    /** Show only rows with this text, also in later calls of show(). @param {string} wanted */
    find(wanted) {
        this.wanted = wanted.toLowerCase();
        this.active = 0;
        if (this.columns.length)
            this.arrange();
    }

    arrange() {
        const { order } = this.columns[this.sorted.column], sign = this.sorted.most ? -1 : 1;

        this.rows = this.wanted
            ? this.all.filter((row) => this.text(row).toLowerCase().includes(this.wanted))
            : this.all.slice();
        if (order)
            this.rows.sort((a, b) => sign * compare(order(a), order(b)));
        this.element.setAttribute("aria-rowcount", String(this.rows.length + 1));
        this.spacer.style.height = `${this.rows.length * ROW}px`;
        this.drawHead();
        this.draw();
    }

    drawHead() {
        const { column: sorted, most } = this.sorted;

        fill(this.head, ...this.columns.map((column, index) => element("div", {
            role: "columnheader",
            className: `${column.number ? "number" : ""} ${column.className ?? ""}`,
            "aria-sort": index === sorted ? (most ? "descending" : "ascending") : "none",
        }, column.order
            ? element("button", { type: "button", title: column.hint ?? "",
                onclick: () => this.sort(index) },
            column.title, index === sorted ? (most ? " \u2193" : " \u2191") : "")
            : element("span", { title: column.hint ?? "" }, column.title))));
    }

    /** @param {number} column */
    sort(column) {
        const again = column === this.sorted.column;

        this.sorted = { column, most: again ? !this.sorted.most
            : Boolean(this.columns[column].number) };
        this.arrange();
        this.head.children[column].querySelector("button")?.focus();
    }

    /** The height of the visible rows below the head, px. */
    get height() {
        return this.element.clientHeight - this.head.offsetHeight;
    }

    draw() {
        const { scrollTop } = this.element;
        const first = Math.max(0, Math.floor(scrollTop / ROW) - 4);
        const last = Math.min(this.rows.length, Math.ceil((scrollTop + this.height) / ROW) + 4);
        const drawn = [];

        for (let index = first; index < last; index++)
            drawn.push(this.rowElement(this.rows[index], index));
        fill(this.spacer, ...drawn);
        if (this.rows.length)
            this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
        else
            this.element.removeAttribute("aria-activedescendant");
    }

    /**
     * @param {R} row
     * @param {number} index
     */
    rowElement(row, index) {
        const made = element("div", { role: "row", id: `${this.id}-${index}`,
            className: index === this.active ? "active" : "", "aria-rowindex": index + 2,
            "aria-selected": this.picked.has(this.key(row)),
            ...this.kind.attributes?.(row) },
        ...this.columns.map((column) => element("div", { role: "gridcell",
            className: column.number ? "number" : "" }, column.cell(row))));

        made.dataset.index = String(index);
        made.style.top = `${index * ROW}px`;
        return made;
    }

    /** @param {MouseEvent} event */
    click(event) {
        const row = event.target instanceof Element
            ? event.target.closest("[data-index]") : null;

        if (row instanceof HTMLElement) {
            this.active = Number(row.dataset.index);
            this.onpick(this.rows[this.active], event.ctrlKey || event.metaKey || event.shiftKey);
            this.moved();
        }
    }

    /** @param {KeyboardEvent} event */
    keyed(event) {
        const page = Math.max(1, Math.floor(this.height / ROW) - 1);
        /** @type {Record<string, number>} */
        const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page,
            Home: -Infinity, End: Infinity };

        if (event.target !== this.element || !this.rows.length || event.altKey)
            return;
        if (event.key === "Enter" || event.key === " ")
            this.onpick(this.rows[this.active], event.ctrlKey || event.metaKey || event.shiftKey);
        else if (this.kind.onkey?.(this.rows[this.active], event.key)) {
            event.preventDefault();
            return;
        } else if (event.key in steps)
            this.active = Math.min(Math.max(0, this.active + steps[event.key]),
                this.rows.length - 1);
        else
            return;
        event.preventDefault();
        this.moved();
    }

    moved() {
        const top = this.active * ROW, { element: scroller, height } = this;

        if (top < scroller.scrollTop)
            scroller.scrollTop = top;
        else if (top + ROW > scroller.scrollTop + height)
            scroller.scrollTop = top + ROW - height;
        this.draw();
        if (this.rows[this.active])
            this.onfocus(this.rows[this.active]);
    }
}

/**
 * Compare two sort keys. NaN (unknown) is less than any number: last in descending order.
 *
 * @param {number | string} a
 * @param {number | string} b
 */
function compare(a, b) {
    if (typeof a === "string" || typeof b === "string")
        return String(a).localeCompare(String(b), "en", { numeric: true });
    if (Number.isNaN(a) || Number.isNaN(b))
        return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
    return a - b;
}
