// SPDX-License-Identifier: Apache-2.0
/*
 * The current View. Each step of the user is an entry of the browser's history, so the browser's
 * Back undoes it. The address contains the view (link.js).
 */

/** @typedef {import("../types.js").View} View */
/** @typedef {import("./link.js").Link} Link */

/* A change of these fields keeps the zoom. Other fields change the graph, so they zoom out. */
const KEEPS_ZOOM = new Set(["zoom", "panel", "lanes", "search", "icicle", "scale", "at"]);

export class State {
    /**
     * @param {Link} link
     * @param {(view: View) => void} onchange
     */
    constructor(link, onchange) {
        this.link = link;
        this.onchange = onchange;
        /** @type {string[]} */
        this.problems = []; /* fields of the address that were left out */
        this.step = this.last = history.state?.step ?? 0; /* numbers of entries */
        this.typed = ""; /* the field of the last change, if it was typed; else "" */
        this.view = this.read();
        addEventListener("popstate", ({ state }) => this.arrive(state?.step));
    }

    /** Read the view of the address, and remove what is left out of it from the address. */
    read() {
        const { view, problems } = this.link.read(location.hash);

        this.problems = problems;
        this.view = view;
        this.write(false);
        return view;
    }

    /** @param {boolean} isStep false: the entry is replaced */
    write(isStep) {
        const address = `#${this.link.write(this.view)}`;

        if (isStep)
            history.pushState({ step: this.step }, "", address);
        else
            history.replaceState({ step: this.step }, "", address);
    }

    /**
     * @param {Partial<View>} changes
     * @param {boolean} [typed] typed in a field: changes in a row of the same field are one step
     */
    set(changes, typed = false) {
        const fresh = { ...this.view, ...changes };

        if (!("zoom" in changes) && Object.keys(changes).some((key) => !KEEPS_ZOOM.has(key)))
            fresh.zoom = null;
        if (this.link.write(fresh) === this.link.write(this.view))
            return;
        const field = typed ? Object.keys(changes).join() : "";
        const isStep = !field || this.typed !== field;

        this.typed = field;
        this.problems = [];
        this.view = fresh;
        if (isStep)
            this.last = ++this.step;
        this.write(isStep);
        this.onchange(fresh);
    }

    /** Change the view and its address, as a part of the current step. @param {Partial<View>} changes */
    note(changes) {
        this.view = { ...this.view, ...changes };
        this.write(false);
    }

    get canUndo() {
        return this.step > 0;
    }

    get canRedo() {
        return this.step < this.last;
    }

    undo() {
        if (this.canUndo)
            history.back();
    }

    redo() {
        if (this.canRedo)
            history.forward();
    }

    /**
     * Show the view of the entry that the browser has moved to.
     *
     * @param {number | undefined} step of the entry; undefined: the user has changed the address
     */
    arrive(step) {
        this.typed = "";
        this.step = step ?? this.step + 1;
        this.last = step === undefined ? this.step : Math.max(this.last, this.step);
        this.onchange(this.read());
    }
}
