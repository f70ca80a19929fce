// SPDX-License-Identifier: Apache-2.0
/* The controls of the graph: form, orientation, folding, hiding, comparison, search. */
import { button, element, fill, toggle } from "#view/dom";
import { canFoldWaiting } from "#analysis/waiting";
import { patternField } from "#view/controls";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("./controls.js").Set} Set */

/** Matches frames of OTP behaviours and of process starts. They lie between frames of user code. */
export const PLUMBING = "^('?(proc_lib|gen|gen_server|gen_statem|gen_event|gen_fsm|supervisor|"
    + "supervisor_bridge|sys)'?:|(GenServer|Supervisor|DynamicSupervisor|Task[.]Supervised|"
    + "Agent[.]Server)[.])";

/** @type {[View["form"], string, string][]} */
const FORMS = [
    ["stacks", "Stacks", "from the process to the leaf"],
    ["callers", "Bottom-up", "merged from the leaf: functions with their callers (b)"],
    ["sandwich", "Sandwich", "callers above, callees below one function (s)"],
    ["time", "Time order", "what a process or scheduler did, from left to right (w)"],
];

/**
 * The hidden patterns with this one added, or removed if it is there.
 *
 * @param {string[]} hidden
 * @param {string} pattern
 */
export function toggled(hidden, pattern) {
    return hidden.includes(pattern) ? hidden.filter((other) => other !== pattern)
        : [...hidden, pattern];
}

export class GraphControls {
    /**
     * @param {Element} place
     * @param {import("../types.js").Recording} recording
     * @param {Set} set
     * @param {{ view(): View, sandwich(): void, togglePanel(): void, toggleLanes(): void }} page
     */
    constructor(place, recording, set, page) {
        this.recording = recording;
        this.forms = FORMS.map(([form, text, hint]) => button(text, () =>
            (form === "sandwich" ? page.sandwich() : set({ form })),
        { role: "radio", title: hint }));
        this.icicle = toggle("Root on top", (icicle) => set({ icicle }), { title: "v" });
        this.fold = toggle("Fold recursion", (foldRecursion) => set({ foldRecursion }),
            { title: "runs of one function are one frame (r)" });
        this.waiting = toggle("Fold waiting", (foldWaiting) => set({ foldWaiting }),
            { title: "processes that wait are one frame (g)" });
        this.erlang = toggle("Erlang only", (erlangOnly) => set({ erlangOnly }),
            { title: "C code and BIFs are a part of the Erlang function that calls them (e)" });
        this.plumbing = toggle("Hide OTP plumbing", () =>
            set({ hidden: toggled(page.view().hidden, PLUMBING) }),
        { title: "frames of proc_lib, gen_server, supervisor and the like (o)" });
        this.per = element("select", { onchange: () =>
            set({ per: /** @type {View["per"]} */ (this.per.value) }) },
        ...[["time", "per time"], ["total", "as shares"], ["none", "as they are"]]
            .map(([value, text]) => element("option", { value }, text)));
        this.perField = element("label", { className: "field" }, "compare", this.per);
        this.search = patternField("search  /", "a regular expression, as of -I",
            (search) => set({ search }, true));
        this.search.element.id = "search";
        this.search.element.size = 24;
        this.matched = element("output", { id: "matched", htmlFor: "search" });
        this.lanes = toggle("Lanes", () => page.toggleLanes(),
            { title: "what the VM did over time, below the heatmap (l)" });
        this.panel = toggle("Tables", () => page.togglePanel(), { title: "t" });
        fill(place, element("span", { className: "joined", role: "radiogroup",
            "aria-label": "form" }, ...this.forms), this.waiting.element, this.icicle.element,
        this.fold.element, this.erlang.element, this.plumbing.element, this.perField,
        element("span", { className: "push field" }, this.matched, this.search.element,
            this.lanes.element, this.panel.element));
        this.showLanes(null);
    }

    /** @param {boolean | null} shown null: there are none */
    showLanes(shown) {
        this.lanes.element.hidden = shown === null;
        this.lanes.set(shown === true);
    }

    /**
     * @param {View} view
     * @param {string} matched
     * @param {boolean} hasPanel
     */
    show(view, matched, hasPanel) {
        this.forms.forEach((made, i) =>
            made.setAttribute("aria-checked", String(FORMS[i][0] === view.form)));
        this.icicle.element.hidden = view.form === "sandwich"
            || (view.form === "time" && view.against !== null);
        this.icicle.set(view.icicle);
        this.waiting.element.hidden = !canFoldWaiting(this.recording, view);
        this.waiting.set(view.foldWaiting);
        this.fold.set(view.foldRecursion);
        this.erlang.set(view.erlangOnly);
        this.plumbing.set(view.hidden.includes(PLUMBING));
        this.per.value = view.per;
        this.perField.hidden = !view.against || view.form === "time";
        this.search.set(view.search);
        this.matched.textContent = matched;
        this.panel.set(hasPanel);
    }
}
