// SPDX-License-Identifier: Apache-2.0
/*
 * Merges stacks into the tree of a flame graph: from the root (src/output/frame_tree.c), from the
 * leaf, or around one function.
 *
 * The cost is one addition for each sample, and from the root one step for each node of the tree,
 * not for each frame of each sample: a stack stops at the first node that is known.
 */
import { functionsOf, textsOf } from "#analysis/functions";
import { ROOT } from "#analysis/kinds";
import { PairTable } from "#analysis/pair_table";
import { alikeSamples, shownStacks } from "#analysis/shown_stacks";
import { scaleOf, sumUp } from "#analysis/sums";
import { layOut } from "#analysis/tree_layout";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("../types").Sides} Sides */
/** @typedef {import("../types").Tree} Tree */
/** @typedef {import("../types").Sandwich} Sandwich */
/** @typedef {import("#analysis/shown_stacks").ShownStacks} ShownStacks */
/** @typedef {import("#analysis/shown_stacks").Alike} Alike */
/** @typedef {import("#analysis/sums").Sums} Sums */

/**
 * The tree in the form of `choice`, but not "sandwich": see buildSandwich().
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Sides} sides
 * @returns {Tree}
 */
export function buildTree(recording, choice, weights, roots, sides) {
    const stacks = new Stacks(recording, choice, weights, roots, sides);

    return stacks.tree(choice.form === "callers" ? stacks.fromLeaf() : stacks.fromRoot());
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Sides} sides
 * @returns {Sandwich}
 */
export function buildSandwich(recording, choice, weights, roots, sides) {
    const stacks = new Stacks(recording, choice, weights, roots, sides);
    const calls = stacks.outermostCalls(choice.focus);

    return { callers: stacks.tree(stacks.callersOf(calls)),
        callees: stacks.tree(stacks.calleesOf(calls)) };
}

/**
 * The nodes of merged stacks. A node is a pair of numbers; the method that makes a Merged says what
 * they mean. Node 0 is the whole.
 *
 * @typedef {object} Merged
 * @property {PairTable} nodes
 * @property {ArrayLike<number>} parent
 * @property {(node: number) => number} label of a node but 0: the function; for a root frame, the
 *     number of functions + the id of its text
 * @property {Int32Array} ends by group of Alike: the node at which its stack ends, -1: none
 */

class Stacks {
    /**
     * @param {Recording} recording
     * @param {Choice} choice
     * @param {Weights} weights
     * @param {Roots} roots
     * @param {Sides} sides
     */
    constructor(recording, choice, weights, roots, sides) {
        this.functions = functionsOf(recording);
        this.texts = textsOf(recording);
        this.weights = weights;
        this.roots = roots;
        this.shown = shownStacks(recording, choice);
        this.alike = alikeSamples(recording, roots, this.shown);
        this.scale = scaleOf(recording, choice, weights, sides);
        /** @type {Sums[]} */
        this.sides = sides.flatMap((samples) => (samples
            ? [sumUp(this.alike.of, this.alike.count, weights, samples)] : []));
    }

    /**
     * Call `each` for the groups of Alike that have a weight on a side.
     *
     * @param {(id: number) => void} each
     */
    forEach(each) {
        const [ours, others] = this.sides;

        for (let id = 0; id < this.alike.count; id++)
            if (ours.samples[id] || others?.samples[id])
                each(id);
    }

    /** A node is the pair of a node of Roots and a node of ShownStacks, 0 for the root frame alone.
     * @returns {Merged} */
    fromRoot() {
        const { alike, roots, shown } = this;
        const nodes = new PairTable(alike.count * 4); /* most groups add a few nodes */
        const ends = new Int32Array(alike.count).fill(-1);
        let parent = new Uint32Array(nodes.a.length);

        nodes.add(0, 0);
        this.forEach((id) => {
            let root = alike.root[id], stack = alike.node[id], known = nodes.count;
            let node = nodes.add(root, stack);

            for (ends[id] = node; node === known; node = parent[node]) {
                if (stack)
                    stack = shown.parent[stack];
                else
                    root = roots.parent[root];
                known = nodes.count;
                if (node >= parent.length)
                    parent = grown(parent, nodes.a.length);
                parent[node] = nodes.add(root, stack);
            }
        });
        return { nodes, parent, ends, label: (node) =>
            (nodes.b[node] ? shown.fn[nodes.b[node]] : this.labelOfRoot(nodes.a[node])) };
    }

    /** @param {number} root */
    labelOfRoot(root) {
        return this.functions.count + this.roots.text[root];
    }

    /** A node is the pair of its parent and its label. @returns {Merged} */
    fromLeaf() {
        return this.fromInside((id) => this.alike.node[id], () => true);
    }

    /**
     * Merge stacks from a node of each shown stack outwards to its root. A node is the pair of its
     * parent and its label.
     *
     * @param {(id: number) => number} begin
     * @param {(id: number) => boolean} wants
     * @returns {Merged}
     */
    fromInside(begin, wants) {
        const { alike, roots, shown } = this, nodes = new PairTable(shown.count);
        const ends = new Int32Array(alike.count).fill(-1);

        nodes.add(0, this.functions.count);
        this.forEach((id) => {
            if (!wants(id))
                return;
            const root = alike.root[id], outer = roots.outer[root];
            let node = this.addRoots(nodes, outer);

            for (let at = begin(id); at; at = shown.parent[at])
                node = nodes.add(node, shown.fn[at]);
            for (let at = root; at !== outer; at = roots.parent[at])
                node = nodes.add(node, this.labelOfRoot(at));
            ends[id] = node;
        });
        return { nodes, ends, parent: nodes.a, label: (node) => nodes.b[node] };
    }

    /**
     * @param {PairTable} nodes
     * @param {number} root
     * @returns {number}
     */
    addRoots(nodes, root) {
        return root ? nodes.add(this.addRoots(nodes, this.roots.parent[root]),
            this.labelOfRoot(root)) : 0;
    }

    /**
     * By node of the shown stacks, the outermost call of a function in its stack; 0: none.
     *
     * @param {string} name of the function
     */
    outermostCalls(name) {
        const { functions: { text }, shown } = this, wanted = this.texts.ids.get(name);
        const outermost = new Uint32Array(shown.count);

        for (let node = 1; node < shown.count; node++)
            outermost[node] = outermost[shown.parent[node]] ||
                (text[shown.fn[node]] === wanted ? node : 0);
        return outermost;
    }

    /** @param {Uint32Array} calls */
    callersOf(calls) {
        const { node } = this.alike;

        return this.fromInside((id) => calls[node[id]], (id) => calls[node[id]] > 0);
    }

    /**
     * A node is the pair of its parent and its label.
     *
     * @param {Uint32Array} calls
     * @returns {Merged}
     */
    calleesOf(calls) {
        const { alike, roots, shown } = this, nodes = new PairTable(shown.count);
        const ends = new Int32Array(alike.count).fill(-1);

        nodes.add(0, this.functions.count);
        const below = (/** @type {number} */ base, /** @type {number} */ at) => {
            const path = [];

            for (; at !== calls[at]; at = shown.parent[at])
                path.push(shown.fn[at]);
            base = nodes.add(base, shown.fn[at]);
            while (path.length)
                base = nodes.add(base, /** @type {number} */ (path.pop()));
            return base;
        };

        this.forEach((id) => {
            if (calls[alike.node[id]])
                ends[id] = below(this.addRoots(nodes, roots.outer[alike.root[id]]),
                    alike.node[id]);
        });
        return { nodes, ends, parent: nodes.a, label: (node) => nodes.b[node] };
    }

    /**
     * @param {Merged} merged
     * @returns {Tree}
     */
    tree(merged) {
        const { functions, texts, sides, weights, scale } = this;
        const { count } = merged.nodes, name = new Uint32Array(count);
        const kind = new Uint8Array(count).fill(ROOT), frame = new Uint32Array(count);

        for (let node = 1; node < count; node++) {
            const label = merged.label(node), isRoot = label >= functions.count;

            name[node] = isRoot ? label - functions.count : functions.text[label];
            if (!isRoot) {
                kind[node] = functions.kind[label];
                frame[node] = functions.frame[label];
            }
        }
        return { ...layOut({ count, parent: merged.parent, name, kind, frame, ends: merged.ends },
            texts.order(), sides), names: texts.list, scale, weights };
    }
}

/**
 * @param {Uint32Array} column
 * @param {number} length
 */
function grown(column, length) {
    const longer = new Uint32Array(length);

    longer.set(column);
    return longer;
}
