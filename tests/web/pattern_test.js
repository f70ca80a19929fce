// SPDX-License-Identifier: Apache-2.0
/* A pattern matches as regcomp(3) of glibc reads it, or is refused with a reason. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { readPattern } from "../../web/analysis/pattern.js";

const matches = (pattern, text) => {
    const { test: matcher, problem } = readPattern(pattern);

    assert.equal(problem, "", pattern);
    return matcher(text);
};

test("common patterns match", () => {
    assert.ok(matches("^lists:", "lists:map/2"));
    assert.ok(matches("gen_server|proc_lib", "proc_lib:init_p/5"));
    assert.ok(matches("^<0\\.[0-9]+\\.0>$", "<0.85.0>"));
    assert.ok(matches("^[a-z_]{3,5}:", "lists:map/2"));
    assert.ok(!matches("^[a-z_]{3,4}:", "lists:map/2"));
});

test("POSIX syntax that JavaScript lacks matches", () => {
    assert.ok(matches("[[:digit:]]+\\.c", "erl_12.c"));
    assert.ok(matches("foo/1)", "(foo/1)"));
    assert.ok(matches("[]x]", "a]"));
    assert.ok(matches("[\\d]", "\\") && !matches("[\\d]", "1"));
    assert.ok(matches("\\<map", "lists:map/2") && !matches("\\<ap", "lists:map/2"));
    assert.ok(matches("^a**$", "aa"));
    assert.ok(matches("^a{,2}$", "aa") && !matches("^a{,2}$", "aaa"));
    assert.ok(matches("x+?$", "y"));
});

test("an invalid pattern is refused with a reason", () => {
    for (const [pattern, reason] of [["a(b", /'\('/], ["[", /'\['/], ["*a", /nothing that '\*'/],
        ["{pool,3}", /\\{/], ["a{2,1}", /numbers/], ["a\\", /backslash/], ["[[:word:]]", /class/],
        ["[z-a]", /range/], ["\\d", /\[0-9\]/], ["(?:a)", /nothing that '\?'/], ["\\1(a)", /group 1/]])
        assert.match(readPattern(pattern).problem, reason, pattern);
});

test("an empty pattern is no error", () => {
    assert.deepEqual(readPattern(""), { test: null, problem: "" });
});
