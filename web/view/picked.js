// SPDX-License-Identifier: Apache-2.0
/* What a click on a row of a table selects. */

/**
 * The picked row alone; with Ctrl (`more`), added to the others or removed from them. A click on the
 * only one that is selected selects all.
 *
 * @template T
 * @param {T[]} picked before
 * @param {T} one
 * @param {boolean} more
 */
export function pickedWith(picked, one, more) {
    const others = picked.filter((other) => other !== one), was = others.length < picked.length;

    if (more)
        return was ? others : [...others, one];
    return was && !others.length ? [] : [one];
}
