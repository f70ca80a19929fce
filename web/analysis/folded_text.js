// SPDX-License-Identifier: Apache-2.0
/* A tree as folded text, as `beamflame report -o x.folded` writes it (src/output/folded.c). */

/** @typedef {import("../types").Tree} Tree */
/** @typedef {{ bytes: Uint8Array, line: string, weight: number }} Line */

/** @param {string} text */
const escaped = (text) => text.replace(/[%;\n]/g, (character) =>
    `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

/**
 * A line for each stack of side 0, "a;b;c 12", in the order of its bytes.
 *
 * @param {Tree} tree
 */
export function foldedText(tree) {
    /** @type {Map<string, number>} */
    const lines = new Map();
    const texts = [""], encoder = new TextEncoder();

    for (let node = 0; node < tree.count; node++) {
        const above = texts[tree.parent[node]], own = escaped(tree.names[tree.name[node]]);

        texts[node] = node && above ? `${above};${own}` : own;
        if (tree.self[0][node]) {
            const line = node ? texts[node] : "[no stack]";

            lines.set(line, (lines.get(line) ?? 0) + Math.abs(tree.self[0][node]));
        }
    }
    const sorted = [...lines].map(([line, weight]) =>
        ({ bytes: encoder.encode(line), line, weight })).sort(byBytes);

    return (tree.weights.unit === "samples" ? rounded(sorted) : sorted)
        .map(({ line, weight }) => `${line} ${BigInt(weight)}\n`).join("");
}

/**
 * @param {Line} a
 * @param {Line} b
 */
function byBytes({ bytes: a }, { bytes: b }) {
    let i = 0;

    while (i < a.length && i < b.length && a[i] === b[i])
        i++;
    return (a[i] ?? -1) - (b[i] ?? -1);
}

/**
 * Numbers of samples are fractions. What rounding takes from a line goes to the next ones.
 *
 * @param {Line[]} lines
 */
function rounded(lines) {
    const total = lines.reduce((sum, { weight }) => sum + weight, 0);
    let sum = total && !Math.round(total) ? 0.5 : 0, written = 0;

    return lines.map((line) => {
        const own = Math.round(sum += line.weight) - written;

        written += own;
        return { ...line, weight: own };
    }).filter(({ weight }) => weight);
}
