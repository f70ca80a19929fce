// SPDX-License-Identifier: Apache-2.0
/* Times as text. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { rangeText, timeText } from "../../web/view/time_text.js";

const PARTS = [{ from: 500, to: 2500 }, { from: 7400, to: 9000 }];

test("each of two recordings that are compared has its own clock", () => {
    const compared = { parts: PARTS, compares: true };

    assert.deepEqual([500, 7000, 7400, 8900].map((ms) => timeText(compared, ms)),
        ["0.00 s", "6.50 s", "0.00 s", "1.50 s"]);
    assert.equal(rangeText(compared, { from: 7400, to: 9000 }), "0.00 s to 1.60 s (1.60 s)");
    assert.equal(timeText({ ...compared, compares: false }, 7400), "7.40 s");
});
