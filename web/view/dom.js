// SPDX-License-Identifier: Apache-2.0
/* Elements, made in one expression; icons. */

/** @typedef {Node | string | null | false | undefined} Child */

/**
 * An element with properties ("onclick", "className", ...) and attributes (all with a dash, and
 * "role"), and what is in it; false things are left out.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);

    for (const [name, value] of Object.entries(properties)) {
        if (name.includes("-") || name === "role")
            made.setAttribute(name, String(value));
        else
            /** @type {any} */ (made)[name] = value;
    }
    fill(made, ...children);
    return made;
}

/**
 * Put these in place of all that is in an element.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
    parent.replaceChildren(...children.filter((child) => child || child === "").map(
        (child) => /** @type {Node | string} */ (child)));
}

/**
 * The element of index.html with this id.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
    const found = document.getElementById(id);

    if (!found)
        throw new Error(`the page has no #${id}`);
    return found;
}

/**
 * @param {string} text
 * @param {() => void} onclick
 * @param {Record<string, any>} [properties]
 */
export function button(text, onclick, properties = {}) {
    return element("button", { type: "button", onclick, ...properties }, text);
}

/**
 * A button that stays pressed: `set` presses it or not.
 *
 * @param {string} text
 * @param {(pressed: boolean) => void} onchange
 * @param {Record<string, any>} [properties]
 */
export function toggle(text, onchange, properties = {}) {
    const made = button(text, () => onchange(made.getAttribute("aria-pressed") !== "true"),
        { "aria-pressed": "false", ...properties });

    return { element: made, set: (/** @type {boolean} */ pressed) =>
        made.setAttribute("aria-pressed", String(pressed)) };
}

/** @param {EventTarget | null} target whether keys typed there are text */
export function takesText(target) {
    return target instanceof HTMLElement && (target.isContentEditable
        || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
        || (target instanceof HTMLInputElement && target.type !== "checkbox"));
}
