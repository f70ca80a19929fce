// SPDX-License-Identifier: Apache-2.0
/* Stacks in order of time. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Model } from "../../web/analysis/model.js";
import { Layout } from "../../web/view/flame_layout.js";
import { timeOfNode } from "../../web/view/time_ticks.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const MS = 1e6;
const treesOf = (samples, changes = {}, prepare = () => {}) => {
    const recording = makeRecording(samples, [{ from: 0, to: 100, frequency: 0 }]);

    prepare(recording);
    return new Model(recording).trees({ ...CHOICE, form: "time", ...changes });
};
const treeOf = (...given) => treesOf(...given)[0];
/** "name from-to" in ms by depth, from the root on. */
const rows = (tree) => Array.from({ length: tree.count }, (_, node) => {
    const from = tree.time.start[node] / MS;

    return `${"  ".repeat(tree.depth[node])}${node ? tree.names[tree.name[node]] : tree.time.subject} ${
        from}-${from + tree.total[0][node] / MS}`;
});
const tick = (time, stack, value = 10) => ({ time, stack, value: value * MS, process: "p" });

test("neighbouring samples are one run of each frame that they share", () => {
    assert.deepEqual(rows(treeOf([tick(10, "a;b"), tick(20, "a;c"), tick(30, "a;b"), tick(40, "d;b")])),
        ["p <0.1.0> 0-100", "  a 0-30", "  d 30-40", "    b 0-10", "    c 10-20", "    b 20-30", "    b 30-40"]);
});

test("a time without a sample ends all runs", () => {
    const tree = treeOf([tick(10, "a;b"), tick(50, "a;b")]);

    assert.deepEqual(rows(tree).slice(1, 3), ["  a 0-10", "  a 40-50"]);
    assert.equal(tree.self[0][0] / MS, 80);
    const layout = new Layout(tree);

    assert.deepEqual([5, 20, 45].map((ms) => layout.at(ms * MS, 1)), [1, -1, 2]);
});

test("of a process, event sched shows when it waited", () => {
    const samples = [tick(10, "a"), { ...tick(40, "a;[waiting]", 25), event: "sched" },
        { ...tick(40, "a;[runnable]", 5), event: "sched", ofHit: true }, tick(45, "a;b", 8)];

    assert.deepEqual(rows(treeOf(samples)).slice(1),
        ["  a 0-45", "    [waiting] 10-35", "    [runnable] 35-40", "    b 40-45"]);
});

test("a sample of a window has no time before its window", () => {
    assert.deepEqual(rows(treeOf([tick(60, "a", 50)], {}, ({ spans }) =>
        (spans[1] = Float64Array.of(0, 20, 45, 70))))[1], "  a 45-60");
});

test("it is of the process with most weight, or of the one that is selected", () => {
    const samples = [tick(10, "a"), { ...tick(20, "b", 15), process: "most" }];

    assert.equal(treeOf(samples).time.subject, "most <0.4.0>");
    assert.deepEqual(rows(treeOf(samples, { processes: [1] })), ["p <0.1.0> 0-100", "  a 0-10"]);
});

test("of a scheduler it shows the processes", () => {
    const samples = [{ ...tick(10, "a"), thread: 1 }, { ...tick(20, "b"), thread: 1, process: "q2" },
        { ...tick(20, "c"), thread: 0 }];
    const named = (recording) => {
        const threads = ["target", "tid", "name", "number"].map((name) => [name, Uint32Array.of(0, 1)]);

        Object.assign(recording.threads, Object.fromEntries(threads), { kind: Uint8Array.of(0, 1) });
    };

    assert.deepEqual(rows(treeOf(samples, { schedulers: [1], groupBy: ["name"] }, named)).slice(1, 5),
        ["  p 0-10", "  q2 10-20", "    a 0-10", "    b 10-20"]);
});

test("only the selected time is shown", () => {
    assert.deepEqual(rows(treeOf([tick(10, "a"), tick(24, "a")], { range: { from: 20, to: 30 } })),
        ["p <0.1.0> 0-10", "  a 0-4"]);
});

const COMPARED = { range: { from: 50, to: 100 }, against: { from: 0, to: 50 } };
const BOTH = [tick(10, "a"), { ...tick(30, "c", 20), process: "other" }, tick(60, "b"), tick(70, "b")];

test("a comparison shows A and B, both of the same process", () => {
    const trees = treesOf(BOTH, COMPARED);

    assert.deepEqual(trees.map(rows), [["p <0.1.0> 0-50", "  a 0-10"], ["p <0.1.0> 0-50", "  b 0-20"]]);
    assert.deepEqual(trees.map(({ time: { side, clock } }) => [side, clock]), [["A", 0], ["B", 0]]);
    assert.deepEqual(trees.map((tree) => timeOfNode(tree, 1)),
        [{ from: 0, to: 10 }, { from: 50, to: 70 }]);
});

test("of two recordings, each shows its own process by its own clock", () => {
    const trees = treesOf(BOTH, COMPARED, ({ header }) => {
        header.compares = true;
        header.parts = [{ from: 0, to: 50, frequency: 0 }, { from: 50, to: 100, frequency: 0 }];
    });

    assert.deepEqual(trees.map(({ time: { subject, side, clock } }) => [subject, side, clock]),
        [["other <0.5.0>", "A", 0], ["p <0.1.0>", "B", 50]]);
});
