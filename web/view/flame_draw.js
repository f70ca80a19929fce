// SPDX-License-Identifier: Apache-2.0
/* Draws the boxes of a layout: colours, labels, matches, the hovered and the focused frame. */
import { ROOT } from "#analysis/kinds";
import { BUSY_WAIT } from "#analysis/root_texts";
import { SHADES, changeColour, kindColour, styleColour } from "#view/theme";
import { Labels } from "#view/labels";
import { extents } from "#view/flame_layout";

/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("./flame_layout.js").Boxes} Boxes */
/** @typedef {import("./theme.js").Theme} Theme */

export const ROW = 18;
export const FONT = "11.5px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
export const INSET = 4;
export const LEAST_LABEL = 24; /* px */
const KINDS = 9, STEPS = 8; /* STEPS: colours of change on each side of 0 */

/** @typedef {{ hovered: number, focused: number }} Marks nodes with an outline; -1: none */

export class Painter {
    /** @param {CanvasRenderingContext2D} context */
    constructor(context) {
        this.context = context;
        this.labels = new Labels(context, FONT);
        this.setTheme("light");
    }

    /** @param {Theme} theme */
    setTheme(theme) {
        this.kinds = Array.from({ length: KINDS * SHADES },
            (_, i) => kindColour(theme, Math.floor(i / SHADES), i % SHADES));
        this.changes = Array.from({ length: 2 * STEPS + 1 },
            (_, i) => changeColour(theme, i / STEPS - 1));
        this.merged = styleColour("merged");
        this.busy = styleColour("busy");
        this.text = styleColour("box-text");
        this.faint = styleColour("box-text-faint");
        this.background = styleColour("surface");
        this.mark = styleColour("mark");
        this.outline = styleColour("text");
    }

    /**
     * @param {Picture} picture
     * @param {Boxes} boxes
     * @param {(row: number) => number} top y of a row's top, px
     * @param {Marks} marks
     */
    draw(picture, boxes, top, marks) {
        this.fillBoxes(picture, boxes, top);
        this.writeLabels(picture, boxes, top);
        for (let i = 0; i < boxes.count; i++) {
            if (boxes.node[i] === marks.hovered)
                this.frame(boxes, i, top, this.outline ?? "", 1);
            if (boxes.node[i] === marks.focused)
                this.frame(boxes, i, top, this.outline ?? "", 2.5);
        }
    }

    /**
     * @param {Picture} picture
     * @param {Boxes} boxes
     * @param {(row: number) => number} top
     */
    fillBoxes(picture, boxes, top) {
        const context = this.context, width = context.canvas.clientWidth;
        let last = "", lastAlpha = 1;

        for (let i = 0; i < boxes.count; i++) {
            const node = boxes.node[i], run = boxes.run[i];
            const colour = run ? this.merged ?? "" : this.colourOf(picture, node);
            const dim = picture.match && !picture.isMatched(node, run);
            const alpha = dim ? 0.28 : 1;
            const from = Math.max(0, boxes.x[i]), to = Math.min(width, boxes.x[i] + boxes.width[i]);
            const gap = to - from > 3 ? 1 : to - from > 1.5 ? 0.5 : 0;
            const seen = Math.max(0.5, to - from - gap);

            if (colour !== last)
                context.fillStyle = last = colour;
            if (alpha !== lastAlpha)
                context.globalAlpha = lastAlpha = alpha;
            context.fillRect(from, top(boxes.row[i]), seen, ROW - 1);
            if (picture.match && !dim) {
                context.fillStyle = last = this.mark ?? "";
                context.fillRect(from, top(boxes.row[i]) + ROW - 3, seen, 2);
            }
        }
        context.globalAlpha = 1;
    }

    /**
     * @param {Picture} picture
     * @param {number} node
     */
    colourOf(picture, node) {
        const change = picture.change?.[node];

        if (change !== undefined)
            return this.changes?.[Math.round((change + 1) * STEPS)] ?? "";
        if (picture.busy?.[node])
            return this.busy ?? "";
        return this.kinds?.[picture.tree.kind[node] * SHADES
            + picture.shade[picture.tree.name[node]]] ?? "";
    }

    /**
     * @param {Picture} picture
     * @param {Boxes} boxes
     * @param {(row: number) => number} top
     */
    writeLabels(picture, boxes, top) {
        const context = this.context, width = context.canvas.clientWidth;

        context.font = FONT;
        context.textBaseline = "middle";
        for (let i = 0; i < boxes.count; i++) {
            const from = Math.max(0, boxes.x[i]), to = Math.min(width, boxes.x[i] + boxes.width[i]);

            if (boxes.run[i] || to - from < LEAST_LABEL)
                continue;
            const node = boxes.node[i], label = this.labelOf(picture, node, to - from);

            if (!label)
                continue;
            context.fillStyle = (picture.match && !picture.isMatched(node, 0) ? this.faint
                : this.text) ?? "";
            context.fillText(label, from + INSET, top(boxes.row[i]) + ROW / 2);
        }
    }

    /**
     * Return the label of a node. In a graph in order of time, the root's label gets the left half of
     * its row, because the right half shows times.
     *
     * @param {Picture} picture
     * @param {number} node
     * @param {number} width of its box, px
     */
    labelOf(picture, node, width) {
        const room = picture.tree.time && !node ? width / 2 : width;

        return this.labels.fit(picture.nameOf(node), room - 2 * INSET);
    }

    /**
     * Where the label of the root ends, px.
     *
     * @param {Picture} picture
     * @param {number} width of its box, px
     */
    rootLabelEnd(picture, width) {
        return INSET + this.labels.width(this.labelOf(picture, 0, width));
    }

    /**
     * @param {Boxes} boxes
     * @param {number} i
     * @param {(row: number) => number} top
     * @param {string} colour
     * @param {number} thickness
     */
    frame(boxes, i, top, colour, thickness) {
        const context = this.context, half = thickness / 2;
        const from = Math.max(0, boxes.x[i]);
        const to = Math.min(context.canvas.clientWidth, boxes.x[i] + boxes.width[i]);

        context.strokeStyle = colour;
        context.lineWidth = thickness;
        context.strokeRect(from + half - 0.5, top(boxes.row[i]) + half - 0.5,
            Math.max(1, to - from - thickness), ROW - thickness);
    }
}

/** A tree with the properties of its nodes that drawing needs. */
export class Picture {
    /**
     * @param {Tree} tree
     * @param {Match | null} match
     * @param {string} all the label of node 0
     * @param {boolean} signed colours show changes: of a comparison, or growth and release
     */
    constructor(tree, match, all, signed) {
        this.tree = tree;
        this.match = match;
        this.all = all;
        this.shade = Uint8Array.from(tree.names, shadeOf);
        this.change = signed ? changes(tree) : null;
        this.busy = busyWaiting(tree); /* by node, 1: drawn grey; null: none is */
        /** The weight that is 100 %; growth and release are both added. */
        this.whole = signed && !tree.total[1] ? extents(tree)[0] : tree.total[0][0];
    }

    /** @param {number} node */
    nameOf(node) {
        return node ? this.tree.names[this.tree.name[node]] : this.all;
    }

    /**
     * @param {number} node
     * @param {number} run
     */
    isMatched(node, run) {
        for (let i = node; i < node + Math.max(run, 1); i++) {
            if (this.match?.of[i])
                return true;
        }
        return false;
    }
}

/**
 * By node, 1 if it is busy waiting, which is no work: the root frame with its callees.
 *
 * @param {Tree} tree
 */
function busyWaiting({ count, parent, name, kind, names }) {
    const text = names.indexOf(BUSY_WAIT);
    let any = false;

    if (text < 0 || !name.includes(text))
        return null;
    const found = new Uint8Array(count);

    for (let node = 1; node < count; node++) {
        found[node] = found[parent[node]] || Number(name[node] === text && kind[node] === ROOT);
        any ||= found[node] > 0;
    }
    return any ? found : null;
}

/**
 * The shade of a function: a hash (FNV-1a) of its module, so that a module's functions share it.
 *
 * @param {string} name
 */
function shadeOf(name) {
    const colon = name.indexOf(":"), end = colon > 0 ? colon : name.lastIndexOf(".");
    let hash = 2166136261;

    for (let i = 0; i < (end > 0 ? end : name.length); i++)
        hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
    return ((hash ^ (hash >>> 15)) >>> 0) % SHADES;
}

/**
 * The change of each node, from -1 (all of its weight is in the other side) to 1 (all is in this
 * side). Without another side: (growth - release) / (growth + release).
 *
 * @param {Tree} tree
 */
function changes(tree) {
    const { total: [own, other], scale } = tree, both = extents(tree);

    return Float32Array.from(both, (extent, node) => (extent
        ? (own[node] - (other ? other[node] * scale : 0)) / extent : 0));
}
