// SPDX-License-Identifier: Apache-2.0
/* A hash table that gives pairs of numbers dense ids from 0 on. It allocates no object per pair. */

export class PairTable {
    /** @param {number} [expected] approximate number of pairs */
    constructor(expected = 1024) {
        const capacity = 2 ** Math.ceil(Math.log2(Math.max(expected, 64)));

        this.count = 0;
        /** The pair of an id is a[id], b[id]. */
        this.a = new Uint32Array(capacity);
        this.b = new Uint32Array(capacity);
        /** The hash table: id + 1, or 0 for a free slot; twice as many slots as ids. */
        this.slots = new Uint32Array(capacity * 2);
    }

    /**
     * Return the id of a pair. A new pair gets the value of `count` before the call.
     *
     * @param {number} a
     * @param {number} b
     */
    add(a, b) {
        const mask = this.slots.length - 1;
        let at = hash(a, b) & mask;

        for (let slot = this.slots[at]; slot; slot = this.slots[at]) {
            if (this.a[slot - 1] === a && this.b[slot - 1] === b)
                return slot - 1;
            at = (at + 1) & mask;
        }
        this.slots[at] = this.count + 1;
        this.a[this.count] = a;
        this.b[this.count] = b;
        if (++this.count === this.a.length)
            this.grow();
        return this.count - 1;
    }

    grow() {
        const { a, b, count } = this;

        this.a = new Uint32Array(count * 2);
        this.b = new Uint32Array(count * 2);
        this.a.set(a);
        this.b.set(b);
        this.slots = new Uint32Array(count * 4);
        for (let id = 0, mask = this.slots.length - 1; id < count; id++) {
            let at = hash(a[id], b[id]) & mask;

            while (this.slots[at])
                at = (at + 1) & mask;
            this.slots[at] = id + 1;
        }
    }
}

/* The multipliers of xxHash (PRIME32_1, PRIME32_2) spread neighbouring numbers. */
/**
 * @param {number} a
 * @param {number} b
 */
function hash(a, b) {
    const mixed = Math.imul(a, 0x9E3779B1) ^ Math.imul(b, 0x85EBCA77);

    return mixed ^ (mixed >>> 15);
}
