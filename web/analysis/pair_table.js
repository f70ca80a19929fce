// SPDX-License-Identifier: Apache-2.0
/* Dense ids from 0 on for pairs of numbers, in columns: no object a pair, however many there are. */

export class PairTable {
    /** @param {number} [expected] how many pairs, about */
    constructor(expected = 1024) {
        const capacity = 2 ** Math.ceil(Math.log2(Math.max(expected, 64)));

        this.count = 0;
        /** Of each id, the pair. */
        this.a = new Uint32Array(capacity);
        this.b = new Uint32Array(capacity);
        /** Of each hash an id and 1 more, 0 for none: twice as many as ids. */
        this.slots = new Uint32Array(capacity * 2);
    }

    /**
     * The id of a pair; that is `count` before the call if it is a new one.
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

/* Multipliers of xxHash (PRIME32_1, PRIME32_2): neighbours end up far from each other. */
/**
 * @param {number} a
 * @param {number} b
 */
function hash(a, b) {
    const mixed = Math.imul(a, 0x9E3779B1) ^ Math.imul(b, 0x85EBCA77);

    return mixed ^ (mixed >>> 15);
}
