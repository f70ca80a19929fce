// SPDX-License-Identifier: Apache-2.0
/* A small drawing of values over time, for a cell of a table. */

const WIDTH = 66, HEIGHT = 16;
const SVG = "http://www.w3.org/2000/svg";

/** The width of a column of such drawings. */
export const SPARK_COLUMN = `${WIDTH + 12}px`;

/** @param {Float32Array} spark */
export function sparkline(spark) {
    const drawing = document.createElementNS(SVG, "svg");
    const path = document.createElementNS(SVG, "path");
    const most = spark.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
    const middle = spark.some((value) => value < 0) ? HEIGHT / 2 : HEIGHT;
    const scale = middle / most, step = WIDTH / Math.max(1, spark.length);
    let shape = "";

    spark.forEach((value, i) => {
        if (value)
            shape += `M${(i * step).toFixed(1)} ${middle}h${(step * 0.85).toFixed(1)}`
                + `v${(-value * scale).toFixed(1)}h${(-step * 0.85).toFixed(1)}z`;
    });
    drawing.setAttribute("width", String(WIDTH));
    drawing.setAttribute("height", String(HEIGHT));
    drawing.setAttribute("aria-hidden", "true");
    drawing.classList.add("spark");
    path.setAttribute("d", shape);
    drawing.append(path);
    return drawing;
}
