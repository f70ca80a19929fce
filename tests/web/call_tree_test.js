// SPDX-License-Identifier: Apache-2.0
/* The rows of the call tree. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { foundRows, openedAtFirst, treeRows } from "../../web/analysis/call_tree.js";
import { Model } from "../../web/analysis/model.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const STACKS = [{ time: 5, stack: "a;b;c", value: 6 }, { time: 6, stack: "a;b", value: 1 },
    { time: 7, stack: "a;d;c", value: 2 }, { time: 8, stack: "e", value: 1 }];
const treeOf = (changes = {}) => new Model(makeRecording(STACKS)).trees({ ...CHOICE, ...changes })[0];
const texts = (rows) => rows.map(({ depth, name, total, self, isOpen }) => `${" ".repeat(depth)}${
    isOpen === null ? "" : isOpen ? "v" : ">"}${name} ${total} ${self}`);
const node = (tree, name) => treeRows(tree, new Set(Array(tree.count).keys()))
    .find((row) => row.name === name).node;

test("the way with most of the weight is open at first, and siblings begin with the heaviest", () => {
    const tree = treeOf();

    assert.deepEqual(texts(treeRows(tree, openedAtFirst(tree))),
        ["vall 10 0", " va 9 0", "  vb 7 1", "   c 6 6", "  >d 2 0", " e 1 1"]);
});

test("callees of a closed row are not shown", () => {
    const tree = treeOf(), open = openedAtFirst(tree);

    open.delete(node(tree, "a"));
    assert.deepEqual(texts(treeRows(tree, open)), ["vall 10 0", " >a 9 0", " e 1 1"]);
});

test("a search shows each match with its callers only", () => {
    assert.deepEqual(texts(foundRows(treeOf(), "d")), ["vall 10 0", " va 9 0", "  >d 2 0"]);
});

test("bottom-up, a row opens to its callers", () => {
    const tree = treeOf({ form: "callers" });

    assert.deepEqual(texts(treeRows(tree, new Set([0, node(tree, "c")]))).slice(0, 4),
        ["vall 10 0", " vc 8 0", "  >b 6 0", "  >d 2 0"]);
});

test("in a comparison the rows have the other side and the change", () => {
    const tree = treeOf({ range: { from: 0, to: 6 }, against: { from: 6, to: 9 } });
    const [, a] = treeRows(tree, new Set([0]));

    assert.deepEqual([a.name, a.total, a.against.total, a.against.change], ["a", 6, 3, 3]);
});
