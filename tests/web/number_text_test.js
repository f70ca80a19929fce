// SPDX-License-Identifier: Apache-2.0
/* Numbers as text. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { amountText, changeText, estimateText, figureText } from "../../web/view/number_text.js";

test("the digits of an estimate follow its interval", () => {
    assert.equal(estimateText(1.214e9, 0, "ns"), "1.21 s");
    assert.equal(estimateText(1.214e9, NaN, "ns"), "1.21 s ± ?");
    assert.equal(estimateText(1.214e9, 3.01e7, "ns"), "1.214 s ± 0.031 s");
    assert.equal(estimateText(1.214e9, 1.2e10, "ns"), "1 s ± 12 s");
    assert.equal(estimateText(1500, 99.5, "bytes"), "1.500 kB ± 0.100 kB");
    assert.equal(estimateText(2013, 239.2, "words"), "2,013 words ± 240");
});

test("a part of a sample is not shown as none", () => {
    assert.equal(amountText(0.4, "samples"), "less than 1 sample");
    assert.equal(figureText(0.4, "samples"), "< 1");
    assert.equal(figureText(0, "samples"), "0");
    assert.equal(amountText(0.5, "samples"), "1 sample");
    assert.equal(changeText(0.4, "samples"), "0 samples");
});
