// SPDX-License-Identifier: Apache-2.0
/* The help: what keys and the pointer do. */
import { button, element } from "#view/dom";

/** @type {[string, [string, string][]][]} */
const HELP = [
    ["Everywhere", [
        ["/", "search (a regular expression)"], ["u, Backspace, Alt+\u2190", "undo a step"],
        ["U, Ctrl+Y, Alt+\u2192", "redo"], ["Esc", "zoom out, then end the search"],
        ["0", "zoom out"], ["t", "tables: functions, lines, tree, processes, traces, VM, none"], ["l", "lanes below the heatmap"],
        ["p", "save, print"], ["d", "dark or light"], ["?", "this"],
    ]],
    ["Form of the graph", [
        ["k", "stacks"], ["b", "bottom-up: merged from the leaf"],
        ["s", "sandwich around the focused function"],
        ["w", "order of time of a process or scheduler"], ["v", "root on top or at the bottom"],
        ["r", "fold recursion"], ["g", "fold processes that wait (wall)"], ["e", "Erlang functions only"],
        ["o", "hide OTP plumbing"],
    ]],
    ["In the graph", [
        ["click, Enter", "zoom"], ["arrows", "move between frames"],
        ["Home, End", "first and last frame of a row"], ["right click, m", "what can be done"],
        ["f", "search for the function"], ["i", "only stacks with it"], ["x", "no stacks with it"],
        ["h, H", "hide the function, or its module"],
        ["y, Y", "copy the name, or the stack"],
        ["Ctrl+wheel", "zoom at the pointer"], ["Shift+wheel", "move sideways"],
    ]],
    ["In the heatmap", [
        ["drag", "select a time"], ["Shift+drag", "compare with a time, A"],
        ["click", "select a column"], ["+, -", "finer or coarser cells, in a long recording"],
        ["arrows", "move between cells"],
        ["Enter", "begin, then end the selection"],
        ["Shift+Enter", "begin the range to compare with"], ["Esc", "select all of the time"],
    ]],
    ["In tables", [
        ["click, Enter", "narrow the graph to the row"], ["Ctrl+click", "to several processes or traces"],
        ["arrows", "move between rows; open and close those of the tree"],
    ]],
];

/** Show the dialog. It removes itself when it is closed. @param {string} version */
export function showHelp(version) {
    const dialog = element("dialog", { "aria-labelledby": "help-title",
        onclose: () => dialog.remove() },
    element("h2", { id: "help-title" }, "Keys and pointer"),
    element("div", { className: "columns" }, ...HELP.map(([title, keys]) =>
        element("section", {}, element("h3", {}, title), element("dl", {},
            ...keys.flatMap(([key, what]) => [
                element("dt", {}, ...key.split(", ").flatMap((part, i) =>
                    [i ? " " : null, element("kbd", {}, part)])), element("dd", {}, what)]))))),
    element("p", { className: "faint" }, "A column of the heatmap is a second, in a long "
        + "recording also a minute or an hour, from its start at the bottom to its end at the top. The address of the page holds the whole view: send it as a "
        + `link to anyone who has the file. Made by beamflame ${version}.`),
    button("Close", () => dialog.close(), { autofocus: true }));

    document.body.append(dialog);
    dialog.showModal();
}
