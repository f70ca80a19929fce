// SPDX-License-Identifier: Apache-2.0
/* The panel beside the graph, with the tables of functions and processes, and its width. */
import { button, element, fill } from "#view/dom";

/** @typedef {import("../types.js").View} View */
/** @typedef {"functions" | "processes"} Tab */

const TABS = /** @type {Tab[]} */ (["functions", "processes"]);
const ROOMY = 1500; /* least width of the window for a table by default, px */
const LEAST = 260, STEP = 24; /* least width of the panel and step of the arrow keys, px */

export class Panel {
    /**
     * @param {HTMLElement} panel
     * @param {HTMLElement} splitter
     * @param {Record<Tab, { element: HTMLElement, table: { find(text: string): void } }>} tables
     * @param {(panel: View["panel"]) => void} set
     */
    constructor(panel, splitter, tables, set) {
        this.panel = panel;
        this.splitter = splitter;
        this.tables = tables;
        this.tabs = TABS.map((tab) => button(tab[0].toUpperCase() + tab.slice(1), () => set(tab),
            { role: "tab", "aria-controls": "panel-table" }));
        this.find = element("input", { type: "search",
            placeholder: "find in the table", "aria-label": "find in the table",
            oninput: (/** @type {Event} */ event) =>
                this.filter(/** @type {HTMLInputElement} */ (event.target).value) });
        this.place = element("div", { id: "panel-table", role: "tabpanel",
            className: "table-with-foot" });
        fill(panel, element("div", { className: "bar" },
            element("span", { className: "joined", role: "tablist" }, ...this.tabs), this.find),
        this.place);
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
    }

    /** @param {string} text */
    filter(text) {
        for (const tab of TABS)
            this.tables[tab].table.find(text);
    }

    /**
     * The table that is shown for a value of View.panel; null: none.
     *
     * @param {View["panel"]} chosen
     * @returns {Tab | null}
     */
    shown(chosen) {
        if (chosen === "auto")
            return innerWidth >= ROOMY ? "functions" : null;
        return chosen === "none" ? null : chosen;
    }

    /** @param {View["panel"]} chosen */
    show(chosen) {
        const tab = this.shown(chosen);

        this.panel.hidden = this.splitter.hidden = tab === null;
        this.tabs.forEach((made, i) =>
            made.setAttribute("aria-selected", String(TABS[i] === tab)));
        if (tab && this.place.firstChild !== this.tables[tab].element)
            fill(this.place, this.tables[tab].element);
        return tab;
    }

    /** The next value in the cycle functions, processes, none. @param {View["panel"]} chosen */
    next(chosen) {
        const tab = this.shown(chosen);

        return tab === null ? "functions" : tab === "functions" ? "processes" : "none";
    }
}
