// SPDX-License-Identifier: Apache-2.0
/* Sorts items by small whole numbers, in time linear in their number. Items with the same key keep
 * their order. */

/**
 * By key, the index of its first item when the items are sorted by key.
 *
 * @param {Uint32Array} keys by item
 * @param {number} count of possible keys
 * @param {Uint32Array | null} items null: all
 */
export function startsOf(keys, count, items = null) {
    const start = new Uint32Array(count + 1), length = items ? items.length : keys.length;

    for (let i = 0; i < length; i++)
        start[keys[items ? items[i] : i] + 1]++;
    for (let key = 0; key < count; key++)
        start[key + 1] += start[key];
    return start;
}

/**
 * The items, sorted by key.
 *
 * @param {Uint32Array} keys by item
 * @param {number} count of possible keys
 * @param {Uint32Array | null} items null: all
 */
export function sortedBy(keys, count, items = null) {
    const next = startsOf(keys, count, items);
    const sorted = new Uint32Array(items ? items.length : keys.length);

    for (let i = 0; i < sorted.length; i++) {
        const item = items ? items[i] : i;

        sorted[next[keys[item]]++] = item;
    }
    return sorted;
}
