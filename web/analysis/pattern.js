// SPDX-License-Identifier: Apache-2.0
/*
 * Translates the regular expressions of -I and -X into JavaScript's. They are POSIX extended
 * expressions as regcomp(3) of glibc reads them (regcomp.c, RE_SYNTAX_POSIX_EXTENDED).
 *
 * Differences from JavaScript's expressions: a ')' without a '(' is a literal. So is a backslash in
 * brackets. [[:alpha:]] and the like, \< and \> exist. A repetition can be repeated. (?: ), \d and
 * lazy repetitions do not exist. POSIX prefers the longest match, JavaScript the first one. Here
 * only the existence of a match counts, which is the same for both.
 *
 * Differences from `beamflame report`, which runs in the C locale: '.' and a bracket match a whole
 * character, there one byte of it. A letter or 0 after a backslash that has no meaning is an error
 * here, and a literal there.
 */

/** @typedef {import("../types").Pattern} Pattern */

const CLASSES = new Map(Object.entries({
    alpha: "A-Za-z", digit: "0-9", alnum: "A-Za-z0-9", upper: "A-Z", lower: "a-z",
    space: " \\t\\n\\v\\f\\r", blank: " \\t", punct: "!-\\/:-@\\[-`\\{-~", print: " -~",
    graph: "!-~", cntrl: "\\0-\\x1f\\x7f", xdigit: "0-9A-Fa-f",
}));

/* GNU's escapes. Anchors have a map of their own because they can't be repeated. */
const ESCAPES = new Map(Object.entries({
    w: "\\w", W: "\\W", s: "[ \\t\\n\\v\\f\\r]", S: "[^ \\t\\n\\v\\f\\r]",
}));
const ANCHORS = new Map(Object.entries({
    "^": "^", $: "$", "\\b": "\\b", "\\B": "\\B", "\\<": "\\b(?=\\w)", "\\>": "\\b(?<=\\w)",
    "\\`": "^", "\\'": "$",
}));

const REPEAT_MAX = 32767; /* RE_DUP_MAX */

/** @param {string} character */
const literal = (character) => character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
/** @param {string} character */
const inBrackets = (character) => character.replace(/[\\\]^[-]/, "\\$&");

class Problem extends Error {}

class Reader {
    /** @param {string} text */
    constructor(text) {
        this.characters = Array.from(text);
        this.at = 0;
        this.depth = 0; /* of groups */
        this.opened = 0;
        this.closed = 0;
    }

    get next() {
        return this.characters[this.at] ?? "";
    }

    /** The next character, with its successor if it is a backslash. */
    get token() {
        return this.next === "\\" ? this.next + (this.characters[this.at + 1] ?? "") : this.next;
    }

    /** @returns {string} */
    alternatives() {
        let result = "";

        while (this.next && !(this.depth && this.next === ")")) {
            if (this.next === "|") {
                this.at++;
                result += "|";
            } else {
                result += this.anchor() || this.repeated();
            }
        }
        return result;
    }

    anchor() {
        const token = this.token, anchor = ANCHORS.get(token);

        if (anchor)
            this.at += token.length;
        return anchor ?? "";
    }

    repeated() {
        let atom = this.atom(), repeats = 0;

        while (this.next && "*+?{".includes(this.next)) {
            const repetition = this.repetition();

            atom = (repeats++ ? `(?:${atom})` : atom) + repetition;
        }
        return atom;
    }

    repetition() {
        const sign = this.next;

        this.at++;
        if (sign !== "{")
            return sign;
        const end = this.characters.indexOf("}", this.at);
        const bounds = end < 0 ? "" : this.characters.slice(this.at, end).join("");
        const found = /^(\d*)(,?)(\d*)$/.exec(bounds);

        if (!found || !(found[1] || found[2]) || Number(found[1]) > REPEAT_MAX ||
            Number(found[3]) > REPEAT_MAX || (found[3] && Number(found[1]) > Number(found[3])))
            throw new Problem(`'{' is not followed by numbers and '}'; for itself it is \\{`);
        this.at = end + 1;
        return `{${found[1] || 0}${found[2]}${found[3]}}`;
    }

    atom() {
        const character = this.next;

        this.at++;
        switch (character) {
        case "*":
        case "+":
        case "?":
        case "{":
            throw new Problem(`there is nothing that '${character}' could repeat; for itself it ` +
                `is \\${character}`);
        case "(":
            return this.group();
        case "[":
            return this.brackets();
        case "\\":
            return this.escape();
        case ".":
            return ".";
        default:
            return literal(character);
        }
    }

    group() {
        this.opened++;
        this.depth++;
        const inside = this.alternatives();

        if (!this.next)
            throw new Problem("a '(' has no ')'");
        this.at++;
        this.depth--;
        this.closed++;
        return `(${inside})`;
    }

    escape() {
        const character = this.next;

        this.at++;
        if (!character)
            throw new Problem("a backslash at the end escapes nothing");
        if (/[1-9]/.test(character)) {
            if (Number(character) > this.closed)
                throw new Problem(`there is no group ${character} before \\${character}`);
            return `(?:\\${character})`;
        }
        if (ESCAPES.has(character))
            return /** @type {string} */ (ESCAPES.get(character));
        if (/[A-Za-z0]/.test(character))
            throw new Problem(`\\${character} has no meaning here` +
                (character === "d" ? "; a digit is [0-9]" : ""));
        return literal(character);
    }

    brackets() {
        let result = "";

        if (this.next === "^") {
            this.at++;
            result = "^";
        }
        do
            result += this.element();
        while (this.next !== "]");
        this.at++;
        return `[${result}]`;
    }

    /** Read a class, a character or a range of a bracket expression. */
    element() {
        const named = this.named(":");

        if (named !== null) {
            const members = CLASSES.get(named);

            if (!members)
                throw new Problem(`there is no class [:${named}:]`);
            if (this.beginsRange)
                throw new Problem("a range does not begin with a class");
            return members;
        }
        const from = this.member();

        if (!this.beginsRange)
            return inBrackets(from);
        this.at++;
        const to = this.member();

        if (to === "[" && this.next === ":")
            throw new Problem("a range does not end in a class");
        if ((from.codePointAt(0) ?? 0) > (to.codePointAt(0) ?? 0))
            throw new Problem(`the range ${from}-${to} ends before it begins`);
        return `${inBrackets(from)}-${inBrackets(to)}`;
    }

    get beginsRange() {
        return this.next === "-" && this.characters[this.at + 1] !== "]";
    }

    member() {
        const named = this.named(".") ?? this.named("="), character = named ?? this.next;

        if (!character)
            throw new Problem("a '[' has no ']'");
        if (Array.from(character).length > 1)
            throw new Problem(`'${character}' is not one character`);
        if (named === null)
            this.at++;
        return character;
    }

    /**
     * Read [:name:], [.name.] or [=name=] (by `sign`) and return the name; null if the next
     * characters do not begin one.
     *
     * @param {string} sign
     */
    named(sign) {
        if (this.next !== "[" || this.characters[this.at + 1] !== sign)
            return null;
        for (let end = this.at + 2; end + 1 < this.characters.length; end++) {
            if (this.characters[end] === sign && this.characters[end + 1] === "]") {
                const name = this.characters.slice(this.at + 2, end).join("");

                this.at = end + 2;
                return name;
            }
        }
        throw new Problem(`a '[${sign}' has no '${sign}]'`);
    }
}

/** @param {string} text */
function compile(text) {
    return new RegExp(new Reader(text).alternatives(), "su");
}

/**
 * @param {string} text
 * @returns {Pattern}
 */
export function readPattern(text) {
    if (!text)
        return { test: null, problem: "" };
    try {
        const compiled = compile(text);

        return { test: (candidate) => compiled.test(candidate), problem: "" };
    } catch (error) {
        if (error instanceof Problem || error instanceof SyntaxError)
            return { test: null, problem: error.message };
        throw error;
    }
}
