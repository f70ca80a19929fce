// SPDX-License-Identifier: Apache-2.0
/* Decodes the columns of numbers in the page's data block (format: src/output/html/html.c). */

const ESCAPE = "^".charCodeAt(0), FLIPPED = 0x40;

/** Reads the numbers of a column in their order. */
export class Numbers {
    /** @param {Uint8Array} bytes @param {Numbers | null} higher the column with the later bytes */
    constructor(bytes, higher) {
        this.bytes = bytes;
        this.higher = higher;
        this.at = 0;
    }

    /** @returns {number} */
    next() {
        let byte = this.bytes[this.at++];
        if (byte < 128)
            return byte;
        if (this.higher)
            return this.higher.next() * 128 + (byte & 127);
        let value = byte & 127;
        /* Shifts would cut the number to 32 bits. */
        for (let scale = 128; byte >= 128; scale *= 128) {
            byte = this.bytes[this.at++];
            value += (byte & 127) * scale;
        }
        return value;
    }

    ended() {
        return this.at >= this.bytes.length;
    }

    signed() {
        const folded = this.next();
        return folded % 2 ? -(folded + 1) / 2 : folded / 2;
    }
}

/**
 * The bytes of a text that src/util/encode.h wrote: 7 bits a character. The character after a '^' is
 * stored with bit 0x40 flipped.
 * @param {string} text
 */
export function bytesOf(text) {
    const bytes = new Uint8Array(text.length);
    let size = 0, bits = 0, count = 0;
    for (let i = 0; i < text.length; i++) {
        let character = text.charCodeAt(i);
        if (character === ESCAPE)
            character = text.charCodeAt(++i) ^ FLIPPED;
        bits |= character << count;
        count += 7;
        if (count < 8)
            continue;
        bytes[size++] = bits;
        bits >>= 8;
        count -= 8;
    }
    return bytes.subarray(0, size);
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function unpack(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The decompressed columns by name. */
export class Columns {
    /** @param {Map<string, Uint8Array>} bytes */
    constructor(bytes) {
        this.bytes = bytes;
    }

    /**
     * @param {[string, number, number][]} list @param {Uint8Array<ArrayBuffer>} bytes
     * @returns {Promise<Columns>}
     */
    static async unpack(list, bytes) {
        let end = 0;
        const parts = list.map(([, size]) => bytes.subarray(end, end += size));
        if (end !== bytes.length)
            throw new Error(`the page is damaged: of its recording's ${end} bytes it has ` +
                            `${bytes.length}`);
        const unpacked = await Promise.all(parts.map(unpack));
        return new Columns(new Map(list.map(([name], i) => [name, unpacked[i]])));
    }

    /** @param {string} name */
    has(name) {
        return this.bytes.has(name);
    }

    /** @param {string} name */
    get(name) {
        const bytes = this.bytes.get(name);
        if (!bytes)
            throw new Error(`the page is damaged: its recording has no column '${name}'`);
        return bytes;
    }

    /** @param {string} name @returns {Numbers} */
    numbers(name) {
        const higher = `${name}+`;
        return new Numbers(this.get(name),
                           this.bytes.has(higher) ? this.numbers(higher) : null);
    }

    /**
     * Read plain numbers: the first one into to[order[0]], the second into to[order[1]], ...
     * @template {Uint8Array | Uint32Array} T
     * @param {string} name @param {T} to @param {Uint32Array} order
     */
    ordered(name, to, order) {
        const numbers = this.numbers(name);
        for (const i of order)
            to[i] = numbers.next();
        return to;
    }

    /**
     * Read numbers that are stored as differences from the previous number, to index `from` on.
     * @template {Uint8Array | Uint32Array} T
     * @param {string} name @param {T} to @param {number} from
     */
    chained(name, to, from) {
        const numbers = this.numbers(name);
        for (let i = from, last = 0; i < to.length; i++)
            to[i] = last += numbers.signed();
        return to;
    }

    /**
     * Read ids of earlier entries. They are stored as distances: own id - earlier id.
     * @param {string} name @param {Uint32Array} to
     */
    distances(name, to) {
        const numbers = this.numbers(name);
        for (let i = 1; i < to.length; i++)
            to[i] = i - numbers.next();
        return to;
    }
}
