// SPDX-License-Identifier: Apache-2.0
/* What the browser keeps for later pages. It may have no storage for pages opened from files. */

/** @param {string} name */
export function kept(name) {
    try {
        return localStorage.getItem(name);
    } catch {
        return null;
    }
}

/**
 * @param {string} name
 * @param {string} text
 */
export function keep(name, text) {
    try {
        localStorage.setItem(name, text);
    } catch { /* then the next page begins as the first one */ }
}
