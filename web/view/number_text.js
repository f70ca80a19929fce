// SPDX-License-Identifier: Apache-2.0
/* Numbers as text, as src/output/number_text.c writes them. */

/** @typedef {import("../types.js").Unit} Unit */

const TIMES = ["ns", "us", "ms", "s"];
const SIZES = ["B", "kB", "MB", "GB", "TB"];

/**
 * "1,234,567".
 *
 * @param {number} number
 */
export function numberText(number) {
    const digits = Math.round(Math.abs(number)).toString();

    return (number <= -0.5 ? "\u2212" : "") + digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * The index of the largest unit in which an amount rounds to at least 1.0.
 *
 * @param {number} amount
 * @param {string[]} names
 */
function unitOf(amount, names) {
    let scaled = Math.abs(amount), i = 0;

    for (; i < names.length - 1 && scaled >= 999.95; i++)
        scaled /= 1000;
    return i;
}

/**
 * @param {number} amount
 * @param {string[]} names
 */
function scaledText(amount, names) {
    const i = unitOf(amount, names), scaled = Math.abs(amount) / 1000 ** i;
    const isFewSeconds = names[i] === "s" && scaled < 9.995;
    const digits = scaled.toFixed(i === 0 ? 0 : isFewSeconds ? 2 : 1);

    return `${amount < 0 && digits !== "0" ? "\u2212" : ""}${digits} ${names[i]}`;
}

/**
 * True for a part of a sample that rounds to 0: the time of a sample can be less than a period.
 *
 * @param {number} amount
 * @param {Unit | "samples"} unit
 */
const isLittle = (amount, unit) => unit === "samples" && amount > 0 && amount < 0.5;

/**
 * "12.3 ms", "1.21 s", "12.1 s", "1.5 MB", "1,234 words", "1,234 samples", "less than 1 sample", "1,234".
 *
 * @param {number} amount
 * @param {Unit | "samples"} unit
 */
export function amountText(amount, unit) {
    const plural = Math.round(Math.abs(amount)) === 1 ? "" : "s";

    switch (unit) {
    case "ns":
        return scaledText(amount, TIMES);
    case "bytes":
        return scaledText(amount, SIZES);
    case "words":
        return `${numberText(amount)} word${plural}`;
    case "samples":
        return isLittle(amount, unit) ? "less than 1 sample"
            : `${numberText(amount)} sample${plural}`;
    default:
        return numberText(amount);
    }
}

/**
 * amountText() for a column: counts without a unit, because the head of the column has it.
 *
 * @param {number} amount
 * @param {Unit | "samples"} unit
 */
export function figureText(amount, unit) {
    if (unit === "ns" || unit === "bytes")
        return amountText(amount, unit);
    return isLittle(amount, unit) ? "< 1" : numberText(amount);
}

/**
 * An amount and half of its 95 % interval in one unit, to the second digit of the half, which is
 * rounded up: "1.214 s", "0.030 s". Numbers are whole, so that rows add up. The half is "?" if it
 * is NaN: unknown, and "" if it is 0: the amount is exact.
 *
 * @param {number} amount
 * @param {number} half
 * @param {Unit | "samples"} unit
 * @returns {{ amount: string, half: string }}
 */
export function estimateTexts(amount, half, unit) {
    const names = unit === "ns" ? TIMES : unit === "bytes" ? SIZES : null;

    if (Number.isNaN(half) || !half)
        return { amount: amountText(amount, unit), half: half === 0 ? "" : "?" };
    if (!names)
        return { amount: amountText(amount, unit), half: numberText(Math.ceil(half)) };
    const i = unitOf(Math.max(Math.abs(amount), half), names), scaled = half / 1000 ** i;
    const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(scaled)), 0), 3 * i);
    const text = (/** @type {number} */ number) =>
        `${number.toFixed(decimals).replace("-", "\u2212")} ${names[i]}`;

    return { amount: text(amount / 1000 ** i),
        half: text(Math.ceil(scaled * 10 ** decimals - 1e-6) / 10 ** decimals) };
}

/**
 * "1.214 s \u00b1 0.030 s", "4 samples" if the amount is exact.
 *
 * @param {number} amount
 * @param {number} half
 * @param {Unit | "samples"} unit
 */
export function estimateText(amount, half, unit) {
    const texts = estimateTexts(amount, half, unit);

    return texts.amount + (texts.half && ` \u00b1 ${texts.half}`);
}

/**
 * A difference, with "+" if it is positive.
 *
 * @param {number} amount
 * @param {Unit | "samples"} unit
 */
export function changeText(amount, unit) {
    return withPlus(amount, amountText(isLittle(amount, unit) ? 0 : amount, unit));
}

/**
 * `text` with a "+" for a positive amount. An amount that rounds to 0 has no sign.
 *
 * @param {number} amount
 * @param {string} text of it
 */
export function withPlus(amount, text) {
    return (amount > 0 && /[1-9]/.test(text) ? "+" : "") + text;
}

/**
 * "12.3 %"; "0.0 %" of a whole of 0.
 *
 * @param {number} part
 * @param {number} whole
 */
export function percentText(part, whole) {
    const percent = whole ? 100 * part / whole : 0;

    if (percent && Math.abs(percent) < 0.05)
        return percent < 0 ? "> \u22120.1 %" : "< 0.1 %";
    return `${percent.toFixed(1).replace("-", "\u2212")} %`;
}

/**
 * A time on the axis: "12.34 s", "1:02:03.40".
 *
 * @param {number} ms
 * @param {number} [decimals]
 */
export function clockText(ms, decimals = 2) {
    const seconds = ms / 1000, whole = Math.floor(seconds);

    if (seconds < 60)
        return `${seconds.toFixed(decimals)} s`;
    const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
    const fraction = decimals ? (seconds - whole).toFixed(decimals).slice(1) : "";
    const minutes = Math.floor(whole / 60) % 60, hours = Math.floor(whole / 3600);

    return (hours ? `${hours}:${two(minutes)}` : `${minutes}`) + `:${two(whole % 60)}${fraction}`;
}

/**
 * A duration: "20 ms", "15.0 s", "10 min", "1 h 5 min".
 *
 * @param {number} ms
 */
export function durationText(ms) {
    const minutes = Math.round(ms / 60000);

    if (ms < 1000)
        return `${ms} ms`;
    if (ms < 120000)
        return `${(ms / 1000).toFixed(1)} s`;
    return minutes < 60 ? `${minutes} min`
        : `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}
