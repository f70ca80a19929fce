// SPDX-License-Identifier: Apache-2.0
/*
 * Merges the stacks of all samples: from the root, from the leaf, or around one function. The result
 * does not depend on weights or on the selection.
 *
 * The cost is one step for each node of the result, not for each frame of each stack: a path stops
 * at the first node that is known. Only callers cost one step for each frame of each shown stack.
 */
import { sortedBy } from "#analysis/counting_sort";
import { PairTable } from "#analysis/pair_table";

/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("#analysis/shown_stacks").ShownStacks} ShownStacks */
/** @typedef {import("#analysis/shown_stacks").Alike} Alike */

/**
 * Nodes in any order; node 0 is the whole.
 *
 * @typedef {object} Merged
 * @property {number} count
 * @property {Uint32Array} parent by node; can be longer than `count`
 * @property {Uint32Array} label by node; can be longer than `count`. The function; for a root frame,
 *     the number of functions + the id of its text
 * @property {Int32Array} ends by group of Alike: the node at which its stack ends, -1: none
 */

/** A list of nodes that grows. */
class Nodes {
    /**
     * @param {Uint32Array} parent
     * @param {Uint32Array} label
     * @param {number} count the nodes that these columns already have
     */
    constructor(parent, label, count) {
        this.parent = parent;
        this.label = label;
        this.count = count;
    }

    /**
     * @param {number} parent
     * @param {number} label
     */
    add(parent, label) {
        if (this.count === this.parent.length) {
            this.parent = longer(this.parent);
            this.label = longer(this.label);
        }
        this.parent[this.count] = parent;
        this.label[this.count] = label;
        return this.count++;
    }
}

/** @param {Uint32Array} column */
function longer(column) {
    const result = new Uint32Array(column.length * 2);

    result.set(column);
    return result;
}

/** Copies nodes of one tree, with those above them, below a node of `to`: the base. */
class Copier {
    /**
     * @param {Nodes} to
     * @param {Uint32Array} parent of the tree that is copied; its node 0 stands for the base
     * @param {Uint32Array} label
     * @param {number} count
     */
    constructor(to, parent, label, count) {
        this.to = to;
        this.parent = parent;
        this.label = label;
        this.copies = new Uint32Array(count);
        /** @type {number[]} */
        this.missing = [];
        this.base = 0;
        this.since = to.count;
    }

    /** Copies below the previous base do not count any more. @param {number} base */
    setBase(base) {
        this.base = base;
        this.since = this.to.count;
    }

    /** Return the copy of a node. @param {number} node */
    copy(node) {
        const { copies, missing, since, to } = this;
        let at = node, steps = 0;

        for (; at && copies[at] < since; at = this.parent[at])
            missing[steps++] = at;
        let copy = at ? copies[at] : this.base;

        while (steps) {
            at = missing[--steps];
            copies[at] = copy = to.add(copy, this.label[at]);
        }
        return copy;
    }
}

export class Merger {
    /**
     * @param {Alike} alike
     * @param {Roots} roots
     * @param {ShownStacks} shown
     * @param {number} functions the number of functions
     */
    constructor(alike, roots, shown, functions) {
        this.alike = alike;
        this.roots = roots;
        this.shown = shown;
        this.functions = functions;
        this.chains = roots.outer.length;
        this.rootLabel = roots.text.map((text) => functions + text);
    }

    /** @returns {Merged} */
    fromRoot() {
        const { alike: { count, root, node }, roots, shown } = this;
        const nodes = new Nodes(new Uint32Array(count + 1024), new Uint32Array(count + 1024), 1);
        const outer = new Copier(nodes, roots.parent, this.rootLabel, this.chains);
        const inner = new Copier(nodes, shown.parent, shown.fn, shown.count);
        const order = sortedBy(root, this.chains, sortedBy(node, shown.count));
        const ends = new Int32Array(count);

        for (let i = 0, last = -1; i < count; i++) {
            const id = order[i];

            if (root[id] !== last)
                inner.setBase(outer.copy(last = root[id]));
            ends[id] = inner.copy(node[id]);
        }
        return { ...nodes, ends };
    }

    /** @returns {Merged} */
    fromLeaf() {
        return this.fromInside(this.alike.node, null);
    }

    /**
     * The callers of the calls that outermostCalls() found.
     *
     * @param {Uint32Array} calls
     * @returns {Merged}
     */
    callersOf(calls) {
        const begin = this.alike.node.map((node) => calls[node]);

        return this.fromInside(begin, Uint32Array.from(begin.keys()).filter((id) => begin[id]));
    }

    /**
     * Merge stacks from a node of each shown stack outwards to its root.
     *
     * @param {Uint32Array} begin by group of Alike: the node at which it begins
     * @param {Uint32Array | null} groups null: all
     * @returns {Merged}
     */
    fromInside(begin, groups) {
        const { alike: { count, root }, roots, shown } = this, pairs = this.emptyPairs();
        const outer = root.map((chain) => roots.outer[chain]);
        const order = sortedBy(outer, this.chains, sortedBy(begin, shown.count, groups));
        const ends = new Int32Array(count).fill(-1);

        for (let i = 0; i < order.length; i++) {
            const id = order[i], before = order[i - 1];

            ends[id] = i && begin[id] === begin[before] && outer[id] === outer[before]
                ? ends[before] : this.addCallers(pairs, outer[id], begin[id]);
        }
        return this.addTails(new Nodes(pairs.a, pairs.b, pairs.count), order, ends);
    }

    /** A table of nodes that are the pair of parent and label, with node 0. */
    emptyPairs() {
        const pairs = new PairTable(this.shown.count * 2);

        pairs.add(0, this.functions);
        return pairs;
    }

    /**
     * @param {PairTable} pairs
     * @param {number} outer a node of Roots, which stays at the root
     * @param {number} begin a node of ShownStacks
     */
    addCallers(pairs, outer, begin) {
        const { parent, fn } = this.shown;
        let node = this.addRoots(pairs, outer);

        for (let at = begin; at; at = parent[at])
            node = pairs.add(node, fn[at]);
        return node;
    }

    /**
     * @param {PairTable} pairs
     * @param {number} root
     * @returns {number}
     */
    addRoots(pairs, root) {
        return root ? pairs.add(this.addRoots(pairs, this.roots.parent[root]), this.rootLabel[root])
            : 0;
    }

    /**
     * Add the root frames after the callers, the innermost first.
     *
     * @param {Nodes} nodes
     * @param {Uint32Array} order of groups: those that end at the same node are neighbours
     * @param {Int32Array} ends without root frames; overwritten
     * @returns {Merged}
     */
    addTails(nodes, order, ends) {
        const { tails, of } = this.makeTails();
        const copier = new Copier(nodes, tails.a, tails.b, tails.count);

        for (let i = 0, last = -1; i < order.length; i++) {
            const id = order[i];

            if (ends[id] !== last)
                copier.setBase(last = ends[id]);
            ends[id] = copier.copy(of[this.alike.root[id]]);
        }
        return { ...nodes, ends };
    }

    /** The root frames that do not stay at the root, merged from the inside; `of` has the last one
     * by node of Roots. */
    makeTails() {
        const { roots: { parent, outer }, chains, rootLabel } = this, tails = new PairTable();
        const of = new Uint32Array(chains);

        tails.add(0, 0);
        for (let chain = 1; chain < chains; chain++)
            for (let at = chain; at !== outer[chain]; at = parent[at])
                of[chain] = tails.add(of[chain], rootLabel[at]);
        return { tails, of };
    }

    /**
     * The callees of the calls that outermostCalls() found.
     *
     * @param {Uint32Array} calls
     * @returns {Merged}
     */
    calleesOf(calls) {
        const { alike, roots, shown: { count, parent, fn } } = this, pairs = this.emptyPairs();
        const outer = alike.root.map((chain) => roots.outer[chain]), order = sortedBy(outer, this.chains);
        const ends = new Int32Array(alike.count).fill(-1), nodes = new Uint32Array(count);

        for (let i = 0; i < order.length; i++) {
            const id = order[i], base = this.addRoots(pairs, outer[id]);

            if (!i || outer[id] !== outer[order[i - 1]])
                for (let node = 1; node < count; node++)
                    if (calls[node])
                        nodes[node] = pairs.add(calls[node] === node ? base : nodes[parent[node]],
                            fn[node]);
            if (calls[alike.node[id]])
                ends[id] = nodes[alike.node[id]];
        }
        return { count: pairs.count, parent: pairs.a, label: pairs.b, ends };
    }
}

/**
 * By node of the shown stacks, the outermost call of a function in its stack; 0: none.
 *
 * @param {ShownStacks} shown
 * @param {(fn: number) => boolean} isWanted
 */
export function outermostCalls(shown, isWanted) {
    const outermost = new Uint32Array(shown.count);

    for (let node = 1; node < shown.count; node++)
        outermost[node] = outermost[shown.parent[node]] || (isWanted(shown.fn[node]) ? node : 0);
    return outermost;
}
