// SPDX-License-Identifier: Apache-2.0
/* What follows from a recording or a part of it is worked out once, and again only after others. */

/** @type {WeakMap<object, Map<string, Map<string, unknown>>>} */
const known = new WeakMap();

const KEPT = 6;

/**
 * What `make` gives, made when it is first asked for. Of all keys of one sort of thing that follows
 * from `owner`, those used last are kept.
 *
 * @template T
 * @param {object} owner
 * @param {string} sort
 * @param {string} key all that the thing depends on, besides its owner
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
 * A name for the keys of what depends on a thing that was remembered.
 *
 * @param {object} thing
 */
export function nameOf(thing) {
    const name = names.get(thing) ?? String(++named);

    names.set(thing, name);
    return name;
}
