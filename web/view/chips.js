// SPDX-License-Identifier: Apache-2.0
/* Shows each part of the selection as a chip with a button that removes it. */
import { button, element, fill, toggle } from "#view/dom";
import { PLUMBING, toggled } from "#view/graph_controls";
import { percentText } from "#view/number_text";
import { processText } from "#view/process_table";
import { rangeText } from "#view/time_text";
import { processName } from "#analysis/process_names";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {{ text: string, without: Partial<View>, sort?: string }} Chip `sort`: its class */

/** @type {Partial<View>} */
const EVERYTHING = { processes: [], traces: [], statuses: [], schedulers: [],
    include: "", exclude: "", form: "stacks", focus: "", hidden: [] };

/**
 * @param {View} view
 * @param {Recording} recording
 * @param {{ idle: number, whole: number } | null} idle
 * @returns {Chip[]}
 */
function chipsOf(view, recording, idle) {
    /** @type {Chip[]} */
    const chips = [];
    const { header, header: { statuses } } = recording;

    if (view.against)
        chips.push({ text: `A ${rangeText(header, view.against)}`, sort: "side-a",
            without: { against: null } });
    if (view.range)
        chips.push({ text: (view.against ? "B " : "") + rangeText(header, view.range),
            sort: view.against ? "side-b" : "range", without: { range: null } });
    for (const process of view.processes)
        chips.push({ text: processText(processName(recording, process)),
            without: { processes: view.processes.filter((other) => other !== process) } });
    for (const trace of view.traces)
        chips.push({ text: `trace ${trace}`,
            without: { traces: view.traces.filter((other) => other !== trace) } });
    if (view.statuses.length)
        chips.push({ text: view.statuses.map((status) => statuses[status] || "no process")
            .join(", "), without: { statuses: [] } });
    if (idle?.idle)
        chips.push({ text: `without idle: ${percentText(idle.idle, idle.whole)} of the time`,
            without: { idle: true }, sort: "idle" });
    if (view.schedulers.length)
        chips.push({ text: `${view.schedulers.length} of the threads`,
            without: { schedulers: [] } });
    if (view.include)
        chips.push({ text: `with ${view.include}`, without: { include: "" } });
    if (view.exclude)
        chips.push({ text: `without ${view.exclude}`, without: { exclude: "" } });
    if (view.form === "sandwich")
        chips.push({ text: `around ${view.focus}`, without: { form: "stacks", focus: "" } });
    for (const pattern of view.hidden.filter((other) => other !== PLUMBING))
        chips.push({ text: `hidden: ${pattern}`,
            without: { hidden: toggled(view.hidden, pattern) } });
    return chips;
}

/**
 * @param {HTMLElement} place
 * @param {View} view
 * @param {Recording} recording
 * @param {{ idle: number, whole: number } | null} idle what is left out (model.js)
 * @param {Pick<View, "range" | "against">} wholeTime
 * @param {(changes: Partial<View>) => void} set
 */
export function showChips(place, view, recording, idle, wholeTime, set) {
    const chips = chipsOf(view, recording, idle);

    place.hidden = !chips.length;
    fill(place, ...chips.map(({ text, without, sort }) =>
        element("span", { className: `chip ${sort ?? ""}`, title: text },
            element("span", {}, text),
            button("\u00d7", () => set(without), { "aria-label": `without: ${text}`,
                title: "remove" }))),
    chips.length > 1 ? button("Clear all", () => set({ ...EVERYTHING, ...wholeTime }),
        { className: "plain" }) : null);
}

/**
 * Behind the chip of the selected time, a button to compare it with another time without Shift.
 *
 * @param {HTMLElement} place of the chips
 * @param {View} view
 * @param {{ comparesNext: boolean }} heatmap
 */
export function showCompare(place, { range, against }, heatmap) {
    const isOffered = range !== null && !against;

    heatmap.comparesNext &&= isOffered;
    if (!isOffered)
        return;
    const { element: made, set } = toggle("", (pressed) => show(pressed), { className: "compare",
        title: "the next time that you select in the heatmap is A, as with Shift" });
    const show = (/** @type {boolean} */ pressed) => {
        heatmap.comparesNext = pressed;
        made.textContent = pressed ? "Select the time to compare with" : "Compare";
        set(pressed);
    };

    show(heatmap.comparesNext);
    place.firstElementChild?.after(made);
}
