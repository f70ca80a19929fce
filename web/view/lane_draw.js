// SPDX-License-Identifier: Apache-2.0
/* Draws the lanes below the heatmap, and says what a lane has at a time. */
import { amountText, numberText, percentText } from "#view/number_text";
import { placeOf } from "#view/heatmap_draw";
import { placedMarks } from "#view/lane_marks";
import { kindColour, styleColour } from "#view/theme";

/** @typedef {import("../types.js").Lane} Lane */
/** @typedef {import("./heatmap_draw.js").Scene} Scene */
/** @typedef {import("./theme.js").Theme} Theme */

const NAME = 12, HEIGHT = 18, GAP = 5; /* of the name above a lane, the lane, below it, px */
const STEP = NAME + HEIGHT + GAP;
const FONT = "10.5px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const LEAST_BAR = 2; /* px, so that a short time can be seen */
const HEAD = 3; /* px from the middle of a mark's head to its corners */
/* Kinds of frames whose colours the parts of a stacked lane have: Erlang, garbage collection, native. */
const KINDS = [1, 8, 4];

/** The height of all lanes, px. @param {Lane[]} lanes */
export const heightOf = (lanes) => lanes.length * STEP;

/**
 * The lane at a height, or undefined.
 *
 * @param {Lane[]} lanes
 * @param {number} y px below the heatmap
 */
export const laneAt = (lanes, y) => (y < 0 ? undefined : lanes[Math.floor(y / STEP)]);

/**
 * "schedulers: processes 40.1 %, busy waiting 3.2 %", "memory: 120.3 MB", "GC pauses: none".
 *
 * @param {Lane} lane
 * @param {number} time ms on the axis
 */
export function laneText({ name, binMs, start, unit, parts }, time) {
    const bin = Math.floor((time - start) / binMs);
    const texts = parts.filter(({ values }) => values[bin]).map((part) =>
        `${parts.length > 1 ? `${part.name} ` : ""}${valueText(part.values[bin], unit)}`);

    return `${name}: ${texts.join(", ") || "none"}`;
}

/**
 * "GC pause of 12.4 ms: my_server <0.120.0>, major".
 *
 * @param {Lane} lane
 * @param {import("../types.js").LaneMark} mark
 */
export const markText = ({ unit }, { value, text }) => `GC pause of ${valueText(value, unit)}: ${text}`;

/**
 * @param {number} value
 * @param {Lane["unit"]} unit
 */
function valueText(value, unit) {
    if (unit === "share")
        return percentText(value, 1);
    return unit === "messages" ? numberText(value) : amountText(value, unit);
}

export class LanePainter {
    /** @param {CanvasRenderingContext2D} context */
    constructor(context) {
        this.context = context;
        this.setTheme("light");
    }

    /** @param {Theme} theme */
    setTheme(theme) {
        this.colours = [...KINDS.map((kind) => kindColour(theme, kind)), styleColour("busy")];
        this.plain = styleColour("lane");
        this.ground = styleColour("cell");
        this.surface = styleColour("surface");
        this.text = styleColour("text-faint");
        this.mark = styleColour("accent");
    }

    /**
     * @param {Lane[]} lanes
     * @param {Scene} scene
     * @param {number} top px
     */
    draw(lanes, scene, top) {
        const { context } = this, width = Math.min(scene.width,
            scene.cells.columns * scene.columnWidth - scene.left);

        context.fillStyle = this.surface ?? "";
        context.fillRect(0, top, scene.width, heightOf(lanes));
        lanes.forEach((lane, i) => {
            const y = top + i * STEP + NAME;

            this.drawName(lane, y - NAME);
            context.fillStyle = this.ground ?? "";
            context.fillRect(0, y, width, HEIGHT);
            if (lane.form === "marks")
                this.drawMarks(lane, scene, y);
            else
                this.drawValues(lane, scene, y);
            this.drawSelected(scene, y);
            context.fillStyle = this.mark ?? "";
            for (const { time } of scene.header.moments)
                context.fillRect(placeOf(scene, time), y, 1, HEIGHT);
        });
    }

    /**
     * @param {Lane} lane
     * @param {Scene} scene
     * @param {number} top
     */
    drawValues({ parts, form, binMs, start, count, most }, scene, top) {
        const { cells, width, columnWidth } = scene, size = binMs / cells.columnMs * columnWidth;
        const origin = placeOf(scene, start);
        const first = Math.max(0, Math.floor(-origin / size));
        const last = Math.min(count, Math.ceil((width - origin) / size));
        const below = new Float64Array(count); /* heights of the parts below, px */

        parts.forEach(({ values }, part) => {
            this.context.fillStyle = (form === "stacked" ? this.colours?.[part] : this.plain) ?? "";
            for (let bin = first; bin < last; bin++) {
                const height = Math.min(HEIGHT - below[bin], Math.max(values[bin] / most * HEIGHT,
                    form === "bars" && values[bin] ? LEAST_BAR : 0));

                const x = Math.round(origin + bin * size); /* no seams between bins */

                this.context.fillRect(x, top + HEIGHT - below[bin] - height,
                    Math.max(1, Math.round(origin + (bin + 1) * size) - x), height);
                below[bin] += height;
            }
        });
    }

    /**
     * A line for each mark, as high as its value, with a head at the upper end.
     *
     * @param {Lane} lane
     * @param {Scene} scene
     * @param {number} top
     */
    drawMarks(lane, scene, top) {
        const { context } = this;

        context.fillStyle = this.plain ?? "";
        for (const { mark, x } of placedMarks(lane, scene)) {
            const y = top + HEAD + (HEIGHT - 2 * HEAD) * (1 - mark.value / lane.most);

            context.fillRect(x - 0.5, y, 1, top + HEIGHT - y);
            context.beginPath();
            context.moveTo(x, y - HEAD);
            context.lineTo(x + HEAD, y);
            context.lineTo(x, y + HEAD);
            context.lineTo(x - HEAD, y);
            context.fill();
        }
    }

    /**
     * @param {Scene} scene
     * @param {number} top
     */
    drawSelected(scene, top) {
        const { context } = this, { width, range, against } = scene;

        context.fillStyle = this.surface ?? "";
        context.globalAlpha = 0.65;
        let from = 0; /* px, of the part that is not selected */

        for (const chosen of [range, against].filter((one) => one !== null)
            .sort((a, b) => a.from - b.from)) {
            context.fillRect(from, top, Math.max(0, placeOf(scene, chosen.from) - from), HEIGHT);
            from = Math.max(0, placeOf(scene, chosen.to));
        }
        if (range || against)
            context.fillRect(from, top, Math.max(0, width - from), HEIGHT);
        context.globalAlpha = 1;
    }

    /**
     * Draw the name of a lane, and the value that its upper edge stands for.
     *
     * @param {Lane} lane
     * @param {number} top px
     */
    drawName({ name, unit, most }, top) {
        const { context } = this;

        context.font = FONT;
        context.textBaseline = "middle";
        context.fillStyle = this.text ?? "";
        context.fillText(`${name}, up to ${valueText(most, unit)}`, 0, top + NAME / 2);
    }
}
