// SPDX-License-Identifier: Apache-2.0
/*
 * The current View, with undo and redo. The URL's fragment contains it, so that a view can be sent
 * as a link: "#event=gc&group=name,status&range=1000-2500".
 */

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Range} Range */

/** The View of a page without options of the command line. */
export const DEFAULTS = /** @type {View} */ (Object.freeze({
    event: "", weight: "", change: false, groupBy: ["name"], range: null, against: null,
    per: "time", include: "", exclude: "", processes: [], statuses: [], schedulers: [], idle: false,
    form: "stacks", focus: "", icicle: false, foldRecursion: false, hidden: [], search: "",
    zoom: null, panel: "auto",
}));

/** @type {{ write(value: any): string, read(text: string): any }} */
const TEXT = { write: String, read: (text) => text };
const FLAG = { write: (/** @type {boolean} */ value) => (value ? "1" : "0"),
    read: (/** @type {string} */ text) => text === "1" };
const NUMBERS = { write: (/** @type {number[]} */ list) => list.join(","),
    read: (/** @type {string} */ text) => text.split(",").filter(Boolean).map(Number)
        .filter(Number.isFinite) };
const TEXTS = { write: (/** @type {string[]} */ list) => list.map(encodeURIComponent).join(","),
    read: (/** @type {string} */ text) => text.split(",").filter(Boolean)
        .map(decodeURIComponent) };
const RANGE = {
    write: (/** @type {Range | null} */ range) => (range ? `${range.from}-${range.to}` : ""),
    read: (/** @type {string} */ text) => {
        const found = /^(\d+)-(\d+)$/.exec(text);

        return found && Number(found[1]) < Number(found[2])
            ? { from: Number(found[1]), to: Number(found[2]) } : null;
    },
};
const ZOOM = {
    write: (/** @type {View["zoom"]} */ zoom) =>
        (zoom ? [zoom.part, ...zoom.path.map(encodeURIComponent)].join(",") : ""),
    read: (/** @type {string} */ text) => {
        const [part, ...path] = text.split(",");

        return path.length ? { part: Number(part) || 0, path: path.map(decodeURIComponent) } : null;
    },
};

/** @param {...string} names */
const oneOf = (...names) => ({ write: String,
    read: (/** @type {string} */ text) => (names.includes(text) ? text : names[0]) });

/** @type {[keyof View, string, { write(value: any): string, read(text: string): any }][]} */
const FIELDS = [
    ["event", "event", TEXT], ["weight", "weight", TEXT], ["change", "change", FLAG],
    ["groupBy", "group", TEXTS], ["range", "range", RANGE], ["against", "against", RANGE],
    ["per", "per", oneOf("time", "total", "none")], ["include", "include", TEXT],
    ["exclude", "exclude", TEXT], ["processes", "process", NUMBERS],
    ["statuses", "status", NUMBERS], ["schedulers", "scheduler", NUMBERS],
    ["idle", "idle", FLAG],
    ["form", "form", oneOf("stacks", "callers", "sandwich")], ["focus", "focus", TEXT],
    ["icicle", "icicle", FLAG], ["foldRecursion", "fold", FLAG], ["hidden", "hidden", TEXTS],
    ["search", "search", TEXT], ["zoom", "zoom", ZOOM],
    ["panel", "panel", oneOf("auto", "none", "functions", "processes", "vm")],
];

/**
 * The fields that differ from `base`, as a fragment without "#".
 *
 * @param {View} view
 * @param {View} base
 */
function toFragment(view, base) {
    const parts = new URLSearchParams();

    for (const [key, name, form] of FIELDS) {
        const text = form.write(view[key]);

        if (text !== form.write(base[key]))
            parts.set(name, text);
    }
    return parts.toString();
}

/**
 * @param {string} fragment
 * @param {View} base
 * @returns {View}
 */
function fromFragment(fragment, base) {
    const parts = new URLSearchParams(fragment.replace(/^#/, ""));
    const view = { ...base };

    for (const [key, name, form] of FIELDS) {
        const text = parts.get(name);

        if (text !== null)
            /** @type {any} */ (view)[key] = readOr(form, text, base[key]);
    }
    return view;
}

/**
 * Read a field, or return `otherwise` if that fails: a link can be cut within an escape.
 *
 * @param {{ read(text: string): any }} form
 * @param {string} text
 * @param {any} otherwise
 */
function readOr(form, text, otherwise) {
    try {
        return form.read(text);
    } catch {
        return otherwise;
    }
}

/* A change of these fields keeps the zoom. Other fields change the graph, so they zoom out. */
const KEEPS_ZOOM = new Set(["zoom", "panel", "search", "icicle"]);

export class State {
    /**
     * @param {View} base the view of an empty fragment
     * @param {(view: View, before: View) => void} onchange
     */
    constructor(base, onchange) {
        this.base = base;
        this.view = fromFragment(location.hash, base);
        this.onchange = onchange;
        /** @type {View[]} */
        this.before = [];
        /** @type {View[]} */
        this.after = [];
        this.typed = ""; /* the field of the last change, if it was typed; else "" */
        addEventListener("hashchange", () => this.followLink());
    }

    /**
     * @param {Partial<View>} changes
     * @param {boolean} [typed] typed in a field: changes in a row of the same field undo together
     */
    set(changes, typed = false) {
        const fresh = { ...this.view, ...changes };

        if (!("zoom" in changes) && Object.keys(changes).some((key) => !KEEPS_ZOOM.has(key)))
            fresh.zoom = null;
        if (toFragment(fresh, this.base) === toFragment(this.view, this.base))
            return;
        const field = typed ? Object.keys(changes).join() : "";

        if (!field || this.typed !== field)
            this.before.push(this.view);
        this.typed = field;
        this.after = [];
        this.show(fresh);
    }

    undo() {
        const last = this.before.pop();

        this.typed = "";
        if (last) {
            this.after.push(this.view);
            this.show(last);
        }
    }

    redo() {
        const next = this.after.pop();

        if (next) {
            this.before.push(this.view);
            this.show(next);
        }
    }

    /** @param {View} view */
    show(view) {
        const old = this.view;

        this.view = view;
        history.replaceState(null, "", `#${toFragment(view, this.base)}`);
        this.onchange(view, old);
    }

    followLink() {
        const view = fromFragment(location.hash, this.base);

        if (toFragment(view, this.base) !== toFragment(this.view, this.base)) {
            this.before.push(this.view);
            this.after = [];
            this.show(view);
        }
    }
}
