// SPDX-License-Identifier: Apache-2.0
/* The controls of the selection: weight, groups, filters. */
import { weigh, weightsOf } from "#analysis/weights";
import { GROUP_KEYS } from "#analysis/grouping";
import { canLeaveOutIdle } from "#analysis/idle";
import { readPattern } from "#analysis/pattern";
import { button, element, fill } from "#view/dom";
import { checkList } from "#view/menu";
import { weightText } from "#view/weight_text";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").View} View */
/** @typedef {(changes: Partial<View>, typed?: boolean) => void} Set State.set() */

/**
 * @param {string} label
 * @param {Node} control
 */
function field(label, control) {
    return element("label", { className: "field" }, label, control);
}

/**
 * @param {HTMLSelectElement} select
 * @param {{ value: string, text: string }[]} options
 * @param {string} chosen
 */
function setOptions(select, options, chosen) {
    const known = Array.from(select.options, (option) => option.value).join("\n");

    if (known !== options.map((option) => option.value).join("\n"))
        fill(select, ...options.map(({ value, text }) => element("option", { value }, text)));
    select.value = chosen;
}

/**
 * A field for a regular expression. It marks an invalid one and shows why it is invalid.
 *
 * @param {string} label
 * @param {string} hint
 * @param {(pattern: string) => void} onchange
 */
export function patternField(label, hint, onchange) {
    const input = element("input", { type: "search", spellcheck: false, size: 16, title: hint,
        placeholder: label, "aria-label": label });
    let pending = 0;

    input.addEventListener("input", () => {
        clearTimeout(pending);
        pending = window.setTimeout(() => take(input.value), 200);
    });
    input.addEventListener("change", () => take(input.value));

    /** @param {string} pattern */
    function take(pattern) {
        clearTimeout(pending);
        if (tell(pattern))
            onchange(pattern);
    }

    /** @param {string} pattern */
    function tell(pattern) {
        const { problem } = readPattern(pattern);

        input.setAttribute("aria-invalid", String(problem !== ""));
        input.title = problem || hint;
        return !problem;
    }

    return { element: input, set: (/** @type {string} */ pattern) => {
        if (document.activeElement !== input || !pattern)
            input.value = pattern;
        tell(pattern);
    } };
}

/** The control of the group keys, the outermost first. */
class Groups {
    /** @param {Set} set */
    constructor(set) {
        this.set = set;
        this.list = element("span", { className: "field", role: "list",
            "aria-label": "groups, the outermost first" });
        this.more = element("select", { "aria-label": "add a group", onchange: () => {
            set({ groupBy: [...this.keys, this.more.value] });
        } });
        /** @type {string[]} */
        this.keys = [];
        this.element = element("span", { className: "field" }, "group by", this.list, this.more);
    }

    /** @param {string[]} groupBy */
    show(groupBy) {
        this.keys = groupBy.filter((key) => key !== "none");
        const others = GROUP_KEYS.filter((/** @type {string} */ key) =>
            key !== "none" && !this.keys.includes(key));

        this.more.classList.toggle("narrow", this.keys.length > 0);
        fill(this.list, ...this.keys.map((key, index) => this.chip(key, index)));
        setOptions(this.more, [{ value: "", text: this.keys.length ? "+" : "nothing" },
            ...others.map((/** @type {string} */ key) =>
                ({ value: key, text: key.replace("_", " ") }))], "");
    }

    /**
     * @param {string} key
     * @param {number} index
     */
    chip(key, index) {
        const { keys, set } = this, name = key.replace("_", " ");
        const moved = keys.filter((_, i) => i !== index);

        moved.splice(index - 1, 0, key);
        return element("span", { className: "chip", role: "listitem" },
            index ? button("\u2039", () => set({ groupBy: moved }),
                { "aria-label": `${name} further out`, title: "further out" }) : null,
            element("span", {}, name),
            button("\u00d7", () => set({ groupBy: orNone(keys.filter((_, i) => i !== index)) }),
                { "aria-label": `do not group by ${name}`, title: "remove" }));
    }
}

/** @param {string[]} keys */
function orNone(keys) {
    return keys.length ? keys : ["none"];
}

export class Controls {
    /**
     * @param {Element} place
     * @param {Recording} recording
     * @param {Set} set
     */
    constructor(place, recording, set) {
        this.recording = recording;
        this.weight = element("select", { onchange: () =>
            set({ weight: this.weight.value, change: false }) });
        this.change = element("input", { type: "checkbox", onchange: () =>
            set({ change: this.change.checked }) });
        this.changeLabel = element("label", { className: "check",
            title: "of the same process" }, this.change, "growth since the previous sample");
        this.groups = new Groups(set);
        this.statuses = checkList("status", recording.header.statuses.map((text, value) =>
            ({ text: value ? text : "no process", value })), (statuses) => set({ statuses }));
        this.idle = element("input", { type: "checkbox", onchange: () =>
            set({ idle: this.idle.checked }) });
        this.idleLabel = element("label", { className: "check",
            title: "processes that wait for any message in their main loop" }, this.idle,
        "show idle");
        this.schedulers = checkList("scheduler", threadsOf(recording), (schedulers) =>
            set({ schedulers }));
        this.include = patternField("only stacks with\u2026",
            "a regular expression: stacks with a frame that matches (-I)",
            (include) => set({ include }, true));
        this.exclude = patternField("no stacks with\u2026",
            "a regular expression: stacks without a frame that matches (-X)",
            (exclude) => set({ exclude }, true));
        fill(place, field("weight", this.weight), this.changeLabel,
            this.idleLabel, this.groups.element, this.statuses.element, this.schedulers.element,
            this.include.element, this.exclude.element);
    }

    /** @param {View} view */
    show(view) {
        const { recording } = this, weights = weightsOf(recording, view.event);
        const weight = weigh(recording, view).name;

        setOptions(this.weight, weights.map(({ name, unit }) => ({ value: name,
            text: weightText(name, unit)
                + (UNITS.includes(unit) && unit !== name ? ` (${unit})` : "") })), weight);
        this.change.checked = view.change;
        this.changeLabel.hidden = !weights.some(({ name, metric }) => name === weight && metric);
        this.idle.checked = view.idle;
        this.idleLabel.hidden = !canLeaveOutIdle(recording, view);
        this.groups.show(view.groupBy);
        this.statuses.set(view.statuses);
        this.schedulers.set(view.schedulers);
        this.include.set(view.include);
        this.exclude.set(view.exclude);
    }
}

/* The other units are seen at each amount. */
const UNITS = ["words", "bytes"];
const SCHEDULERS = ["", "scheduler", "dirty cpu", "dirty io"];

/** @param {Recording} recording */
function threadsOf({ threads, strings, targets }) {
    const found = [];

    for (let id = 1; id < threads.tid.length; id++) {
        const kind = SCHEDULERS[threads.kind[id]];
        const text = kind ? `${kind} ${threads.number[id]}` : strings[threads.name[id]] || "thread";

        found.push({ value: id, order: threads.kind[id] || 9, number: threads.number[id],
            text: targets.length > 2 ? `${text}, pid ${targets[threads.target[id]].pid}` : text });
    }
    return found.sort((a, b) => a.order - b.order || a.number - b.number);
}
