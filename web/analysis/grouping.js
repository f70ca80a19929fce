// SPDX-License-Identifier: Apache-2.0
/*
 * The root frames of samples: they show which process or thread ran (src/view/view.c,
 * src/view/root_frame.c). They are computed once for all samples that are alike in what they depend on
 * (sample_classes.js).
 */
import { bottomsOf } from "#analysis/bottoms";
import { textsOf } from "#analysis/functions";
import { nameOf, remember } from "#analysis/memo";
import { PairTable } from "#analysis/pair_table";
import { GROWTH, PORT, PROCESS, RELEASE, activityText, decadeText, digitsOf, nameText, namedByStack,
    pidText, schedulerText, showsThread, targetText } from "#analysis/root_texts";
import { finer, whoClasses } from "#analysis/sample_classes";
import { foldTest, foldedWaiting } from "#analysis/waiting";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("#analysis/waiting").Folded} Folded */

export const GROUP_KEYS = ["name", "pid", "status", "scheduler", "initial_call", "label",
    "application", "ancestors", "node", "memory", "msgq"];

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights with choice.change, growth and release get root frames of their own
 * @returns {Roots}
 */
export function group(recording, choice, weights) {
    const keys = choice.groupBy.filter((key) => GROUP_KEYS.includes(key));
    const changes = choice.change && isMetric(recording, weights) ? weights : null;
    const folded = foldedWaiting(recording, choice);

    return remember(recording, "roots",
        `${keys} ${changes && nameOf(changes)} ${JSON.stringify(folded)}`,
        () => new Grouping(recording, keys, changes, folded).group());
}

/**
 * @param {Recording} recording
 * @param {Weights} weights
 */
const isMetric = ({ header }, weights) => header.metrics.some(({ name }) => name === weights.name);

/** Appends the root frame of one key to a chain, at its inner end. It depends on whoClasses() and on
 * Grouping.columns only.
 * @typedef {(chain: number, sample: number) => number} Extend */

class Grouping {
    /**
     * @param {Recording} recording
     * @param {string[]} keys
     * @param {Weights | null} changes
     * @param {Folded | null} folded
     */
    constructor(recording, keys, changes, folded) {
        const { event, status } = recording.samples;

        this.recording = recording;
        this.keys = keys;
        this.changes = changes;
        this.isFolded = foldTest(recording, folded);
        /** What root frames depend on, besides who ran. @type {Set<Uint32Array | Uint8Array>} */
        this.columns = new Set(folded ? [event, status] : []);
        this.texts = textsOf(recording);
        /* A chain is a list of root frames: the pair of the outer chain and a text. 0 is empty. */
        this.chains = new PairTable();
        this.chains.add(0, 0);
    }

    /** @returns {Roots} */
    group() {
        const { recording: { samples }, keys } = this;
        const outer = this.outermost(), activity = this.activity();
        const extend = (keys.length ? keys : ["none"]).map((key) => this.extender(key));
        const isOfProcesses = keys.length
            ? keys.map((key) => key !== "scheduler" && key !== "node") : [true];
        const classes = [...this.columns].reduce(finer, whoClasses(this.recording));
        /** @type {Set<number>} */
        const bases = new Set();
        const chains = Uint32Array.from(classes.first, (i) => {
            const isFolded = this.isFolded(i);
            const ran = !isFolded && (samples.process[i] !== 0 || samples.activity[i] === PROCESS);
            let chain = outer(i), told = ran || isFolded;

            if (this.changes)
                bases.add(chain);
            for (let key = 0; key < extend.length; key++) {
                if (ran || !isOfProcesses[key])
                    chain = extend[key](chain, i);
                else if (!told)
                    chain = activity(chain, i);
                told ||= isOfProcesses[key];
            }
            return chain;
        });

        return { of: classes.of.map((id) => chains[id]), parent: this.chains.a, text: this.chains.b,
            texts: this.texts.list, outer: this.innermostOf(bases) };
    }

    /**
     * By chain, the innermost of `bases` that it begins with; 0: none.
     *
     * @param {Set<number>} bases
     */
    innermostOf(bases) {
        const { count, a: parent } = this.chains, outer = new Uint32Array(count);

        for (let chain = 1; chain < count; chain++)
            outer[chain] = bases.has(chain) ? chain : outer[parent[chain]];
        return outer;
    }

    /** The outermost root frames: the node, if there are several, nothing is compared and "node" is
     * not a group key; then growth or release. */
    outermost() {
        const { recording: { targets, header, samples: { named } }, keys, changes } = this;
        const isTold = targets.length > 2 && !header.compares && !keys.includes("node");
        const target = isTold ? this.target() : null;
        const growth = this.texts.add(GROWTH), release = this.texts.add(RELEASE);

        if (changes)
            this.seen(Uint8Array.from(changes.of, (change) => Math.sign(change) + 1));
        return (/** @type {number} */ sample) => {
            const change = changes?.of[sample] ?? 0;
            let chain = target && !named[sample] ? target(0, sample) : 0;

            if (change)
                chain = this.chains.add(chain, change > 0 ? growth : release);
            return chain;
        };
    }

    /**
     * Note that root frames depend on a column, and return it.
     *
     * @template {Uint32Array | Uint8Array} T
     * @param {T} column
     */
    seen(column) {
        this.columns.add(column);
        return column;
    }

    /**
     * @param {string} key
     * @returns {Extend}
     */
    extender(key) {
        const { recording } = this, { processes, samples, threads, header } = recording;

        switch (key) {
        case "none":
            return (chain) => chain;
        case "name":
            return this.name();
        case "pid":
            return this.ofProcess((process) => pidText(recording, process));
        case "initial_call":
            return this.ofProcess((process) =>
                this.textOrNone(processes.initialCall[process], "initial call"));
        case "label":
            return this.ofProcess((process) => this.textOrNone(processes.label[process], "label"));
        case "application":
            return this.ofProcess((process) =>
                this.textOrNone(processes.application[process], "application"));
        case "ancestors":
            return this.ancestors();
        case "status":
            return this.by(this.seen(samples.status), 256, (status) =>
                `[${header.statuses[status] ?? "unknown"}]`);
        case "scheduler":
            return this.by(this.seen(samples.thread), threads.name.length, (thread) =>
                schedulerText(recording, thread));
        case "node":
            return this.node();
        default:
            return this.decades(key);
        }
    }

    /**
     * One root frame, with a text by the sample's value in `ids`.
     *
     * @param {Uint32Array | Uint8Array} ids
     * @param {number} count
     * @param {(id: number) => string} text "" gives no frame
     * @returns {Extend}
     */
    by(ids, count, text) {
        const known = new Int32Array(count).fill(-1);

        return (chain, sample) => {
            const id = ids[sample];

            if (known[id] < 0)
                known[id] = this.texts.add(text(id));
            return known[id] ? this.chains.add(chain, known[id]) : chain;
        };
    }

    /**
     * @param {(process: number) => string} text
     * @returns {Extend}
     */
    ofProcess(text) {
        const { samples: { process, named }, processes } = this.recording;
        const frame = this.by(process, processes.same.length, (id) =>
            (id ? text(id) : "[process]"));

        return (chain, sample) =>
            (named[sample] && !process[sample] ? chain : frame(chain, sample));
    }

    /**
     * @param {number} string
     * @param {string} what
     */
    textOrNone(string, what) {
        return string ? this.recording.strings[string] : `[no ${what}]`;
    }

    /** @returns {Extend} */
    name() {
        const { recording } = this, { samples } = recording;
        const bottoms = bottomsOf(recording), stacked = new PairTable();
        /** @type {number[]} */
        const texts = [];
        const isByStack = namedByStack(recording);
        const others = this.ofProcess((process) => nameText(recording, process, 0));

        return (chain, sample) => {
            const process = samples.process[sample];

            if (samples.named[sample])
                return chain;
            if (!isByStack[process] || !samples.complete[sample])
                return others(chain, sample);
            const bottom = bottoms[samples.stack[sample]], id = stacked.add(process, bottom);

            texts[id] ??= this.texts.add(nameText(recording, process, bottom));
            return this.chains.add(chain, texts[id]);
        };
    }

    /** One root frame for each ancestor, the oldest outermost. @returns {Extend} */
    ancestors() {
        const { samples, processes, ancestors, strings } = this.recording;
        const none = this.ofProcess(() => "[no ancestors]");
        const below = (/** @type {number} */ chain, /** @type {number} */ ancestor) => {
            if (ancestor) {
                chain = below(chain, ancestors.up[ancestor]);
                chain = this.chains.add(chain, this.texts.add(strings[ancestors.name[ancestor]]));
            }
            return chain;
        };

        return (chain, sample) => {
            const nearest = processes.ancestors[samples.process[sample]];

            return nearest ? below(chain, nearest) : none(chain, sample);
        };
    }

    /** @returns {Extend} */
    node() {
        const target = this.target(), none = this.texts.add("[no node]");

        return (chain, sample) => {
            const inside = target(chain, sample);

            return inside === chain ? this.chains.add(chain, none) : inside;
        };
    }

    /** The node of the sample; no root frame if it is unknown. @returns {Extend} */
    target() {
        const { recording } = this, { samples, processes, threads, targets } = recording;
        const texts = Uint32Array.from(targets, (_, id) =>
            (id ? this.texts.add(targetText(recording, id)) : 0));

        this.seen(samples.thread);
        return (chain, sample) => {
            const process = samples.process[sample];
            const text = texts[process ? processes.target[process]
                : threads.target[samples.thread[sample]]];

            return text ? this.chains.add(chain, text) : chain;
        };
    }

    /** The activity of a thread that runs no process. @returns {Extend} */
    activity() {
        const { samples } = this.recording, kinds = new PairTable();
        /** @type {number[]} */
        const texts = [];

        return (chain, sample) => {
            const activity = samples.activity[sample];
            const who = activity === PORT ? samples.detail[sample]
                : showsThread(activity) ? samples.thread[sample] : 0;
            const id = kinds.add(activity, who);

            texts[id] ??= this.texts.add(activityText(this.recording, activity, who));
            return this.chains.add(chain, texts[id]);
        };
    }

    /**
     * @param {string} name of a metric
     * @returns {Extend}
     */
    decades(name) {
        const { header, samples } = this.recording;
        const metric = header.metrics.findIndex((other) => other.name === name);
        const values = name === "memory" ? this.lastMemory(metric) : samples.metric(metric);
        const digits = new Uint8Array(values.length);

        for (let i = 0; i < digits.length; i++)
            digits[i] = digitsOf(values[i]);

        return this.by(this.seen(digits), 256, (id) => decadeText(name, id, name === "memory"));
    }

    /**
     * The metric memory, which only some samples of a process have. The other samples get the
     * process' previous known value.
     *
     * @param {number} metric
     */
    lastMemory(metric) {
        const { samples, processes } = this.recording, memory = samples.metric(metric).slice();
        const last = new Float64Array(processes.same.length);

        for (let i = 0; i < memory.length; i++) {
            const process = samples.process[i];

            if (!Number.isNaN(memory[i]))
                last[process] = memory[i];
            else if (process && last[process])
                memory[i] = last[process];
        }
        return memory;
    }
}
