// SPDX-License-Identifier: Apache-2.0
/* Menus of actions, and lists of check boxes. */
import { byId, element, fill } from "#view/dom";

/** @typedef {{ text: string, key?: string, run: () => void } | null} Entry null: a separator */

/** @type {HTMLElement | null} */
let open = null;

/**
 * Open a menu. It has the keyboard focus until it is closed.
 *
 * @param {string} title
 * @param {Entry[]} entries
 * @param {number} x
 * @param {number} y
 */
export function openMenu(title, entries, x, y) {
    const back = document.activeElement;
    const close = (/** @type {boolean} */ returns) => {
        removeEventListener("pointerdown", outside, true);
        menu.remove();
        open = null;
        if (returns && back instanceof HTMLElement)
            back.focus();
    };
    const outside = (/** @type {Event} */ event) => {
        if (!(event.target instanceof Node && menu.contains(event.target)))
            close(false);
    };
    const menu = element("div", { role: "menu", "aria-label": title },
        element("div", { className: "title" }, title),
        ...entries.map((entry) => (entry === null ? element("hr")
            : element("button", { type: "button", role: "menuitem", tabIndex: -1, onclick: () => {
                close(true);
                entry.run();
            } }, entry.text, entry.key ? element("kbd", {}, entry.key) : null))));

    open?.remove();
    open = menu;
    menu.addEventListener("keydown", (event) => keyed(event, menu, entries, close));
    addEventListener("pointerdown", outside, true);
    byId("views").append(menu);
    menu.style.left = `${Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 6))}px`;
    menu.style.top = `${Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 6))}px`;
    menu.querySelector("button")?.focus();
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} menu
 * @param {Entry[]} entries
 * @param {(returns: boolean) => void} close
 */
function keyed(event, menu, entries, close) {
    const items = [...menu.querySelectorAll("button")];
    const at = items.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const targets = { ArrowDown: (at + 1) % items.length, Home: 0, End: items.length - 1,
        ArrowUp: (at + items.length - 1) % items.length };
    const short = entries.find((entry) => entry?.key === event.key);

    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") {
        close(true);
    } else if (event.key in targets) {
        items[targets[event.key]].focus();
    } else if (short && event.key !== "Enter") {
        close(true);
        short.run();
    } else {
        return;
    }
    event.preventDefault();
}

/**
 * A button that opens a list of check boxes. `set` changes the checked values.
 *
 * @param {string} title
 * @param {{ text: string, value: number }[]} options
 * @param {(values: number[]) => void} onchange
 */
export function checkList(title, options, onchange) {
    const boxes = options.map(({ value }) => element("input", { type: "checkbox",
        onchange: () => onchange(options.filter((_, i) => boxes[i].checked)
            .map((option) => option.value)), value: String(value) }));
    const summary = element("summary", {}, title);
    const made = element("details", { className: "menu" }, summary, element("div", {},
        ...options.map(({ text }, i) =>
            element("label", { className: "check" }, boxes[i], text))));

    closeOutside(made, summary);
    return { element: made, set: (/** @type {number[]} */ values) => {
        boxes.forEach((box, i) => (box.checked = values.includes(options[i].value)));
        fill(summary, values.length ? `${title}: ${values.length}` : title);
        summary.classList.toggle("chosen", values.length > 0);
    } };
}

/**
 * @param {HTMLDetailsElement} details
 * @param {HTMLElement} summary
 */
function closeOutside(details, summary) {
    addEventListener("pointerdown", (event) => {
        if (!(event.target instanceof Node && details.contains(event.target)))
            details.open = false;
    }, true);
    details.addEventListener("focusout", ({ relatedTarget }) => {
        /* After a press on an element without focus, such as a label of the list, it is null. */
        if (relatedTarget instanceof Node && !details.contains(relatedTarget))
            details.open = false;
    });
    details.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && details.open) {
            details.open = false;
            summary.focus();
            event.stopPropagation();
        }
    });
}
