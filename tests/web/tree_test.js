// SPDX-License-Identifier: Apache-2.0
/* Trees in each form, comparisons, and matches of a search. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { group } from "../../web/analysis/grouping.js";
import { readPattern } from "../../web/analysis/pattern.js";
import { isDeepByRecursion } from "../../web/analysis/recursion.js";
import { matchTree } from "../../web/analysis/search.js";
import { select } from "../../web/analysis/selection.js";
import { buildSandwich, buildTree } from "../../web/analysis/tree.js";
import { weigh } from "../../web/analysis/weights.js";
import { foldedText } from "../../web/analysis/folded_text.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const given = (recording, changes) => {
    const choice = { ...CHOICE, ...changes }, weights = weigh(recording, choice);
    const roots = group(recording, choice, weights);
    const samples = (range) => select(recording, choice, roots, range);

    return [recording, choice, weights, roots,
        [samples(choice.range), choice.against && samples(choice.against)]];
};
const treeOf = (recording, changes = {}) => buildTree(...given(recording, changes));
const lines = (tree) => foldedText(tree).trimEnd().split("\n");
const node = (tree, name) => tree.name.findIndex((id, at) => at && tree.names[id] === name);

const SAMPLES = [
    { time: 100, stack: "a;b;c", value: 5 }, { time: 200, stack: "a;b", value: 2 },
    { time: 300, stack: "a;b;a;c", value: 3 }, { time: 1400, stack: "d;c", value: 10 },
    { time: 1500, stack: "a;a;*b", value: 1 }, { time: 1600, stack: "", value: 4 },
];

test("the tree from the root has the stacks", () => {
    const tree = treeOf(makeRecording(SAMPLES));

    assert.deepEqual(lines(tree), ["[no stack] 4", "a;a;b 1", "a;b 2", "a;b;a;c 3", "a;b;c 5",
        "d;c 10"]);
    assert.equal(tree.total[0][0], 25);
    assert.equal(tree.samples[0][0], 6);
    assert.equal(tree.total[0][node(tree, "a")], 11);
});

test("Erlang functions have the time of the C code that they call", () => {
    const recording = makeRecording([{ stack: "a;b;*c;*d", value: 5 }, { stack: "a;*c", value: 2 },
        { stack: "*c;*d", value: 3 }]);

    assert.deepEqual(lines(treeOf(recording, { erlangOnly: true })), ["a 2", "a;b 5", "c;d 3"]);
    assert.deepEqual(lines(treeOf(recording, { erlangOnly: true, form: "callers" })),
        ["a 2", "b;a 5", "d;c 3"]);
});

test("a stack is deep by recursion if folding makes it lower", () => {
    const deep = (event) => isDeepByRecursion(makeRecording([{ stack: "a;b;b;b;c" },
        { stack: "a;b;a;b;a;b", event: "gc" }]), event, 4);

    assert.deepEqual([deep(1), deep(2)], [true, false]);
    assert.equal(isDeepByRecursion(makeRecording([{ stack: "a;b;b;b" }]), 1, 4), false);
});

test("numbers of samples are sums of times in periods, rounded once", () => {
    const parts = [{ from: 0, to: 10000, frequency: 100 }];
    const sample = (stack, ms) => ({ stack, value: ms * 1e6 });
    const tree = treeOf(makeRecording([sample("a;b", 6), sample("a;b", 6), sample("a;c", 6),
        sample("d", 6)], parts));

    assert.ok(Math.abs(tree.total[0][0] - 2.4) < 1e-9);
    assert.ok(Math.abs(tree.total[0][node(tree, "a")] - 1.8) < 1e-9);
    assert.deepEqual(lines(tree), ["a;b 1", "a;c 1"]);
    assert.deepEqual(lines(treeOf(makeRecording([sample("a", 1), sample("b", 1)], parts))), ["a 1"]);
});

/* A hit of event sched has a sample for each part of its time. */
const HITS = [
    { time: 1, event: "sched", process: "cart", stack: "a;b;[waiting]", status: "waiting", value: 5 },
    { time: 1, event: "sched", process: "cart", stack: "a;b;[runnable]", status: "runnable", value: 2,
        ofHit: true },
    { time: 1, event: "sched", process: "cart", stack: "a;b", value: 9 },
    { time: 2, event: "sched", process: "cart", stack: "a;b;[waiting]", status: "waiting", value: 4 },
    { time: 2, event: "sched", process: "cart", stack: "a;b;[runnable]", status: "runnable", value: 0,
        ofHit: true },
];

test("a hit with two samples counts once where its parts meet", () => {
    const recording = makeRecording(HITS), counts = (changes) => {
        const tree = treeOf(recording, changes);

        return Object.fromEntries(["a", "b", "[waiting]", "[runnable]"].map((name) =>
            [name, tree.samples[0][node(tree, name)]]).concat([["all", tree.samples[0][0]],
            ["own of b", tree.ownSamples[0][node(tree, "b")]]]));
    };

    assert.deepEqual(counts({}), { a: 3, b: 3, "[waiting]": 2, "[runnable]": 1, all: 3,
        "own of b": 1 });
    assert.deepEqual(counts({ hidden: ["^\\["] }), { a: 3, b: 3, "[waiting]": undefined,
        "[runnable]": undefined, all: 3, "own of b": 3 });
    assert.deepEqual(counts({ statuses: [2] }), { a: 1, b: 1, "[waiting]": undefined,
        "[runnable]": 1, all: 1, "own of b": 0 });
    assert.equal(treeOf(recording, { form: "callers" }).samples[0][0], 3);
    assert.equal(treeOf(recording, { groupBy: ["status"] }).samples[0][0], 3);
    assert.equal(treeOf(recording).total[0][0], 20);
});

/** Assert that children lie side by side, in order, after their parents. */
const assertOrder = (tree) => {
    for (let at = 0; at < tree.count; at++) {
        const own = Array.from({ length: tree.children[at] }, (_, i) => tree.first[at] + i);
        const names = own.map((child) =>
            `${tree.frame[child] ? "function" : "before it"} ${tree.names[tree.name[child]]}`);

        assert.deepEqual(names, [...new Set(names)].sort());
        assert.ok(own.every((child) => child > at && tree.parent[child] === at &&
            tree.depth[child] === tree.depth[at] + 1));
    }
};

test("children lie side by side, in order, after their parents", () => {
    assertOrder(treeOf(makeRecording(SAMPLES), { groupBy: ["status", "name"] }));
});

test("a tree has its own sums, whatever was computed of the recording before", () => {
    const choices = [{}, { range: { from: 0, to: 250 } }, { range: { from: 150, to: 1450 } },
        { range: { from: 0, to: 250 }, against: { from: 150, to: 1450 } }, { weight: "samples" },
        { form: "callers" }, { groupBy: ["status"] }, { hidden: ["^b"] }];
    const recording = makeRecording(SAMPLES);

    for (const choice of [...choices, ...choices.toReversed()])
        assert.deepEqual(treeOf(recording, choice).total,
            treeOf(makeRecording(SAMPLES), choice).total);
});

test("many siblings are in order in each form, and in a tree of a part of the samples", () => {
    const samples = Array.from({ length: 60 }, (_, i) =>
        ({ time: i, stack: `${i * 37 % 60};a;${i * 23 % 60}`, process: `p${i * 7 % 60}` }));
    const recording = makeRecording(samples);

    for (const form of ["stacks", "callers"]) {
        for (const range of [null, { from: 20, to: 50 }]) {
            const tree = treeOf(recording, { form, range, groupBy: ["name"] });

            assertOrder(tree);
            assert.equal(tree.total[0][0], range ? 30 : 60);
            assert.equal(tree.count, 1 + 4 * tree.total[0][0]);
        }
    }
});

test("stacks that begin or end as others merge in each form, root frames first", () => {
    let seed = 1;
    const below = (limit) => (seed = seed * 48271 % 2147483647) % limit;
    const samples = Array.from({ length: 400 }, (_, i) => ({ time: i, process: "pq"[below(2)],
        status: ["running", "waiting"][below(2)], memory: below(3),
        stack: Array.from({ length: below(6) }, () => "abc"[below(3)]).join(";") }));
    const recording = makeRecording(samples), groupBy = ["name", "status"];
    const sums = {};

    for (const { process, status, stack } of samples) {
        const path = [process, `[${status}]`, ...stack.split(";")].filter(Boolean).reverse().join(";");

        sums[path] = (sums[path] ?? 0) + 1;
    }
    const tree = treeOf(recording, { form: "callers", groupBy });

    assertOrder(tree);
    assert.deepEqual(lines(tree).filter((line) => /^[abc]/.test(line)).sort(), Object.entries(sums)
        .filter(([path]) => /^[abc]/.test(path)).map(([path, sum]) => `${path} ${sum}`).sort());
    for (const form of ["stacks", "callers"])
        assertOrder(treeOf(recording, { form, groupBy, weight: "memory", change: true }));
    for (const part of Object.values(buildSandwich(...given(recording, { form: "sandwich", focus: "b",
        groupBy, weight: "memory", change: true }))))
        assertOrder(part);
});

test("a process of a supervisor stands beside the functions of the supervisor", () => {
    const recording = makeRecording(["p", "q"].flatMap((process) =>
        ["a", "b"].map((stack) => ({ process, stack }))));

    recording.ancestors = { up: Uint32Array.of(0, 0, 1), name: Uint32Array.of(0, 1, 2) };
    recording.processes.ancestors = Uint32Array.of(0, 1, 2);
    for (const form of ["stacks", "callers"])
        assertOrder(treeOf(recording, { form, groupBy: ["ancestors"] }));
    assert.equal(treeOf(recording, { groupBy: ["ancestors"] }).count, 7);
});

test("the tree from the leaf has the callers", () => {
    const tree = treeOf(makeRecording(SAMPLES), { form: "callers" });

    assert.deepEqual(lines(tree), ["[no stack] 4", "b;a 2", "b;a;a 1", "c;a;b;a 3", "c;b;a 5",
        "c;d 10"]);
    assert.equal(tree.total[0][node(tree, "c")], 18);
});

test("the sandwich counts the outermost call of a function", () => {
    const { callers, callees } = buildSandwich(...given(makeRecording(SAMPLES), { focus: "b" }));

    assert.deepEqual(lines(callers), ["b;a 10", "b;a;a 1"]);
    assert.deepEqual(lines(callees), ["b 3", "b;a;c 3", "b;c 5"]);
    const recursive = buildSandwich(...given(makeRecording(SAMPLES), { focus: "a" }));

    assert.equal(recursive.callees.total[0][0], 11);
    assert.equal(recursive.callers.total[0][0], 11);
    assert.deepEqual(lines(recursive.callers), ["a 11"]);
});

test("the sandwich of a function that never ran is empty", () => {
    const { callers } = buildSandwich(...given(makeRecording(SAMPLES), { focus: "nobody" }));

    assert.deepEqual([callers.count, callers.total[0][0]], [1, 0]);
});

test("hidden frames give their callees to their callers", () => {
    const tree = treeOf(makeRecording(SAMPLES), { hidden: ["^b$"] });

    assert.deepEqual(lines(tree), ["[no stack] 4", "a 2", "a;a 1", "a;a;c 3", "a;c 5", "d;c 10"]);
    assert.deepEqual(lines(treeOf(makeRecording(SAMPLES), { hidden: ["^b$"], foldRecursion: true })),
        ["[no stack] 4", "a 3", "a;c 8", "d;c 10"]);
});

test("two ranges are scaled by time or total", () => {
    const ranges = { range: { from: 0, to: 1000 }, against: { from: 1000, to: 3000 } };
    const sides = (per) => {
        const tree = treeOf(makeRecording(SAMPLES), { ...ranges, per });

        return [tree.total[0][0], tree.total[1][0], tree.scale, tree.samples[1][node(tree, "d")]];
    };

    assert.deepEqual(sides("none"), [10, 15, 1, 1]);
    assert.deepEqual(sides("time"), [10, 15, 0.5, 1]);
    assert.deepEqual(sides("total"), [10, 15, 10 / 15, 1]);
});

test("growth and release stay separate in each form", () => {
    const recording = makeRecording([
        { process: "p", stack: "a;x", memory: 10 }, { process: "p", stack: "a;x", memory: 15 },
        { process: "p", stack: "b;x", memory: 7 }, { process: "p", stack: "b;x" },
        { process: "p", stack: "b;x", memory: 8 }, { process: "q", stack: "b;x", memory: 8 }]);
    const changes = { weight: "memory", change: true };

    assert.deepEqual(lines(treeOf(recording, changes)),
        ["[growth];a;x 5", "[growth];b;x 1", "[release];b;x 8"]);
    const tree = treeOf(recording, { ...changes, form: "callers" });

    assert.deepEqual(lines(tree), ["[growth];x;a 5", "[growth];x;b 1", "[release];x;b 8"]);
    assert.equal(tree.total[0][node(tree, "[release]")], -8);
    assert.equal(tree.weights.unknown, 1);
});

test("a stack with several matches counts once", () => {
    const tree = treeOf(makeRecording(SAMPLES));

    const matched = (text) => matchTree(tree, readPattern(text)).amounts;

    assert.deepEqual(matched("^[ab]$"), [{ matched: 11, whole: tree.total[0][0] }]);
    assert.equal(matched("c")[0].matched, 18);
    assert.equal(matchTree(tree, readPattern("c")).count, 3);
    assert.equal(matched("(")[0].matched, 0);
});

test("matches of changes are a share of growth and release", () => {
    const tree = treeOf(makeRecording([10, 15, 7, 8].map((memory, i) => (
        { process: "p", stack: i < 2 ? "a;x" : "b;x", memory }))), { weight: "memory", change: true });
    const matched = (text) => matchTree(tree, readPattern(text)).amounts;

    assert.equal(tree.total[0][0], -2);
    assert.deepEqual(matched("^b$"), [{ matched: 9, whole: 14 }]);
    assert.deepEqual(matched("x"), [{ matched: 14, whole: 14 }]);
});
