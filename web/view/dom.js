// SPDX-License-Identifier: Apache-2.0
/* Helpers that make and fill elements. */

/** @typedef {Node | string | null | false | undefined} Child */

/**
 * Make an element with properties ("onclick", "className", ...), attributes (names with a dash, and
 * "role") and children. Children that are null, undefined or false are left out.
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
 * Replace the children of an element.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
    parent.replaceChildren(...children.filter((child) => child || child === "").map(
        (child) => /** @type {Node | string} */ (child)));
}

/**
 * The element of index.html with this id. Throws if there is none.
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
 * A button that stays pressed. `set` changes its state.
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

/** @type {ResizeObserver | undefined} */
let resized;

/**
 * Let the keyboard scroll an element while it has more than it shows. Call this when its content
 * changes, too.
 *
 * @param {Element} scroller
 */
export function scrollByKeys(scroller) {
    resized ??= new ResizeObserver((entries) => entries.forEach(({ target }) => setStop(target)));
    resized.observe(scroller);
    setStop(scroller);
}

/** @param {Element} scroller */
function setStop(scroller) {
    const hasMore = scroller.scrollWidth > scroller.clientWidth
        || scroller.scrollHeight > scroller.clientHeight;

    if (hasMore)
        scroller.setAttribute("tabindex", "0");
    else
        scroller.removeAttribute("tabindex");
}

/** True if keys pressed on the element are its input. @param {EventTarget | null} target */
export function takesText(target) {
    return target instanceof HTMLElement && (target.isContentEditable
        || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
        || (target instanceof HTMLInputElement && target.type !== "checkbox"));
}
