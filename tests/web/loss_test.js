// SPDX-License-Identifier: Apache-2.0
/* What the head of a page says of losses. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { lossFacts } from "../../web/view/loss_text.js";
import { makeRecording } from "./made_recording.js";

const TOTALS = { erlangSamples: 200, completeStacks: 197, truncatedStacks: 1, frames: 4000,
    unknownErlangFrames: 1, unknownNativeFrames: 4 };
const factsOf = (losses, totals = TOTALS, cut = false) => {
    const recording = makeRecording([], [{ from: 0, to: 1, frequency: 99, totals, cut,
        losses: losses.map(([name, count]) => ({ name, count, sentence: `of ${name}` })) }]);

    return lossFacts(recording, recording.header.parts[0]);
};

test("incomplete stacks and frames without a name stand apart, in the words of the summary", () => {
    const [lost, stacks, frames] = factsOf([["stack_incomplete", 3], ["unknown_native", 4]]);

    assert.equal(lost.text, "no samples lost");
    assert.equal(stacks.text, "Erlang stacks: 98.5 % complete, 0.5 % truncated");
    assert.equal(stacks.hint, "3: of stack_incomplete");
    assert.equal(frames.text, "frames: 0.13 % unresolved");
    assert.equal(frames.hint, "4: of unknown_native");
});

test("none lost only if nothing of any kind was; what is lost has its number", () => {
    assert.deepEqual(factsOf([], {}).map(({ text }) => text), ["none lost"]);
    assert.equal(factsOf([["ring_full", 1]], {})[0].text, "1 sample lost");
    assert.equal(factsOf([["ring_full", 1], ["bad_sample", 2], ["thread_times", 7]], {}, true)[0].text,
        "cut off, 3 samples lost, 7 of thread_times");
});
