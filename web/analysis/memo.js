// SPDX-License-Identifier: Apache-2.0
/* Caches results that are computed from a recording or a part of it. */

/** @type {WeakMap<object, Map<string, Map<string, unknown>>>} */
const known = new WeakMap();

const KEPT = 6;

/**
 * Return the cached result of `make`, or call it. For each pair of `owner` and `sort` the cache
 * holds the KEPT most recently used results. The results of an owner are freed with it.
 *
 * @template T
 * @param {object} owner
 * @param {string} sort
 * @param {string} key everything that the result depends on, besides the owner
 * @param {() => T} make
 * @returns {T}
 */
export function remember(owner, sort, key, make) {
    const sorts = known.get(owner) ?? new Map();
    const things = sorts.get(sort) ?? new Map();
    const thing = things.has(key) ? things.get(key) : make();

    known.set(owner, sorts.set(sort, things));
    things.delete(key);
    things.set(key, thing);
    if (things.size > KEPT)
        things.delete(things.keys().next().value);
    return thing;
}

/** @type {WeakMap<object, string>} */
const names = new WeakMap();
let named = 0;

/**
 * A unique name of an object, for cache keys of results that depend on it.
 *
 * @param {object} thing
 */
export function nameOf(thing) {
    const name = names.get(thing) ?? String(++named);

    names.set(thing, name);
    return name;
}
