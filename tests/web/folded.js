// SPDX-License-Identifier: Apache-2.0
/* A tree as `beamflame report -o x.folded` writes it (src/output/folded.c). */

/** @typedef {import("../../web/types").Tree} Tree */

/** @param {string} text */
const escaped = (text) => text.replace(/[%;\n]/g, (character) =>
    `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

/**
 * @param {Tree} tree
 * @returns {string}
 */
export function folded(tree) {
    /** @type {Map<string, number>} */
    const lines = new Map();
    const texts = [""];

    for (let node = 0; node < tree.count; node++) {
        const above = texts[tree.parent[node]], own = escaped(tree.names[tree.name[node]]);

        texts[node] = node && above ? `${above};${own}` : own;
        if (tree.self[0][node]) {
            const line = node ? texts[node] : "[no stack]";

            lines.set(line, (lines.get(line) ?? 0) + Math.abs(tree.self[0][node]));
        }
    }
    const sorted = [...lines].map(([line, weight]) => ({ bytes: Buffer.from(line), weight }))
        .sort((a, b) => Buffer.compare(a.bytes, b.bytes));

    return (tree.weights.unit === "samples" ? rounded(sorted) : sorted)
        .map(({ bytes, weight }) => `${bytes} ${BigInt(weight)}\n`).join("");
}

/**
 * Numbers of samples are fractions. What rounding takes from a line goes to the next ones.
 *
 * @param {{ bytes: Buffer, weight: number }[]} lines
 */
function rounded(lines) {
    const total = lines.reduce((sum, { weight }) => sum + weight, 0);
    let sum = total && !Math.round(total) ? 0.5 : 0, written = 0;

    return lines.map(({ bytes, weight }) => {
        const own = Math.round(sum += weight) - written;

        written += own;
        return { bytes, weight: own };
    }).filter(({ weight }) => weight);
}
