// SPDX-License-Identifier: Apache-2.0
/*
 * Merges the stacks of all samples: from the root, from the leaf, or around one function. The result
 * does not depend on weights or on the selection.
 *
 * The cost is about one step for each node of the result, not for each frame of each stack: stacks are
 * added in call order, so those with a common beginning are neighbours.
 */
import { sortedBy } from "#analysis/counting_sort";
import { remember } from "#analysis/memo";
import { PairTable } from "#analysis/pair_table";
import { pathRanks } from "#analysis/path_ranks";
import { depthsOf, inCallOrder } from "#analysis/tree_layout";

/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("#analysis/shown_stacks").ShownStacks} ShownStacks */
/** @typedef {import("#analysis/shown_stacks").Alike} Alike */
/** @typedef {import("#analysis/node_labels").Labels} Labels */

/**
 * Nodes in call order: after a node come all below it, and siblings are sorted by rank (Labels). Node 0
 * is the whole.
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
     * @param {Labels} labels
     */
    constructor(alike, roots, shown, labels) {
        const { functions } = labels;

        this.alike = alike;
        this.roots = roots;
        this.shown = shown;
        this.functions = functions;
        this.labels = labels;
        this.chains = roots.outer.length;
        this.rootLabel = roots.text.map((text) => functions + text);
        this.rootNodes = { count: this.chains, parent: roots.parent, label: this.rootLabel };
    }

    /** @returns {Merged} */
    fromRoot() {
        const { alike: { count, root, node }, roots, shown } = this;
        const nodes = new Nodes(new Uint32Array(count + 1024), new Uint32Array(count + 1024), 1);
        const outer = new Copier(nodes, roots.parent, this.rootLabel, this.chains);
        const inner = new Copier(nodes, shown.parent, shown.fn, shown.count);
        const ranks = this.chainRanks(), order = sortedBy(root.map((chain) => ranks[chain]), this.chains,
            sortedBy(node, shown.count));
        const ends = new Int32Array(count);

        for (let i = 0, last = -1; i < count; i++) {
            const id = order[i];

            if (root[id] !== last)
                inner.setBase(outer.copy(last = root[id]));
            ends[id] = inner.copy(node[id]);
        }
        return { ...nodes, ends };
    }

    /**
     * By chain, its rank in call order. A chain comes after those that begin with it: its functions
     * come after root frames.
     */
    chainRanks() {
        const { place, size } = inCallOrder(this.rootNodes, this.labels);
        const depths = depthsOf(this.rootNodes.parent, this.chains);

        return place.map((at, chain) => at + size[chain] - 1 - depths[chain]);
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
        const { count, node } = this.alike;
        const begin = new Uint32Array(count), groups = new Uint32Array(count);
        let found = 0;

        for (let id = 0; id < count; id++) {
            begin[id] = calls[node[id]];
            if (begin[id])
                groups[found++] = id;
        }
        return this.fromInside(begin, groups.subarray(0, found));
    }

    /**
     * Merge stacks from a node of each shown stack outwards to its root.
     *
     * @param {Uint32Array} begin by group of Alike: the node at which it begins
     * @param {Uint32Array | null} groups null: all
     * @returns {Merged}
     */
    fromInside(begin, groups) {
        const { alike: { count, root }, roots, shown } = this;
        const nodes = new Nodes(new Uint32Array(shown.count * 2), new Uint32Array(shown.count * 2), 1);
        const bases = new Copier(nodes, roots.parent, this.rootLabel, this.chains);
        const { tails, of } = this.makeTails();
        const tail = new Copier(nodes, tails.a, tails.b, tails.count);
        const outer = root.map((chain) => roots.outer[chain]);
        const order = this.orderFromInside(outer, begin, groups);
        const ends = new Int32Array(count).fill(-1), path = [0];

        for (let i = 0, chain = -1, before = 0; i < order.length; i++) {
            const id = order[i], isOther = outer[id] !== chain;

            if (isOther)
                path[0] = bases.copy(chain = outer[id]);
            if (isOther || begin[id] !== before)
                tail.setBase(this.addCallers(nodes, path, begin[id], isOther ? 0 : before));
            before = begin[id];
            ends[id] = tail.copy(of[root[id]]);
        }
        return { ...nodes, ends };
    }

    /**
     * Groups by the root frames that stay at the root, then by callers, then by other root frames.
     *
     * @param {Uint32Array} outer by group
     * @param {Uint32Array} begin by group
     * @param {Uint32Array | null} groups null: all
     */
    orderFromInside(outer, begin, groups) {
        const { alike: { root }, shown, labels, chains } = this;
        const ofChain = pathRanks(this.rootNodes, labels), outerRanks = this.chainRanks();
        const ofNode = remember(shown, "path ranks", "", () =>
            pathRanks({ ...shown, label: shown.fn }, labels));

        return sortedBy(outer.map((chain) => outerRanks[chain]), chains,
            sortedBy(begin.map((node) => ofNode[node]), shown.count,
                sortedBy(root.map((chain) => ofChain[chain]), chains, groups)));
    }

    /**
     * Add a path of callers, but for those that it has in common with the path before.
     *
     * @param {Nodes} nodes
     * @param {number[]} path the nodes of the path before, from the base on; overwritten
     * @param {number} begin a node of ShownStacks
     * @param {number} before the one of the path before; 0: none
     */
    addCallers(nodes, path, begin, before) {
        const { parent, fn } = this.shown;
        let at = begin, depth = 0;

        for (let other = before; at && other && fn[at] === fn[other]; other = parent[other]) {
            at = parent[at];
            depth++;
        }
        for (; at; at = parent[at], depth++)
            path[depth + 1] = nodes.add(path[depth], fn[at]);
        return path[depth];
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
        const { alike, roots, shown: { count, parent, fn } } = this;
        const pairs = new PairTable(count * 2); /* a node is the pair of its parent and its label */
        const outer = alike.root.map((chain) => roots.outer[chain]), order = sortedBy(outer, this.chains);
        const ends = new Int32Array(alike.count).fill(-1), nodes = new Uint32Array(count);

        pairs.add(0, this.functions);
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
        const { place, ...merged } = inCallOrder({ count: pairs.count, parent: pairs.a,
            label: pairs.b }, this.labels);

        return { ...merged, ends: ends.map((node) => (node < 0 ? -1 : place[node])) };
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
