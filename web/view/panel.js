// SPDX-License-Identifier: Apache-2.0
/* The panel beside the graph, with the tables of functions, lines, calls, processes, traces and VMs, and its
 * width. */
import { button, element, fill } from "#view/dom";

/** @typedef {import("../types.js").View} View */
/** @typedef {"functions" | "lines" | "tree" | "processes" | "traces" | "vm"} Tab */

/** @type {Record<Tab, string>} */
const TITLES = { functions: "Functions", lines: "Lines", tree: "Tree", processes: "Processes",
    traces: "Traces", vm: "VM" };
/* Least width of the window for a table by default, px. Bottom-up the table says most. */
const ROOMY = 1500, ROOMY_BOTTOM_UP = 1000;
const LEAST = 260, STEP = 24; /* least width of the panel and step of the arrow keys, px */

export class Panel {
    /**
     * @param {HTMLElement} panel
     * @param {HTMLElement} splitter
     * @param {Partial<Record<Tab, { element: HTMLElement,
     *     table: { find(text: string): void } }>>} tables in the order of the tabs
     * @param {(panel: View["panel"]) => void} set
     */
    constructor(panel, splitter, tables, set) {
        this.panel = panel;
        this.splitter = splitter;
        this.tables = tables;
        this.names = /** @type {Tab[]} */ (Object.keys(tables));
        this.tabs = this.names.map((tab) => button(TITLES[tab], () => set(tab),
            { role: "tab", "aria-controls": "panel-table" }));
        this.find = element("input", { type: "search",
            placeholder: "find in table", "aria-label": "find in the table",
            oninput: (/** @type {Event} */ event) =>
                this.filter(/** @type {HTMLInputElement} */ (event.target).value) });
        this.place = element("div", { id: "panel-table", role: "tabpanel",
            className: "table-with-foot" });
        fill(panel, element("div", { className: "bar" },
            element("span", { className: "joined", role: "tablist" }, ...this.tabs), this.find,
        button("\u2715", () => set("none"), { className: "plain", title: "close the tables (t)",
            "aria-label": "close the tables" })), this.place);
        this.listen();
    }

    listen() {
        this.splitter.addEventListener("pointerdown", (event) =>
            this.splitter.setPointerCapture(event.pointerId));
        this.splitter.addEventListener("pointermove", (event) => {
            if (event.buttons)
                this.resize(innerWidth - event.clientX);
        });
        this.splitter.addEventListener("keydown", (event) => {
            const step = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];

            if (step) {
                this.resize(this.panel.offsetWidth + step);
                event.preventDefault();
            }
        });
    }

    /** @param {number} width */
    resize(width) {
        const fitting = Math.max(LEAST, Math.min(width, innerWidth * 0.8));

        this.panel.style.width = `${Math.round(fitting)}px`;
        this.showWidth();
    }

    /** Send the width to screen readers, in percent of the window's. */
    showWidth() {
        this.splitter.setAttribute("aria-valuenow",
            String(Math.round(100 * this.panel.offsetWidth / innerWidth)));
    }

    /** @param {string} text */
    filter(text) {
        for (const tab of this.names)
            this.tables[tab]?.table.find(text);
    }

    /**
     * The table that a view shows; null: none.
     *
     * @param {View} view
     * @returns {Tab | null}
     */
    shown({ panel, form }) {
        if (panel === "auto")
            return innerWidth >= (form === "callers" ? ROOMY_BOTTOM_UP : ROOMY)
                ? "functions" : null;
        if (panel === "none")
            return null;
        return this.tables[panel] ? panel : "functions";
    }

    /** @param {View} view */
    show(view) {
        const tab = this.shown(view), table = tab && this.tables[tab];

        this.panel.hidden = this.splitter.hidden = tab === null;
        this.showWidth();
        this.tabs.forEach((made, i) =>
            made.setAttribute("aria-selected", String(this.names[i] === tab)));
        if (table && this.place.firstChild !== table.element)
            fill(this.place, table.element);
        return tab;
    }

    /**
     * The next value in the cycle of all tables and none.
     *
     * @param {View} view
     * @returns {View["panel"]}
     */
    next(view) {
        const tab = this.shown(view);

        return tab === null ? this.names[0] : this.names[this.names.indexOf(tab) + 1] ?? "none";
    }
}
