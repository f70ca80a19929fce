// SPDX-License-Identifier: Apache-2.0
/*
 * The layout of a tree: the position and width of each node, and the nodes that are visible.
 *
 * The width of a node is the sum of the absolute weights of its stacks; in a comparison, of both
 * sides. So a node with weight in one side only is visible, and a parent has room for its children.
 * Positions and widths are in units of weight.
 */

/** @typedef {import("../types.js").Tree} Tree */

/** Nodes narrower than this, in px, are drawn as one box with narrow neighbours. */
const LEAST = 1;

/** The boxes to draw. A box is one node (`run` is 0), or `run` narrow nodes from `node` on. */
export class Boxes {
    constructor() {
        this.count = 0;
        this.capacity = 1024;
        this.node = new Uint32Array(this.capacity);
        this.run = new Uint32Array(this.capacity);
        this.row = new Uint16Array(this.capacity);
        this.x = new Float32Array(this.capacity);
        this.width = new Float32Array(this.capacity);
    }

    grow() {
        const { node, run, row, x, width } = this;

        this.capacity *= 2;
        (this.node = new Uint32Array(this.capacity)).set(node);
        (this.run = new Uint32Array(this.capacity)).set(run);
        (this.row = new Uint16Array(this.capacity)).set(row);
        (this.x = new Float32Array(this.capacity)).set(x);
        (this.width = new Float32Array(this.capacity)).set(width);
    }

    /**
     * @param {number} node
     * @param {number} run
     * @param {number} row
     * @param {number} x
     * @param {number} width
     */
    push(node, run, row, x, width) {
        if (this.count === this.capacity)
            this.grow();
        this.node[this.count] = node;
        this.run[this.count] = run;
        this.row[this.count] = row;
        this.x[this.count] = x;
        this.width[this.count++] = width;
    }
}

export class Layout {
    /** @param {Tree} tree */
    constructor(tree) {
        this.tree = tree;
        this.extent = extents(tree);
        this.start = tree.time?.start ?? starts(tree, this.extent);
        this.rows = tree.depth[tree.count - 1] + 1;
        this.boxes = new Boxes();
    }

    /** The position of a node's right end. @param {number} node */
    end(node) {
        return this.start[node] + this.extent[node];
    }

    /**
     * The boxes between the positions `from` and `to`, drawn on `width` px, in rows `firstRow` to
     * `lastRow`. They are sorted by row, then from left to right. Valid until the next call.
     *
     * @param {number} from
     * @param {number} to
     * @param {number} width
     * @param {number} firstRow
     * @param {number} lastRow
     */
    visible(from, to, width, firstRow, lastRow) {
        const boxes = this.boxes, scale = width / Math.max(to - from, Number.MIN_VALUE);

        boxes.count = 0;
        if (!(this.extent[0] > 0))
            return boxes;
        boxes.push(0, 0, 0, -from * scale, this.extent[0] * scale);
        for (let i = 0; i < boxes.count; i++) {
            if (boxes.run[i] === 0 && boxes.row[i] < lastRow)
                this.pushChildren(boxes.node[i], from, to, scale, boxes.row[i] + 1);
        }
        keepRows(boxes, firstRow);
        return boxes;
    }

    /**
     * @param {number} parent
     * @param {number} from
     * @param {number} to
     * @param {number} scale
     * @param {number} row
     */
    pushChildren(parent, from, to, scale, row) {
        const { tree, start, extent, boxes } = this;
        const end = tree.first[parent] + tree.children[parent];
        let run = 0, runWidth = 0, node = this.firstEndingAfter(parent, from);

        for (; node < end && start[node] < to; node++) {
            const wide = extent[node] * scale;

            if (run && (start[node] - this.end(node - 1)) * scale >= LEAST) { /* a gap of time */
                boxes.push(node - run, run, row, (start[node - run] - from) * scale,
                    Math.max(LEAST, runWidth));
                run = runWidth = 0;
            }
            if (wide < LEAST) {
                run++;
                runWidth += wide;
                continue;
            }
            if (run)
                boxes.push(node - run, run, row, (start[node - run] - from) * scale, runWidth);
            run = runWidth = 0;
            boxes.push(node, 0, row, (start[node] - from) * scale, wide);
        }
        if (run)
            boxes.push(node - run, run, row, (start[node - run] - from) * scale, runWidth);
    }

    /**
     * The first child that ends after a position.
     *
     * @param {number} parent
     * @param {number} place
     */
    firstEndingAfter(parent, place) {
        let low = this.tree.first[parent], high = low + this.tree.children[parent];

        while (low < high) {
            const middle = (low + high) >>> 1;

            if (this.end(middle) > place)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

    /**
     * The node at a position of a row; -1: none.
     *
     * @param {number} place
     * @param {number} row
     */
    at(place, row) {
        let node = 0;

        if (place < 0 || place >= this.extent[0] || row >= this.rows)
            return -1;
        for (let depth = 0; depth < row; depth++) {
            const end = this.tree.first[node] + this.tree.children[node];

            node = this.firstEndingAfter(node, place);
            if (node >= end || this.start[node] > place)
                return -1;
        }
        return node;
    }
}

/** The widths of the nodes of a tree, in units of weight. @param {Tree} tree */
export function extents(tree) {
    const [own, other] = tree.self, { scale } = tree;

    if (!other && own.every((weight) => weight >= 0))
        return tree.total[0];
    const extent = new Float64Array(tree.count);

    for (let node = tree.count - 1; node >= 0; node--) {
        extent[node] += Math.abs(own[node]) + (other ? Math.abs(other[node]) * scale : 0);
        if (node)
            extent[tree.parent[node]] += extent[node];
    }
    return extent;
}

/**
 * @param {Tree} tree
 * @param {Float64Array} extent
 */
function starts(tree, extent) {
    const start = new Float64Array(tree.count);

    for (let node = 0; node < tree.count; node++) {
        let at = start[node];

        for (let i = 0; i < tree.children[node]; i++) {
            start[tree.first[node] + i] = at;
            at += extent[tree.first[node] + i];
        }
    }
    return start;
}

/**
 * Remove the rows before `firstRow`: they were only needed to find the others.
 *
 * @param {Boxes} boxes
 * @param {number} firstRow
 */
function keepRows(boxes, firstRow) {
    let from = 0;

    while (from < boxes.count && boxes.row[from] < firstRow)
        from++;
    for (const column of [boxes.node, boxes.run, boxes.row, boxes.x, boxes.width])
        column.copyWithin(0, from, boxes.count);
    boxes.count -= from;
}
