// SPDX-License-Identifier: Apache-2.0
/* Keys that work everywhere but in input fields. */
import { takesText } from "#view/dom";
import { PLUMBING, toggled } from "#view/graph_controls";

/** @typedef {import("./page.js").Page} Page */

/** @type {Record<string, (page: Page) => void>} */
const KEYS = {
    "/": () => document.getElementById("search")?.focus(),
    "?": (page) => page.help(),
    u: (page) => page.state.undo(),
    Backspace: (page) => page.state.undo(),
    U: (page) => page.state.redo(),
    0: (page) => page.zoom(null),
    Escape: (page) => page.escape(),
    t: (page) => page.state.set({ panel: page.tables.panel.next(page.view) }),
    l: (page) => page.lanes.toggle(page.view),
    "+": (page) => page.stepScale(-1),
    "=": (page) => page.stepScale(-1),
    "-": (page) => page.stepScale(1),
    p: (page) => page.exportMenu(),
    d: (page) => page.theme.toggle(),
    k: (page) => page.state.set({ form: "stacks" }),
    b: (page) => page.state.set({ form: "callers" }),
    s: (page) => page.sandwich(),
    w: (page) => page.state.set({ form: "time" }),
    v: (page) => page.state.set({ icicle: !page.view.icicle }),
    r: (page) => page.state.set({ foldRecursion: !page.view.foldRecursion }),
    g: (page) => page.toggleWaiting(),
    e: (page) => page.state.set({ erlangOnly: !page.view.erlangOnly }),
    o: (page) => page.state.set({ hidden: toggled(page.view.hidden, PLUMBING) }),
};

/** Keys for the focused frame (frame_actions.js). */
const OF_FRAME = new Set(["f", "i", "x", "h", "H", "y", "Y"]);

/** @param {Page} page */
export function listenToKeys(page) {
    addEventListener("keydown", (event) => {
        if (takesText(event.target)) {
            if (event.key === "Escape" && event.target instanceof HTMLElement)
                event.target.blur();
            return;
        }
        if (document.querySelector("dialog") || event.defaultPrevented)
            return;
        if (event.ctrlKey || event.metaKey)
            withControl(page, event);
        else if (!event.altKey)
            plain(page, event);
    });
}

/**
 * @param {Page} page
 * @param {KeyboardEvent} event
 */
function withControl(page, event) {
    if (event.key === "z")
        page.state.undo();
    else if (event.key === "y" || event.key === "Z")
        page.state.redo();
    else
        return;
    event.preventDefault();
}

/**
 * @param {Page} page
 * @param {KeyboardEvent} event
 */
function plain(page, event) {
    if (OF_FRAME.has(event.key))
        page.frameKey(event.key);
    else if (Object.hasOwn(KEYS, event.key))
        KEYS[event.key](page);
    else
        return;
    event.preventDefault();
}
