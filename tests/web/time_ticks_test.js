// SPDX-License-Identifier: Apache-2.0
/* Where the times of a graph in order of time are drawn. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Painter, Picture } from "../../web/view/flame_draw.js";
import { drawTimeTicks } from "../../web/view/time_ticks.js";

/* A canvas on which each character is 6 px wide. */
function canvas() {
    const drawn = { lines: [], labels: [] };

    globalThis.document = { documentElement: null };
    globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000000" });
    return { drawn, measureText: (text) => ({ width: 6 * text.length }),
        fillRect: (x) => drawn.lines.push(x),
        fillText: (text, x) => drawn.labels.push({ x, end: x + 6 * text.length }) };
}

/** Draw the times of `ms` with a root of this name; returns what was drawn, and where the name ends. */
function draw(name, ms, width) {
    const context = canvas(), one = Float64Array.of(ms * 1e6);
    const tree = { count: 1, time: { from: 0, clock: 0, side: "" }, names: [name], name: [0], kind: [1],
        parent: [0], total: [one], depth: [0], scale: 1 };
    const picture = new Picture(tree, null, name, false);
    const end = new Painter(context).rootLabelEnd(picture, width);

    drawTimeTicks(context, { from: 0, to: ms * 1e6, picture }, 0, end, width);
    return { ...context.drawn, end };
}

test("no time crosses the name of the root, or the right edge", () => {
    for (const name of ["p", "families:burn/0 <0.96.0>", "a_long_name".repeat(30)]) {
        for (const width of [390, 1024, 1440]) {
            const { lines, labels, end } = draw(name, 6300, width);

            assert.ok(lines.length && labels.length, `${name} has no times on ${width} px`);
            assert.ok(lines.every((x) => x >= end && x <= width), `${name} ${width}: ${lines}, ${end}`);
            assert.ok(labels.every((label) => label.x >= end && label.end <= width));
        }
    }
});

test("a page that is not shown has no times", () => {
    assert.deepEqual(draw("p", 6300, 0).lines, []);
});
