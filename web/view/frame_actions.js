// SPDX-License-Identifier: Apache-2.0
/* The actions for a frame, in its menu and by keys. */
import { copy } from "#view/export";
import { WAITING } from "#analysis/root_texts";
import { pathOf } from "#view/flame_path";
import { toggled } from "#view/graph_controls";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("./menu.js").Entry} Entry */

/** A pattern for names that begin with this text. @param {string} text */
function beginningWith(text) {
    return `^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`;
}

/** A pattern for exactly this text. @param {string} text */
function exactly(text) {
    return `${beginningWith(text)}$`;
}

/** "lists:" of "lists:map/2", "Enum." of "Enum.map/2", "" if there is none. @param {string} text */
function modulePrefix(text) {
    return /^(?:'[^']*'|[\w@]+):/.exec(text)?.[0] ?? /^(?:[A-Z]\w*\.)+/.exec(text)?.[0] ?? "";
}

/**
 * @param {Tree} tree
 * @param {number} node
 * @param {{ view(): View, set(changes: Partial<View>): void, zoom(): void }} page
 * @returns {Entry[]}
 */
export function frameActions(tree, node, { view, set, zoom }) {
    const name = tree.names[tree.name[node]], module = modulePrefix(name);
    const hide = (/** @type {string} */ pattern) =>
        set({ hidden: toggled(view().hidden, pattern) });

    if (!node)
        return [{ text: "Zoom out", key: "Enter", run: zoom }];
    if (view().foldWaiting && name === WAITING)
        return [{ text: "Unfold", key: "Enter", run: zoom }];
    /** @type {Entry[]} */
    const ofCode = [
        { text: "Callers and callees", key: "s",
            run: () => set({ form: "sandwich", focus: name }) },
        null,
        { text: "Hide this function", key: "h", run: () => hide(exactly(name)) },
        ...(module ? [{ text: `Hide all of ${module.slice(0, -1)}`, key: "H",
            run: () => hide(beginningWith(module)) }] : []),
    ];

    return [
        { text: "Zoom", key: "Enter", run: zoom },
        { text: "Search for it", key: "f", run: () => set({ search: exactly(name) }) },
        { text: "Only stacks with it", key: "i", run: () => set({ include: exactly(name) }) },
        { text: "No stacks with it", key: "x", run: () => set({ exclude: exactly(name) }) },
        ...(tree.frame[node] ? ofCode : []),
        null,
        { text: "Copy its name", key: "y", run: () => copy(name) },
        { text: "Copy its stack", key: "Y", run: () => copy(pathOf(tree, node).join("\n")) },
    ];
}
