// SPDX-License-Identifier: Apache-2.0
/*
 * Drives a page in Chromium by lines of JSON. Each line on standard input is a step, such as
 * {"press": "Enter"}. The answer is a line on standard output, {"value": ...} or {"error": ...}.
 *
 * usage: node page.js
 */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
let page = await context.newPage();
let size = page.viewportSize();
const complaints = [];

const steps = {
    /** Opens a file in a new tab, and waits until the recording is shown. */
    async open(url) {
        await page.close();
        page = await context.newPage();
        await page.setViewportSize(size);
        page.on("console", (message) => {
            if (["error", "warning"].includes(message.type()))
                complaints.push(message.text());
        });
        page.on("pageerror", (error) => complaints.push(String(error.stack)));
        page.on("request", (request) => {
            if (!/^(data|blob):/.test(request.url()) && request.url() !== url.split("#")[0])
                complaints.push(`asks for ${request.url()}`);
        });
        await page.goto(url);
        await page.locator("#opening").waitFor({ state: "hidden" });
    },
    async reload() {
        await page.reload();
        await page.locator("#opening").waitFor({ state: "hidden" });
    },
    /** All errors, warnings and requests for other URLs so far. */
    complaints: async () => complaints,
    press: (key) => page.keyboard.press(key),
    type: (text) => page.keyboard.type(text),
    click: ({ on, modifiers = [] }) => page.locator(on).click({ modifiers }),
    focus: (selector) => page.locator(selector).focus(),
    fill: async ({ on, text }) => {
        await page.locator(on).fill(text);
        await page.locator(on).press("Enter");
    },
    choose: ({ on, value }) => page.locator(on).selectOption(value),
    /** Drags between two places of an element, given as fractions of its width and height. */
    async drag({ on, from, to, shift = false }) {
        const box = await page.locator(on).boundingBox();
        const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];

        if (shift)
            await page.keyboard.down("Shift");
        await page.mouse.move(...at(from));
        await page.mouse.down();
        await page.mouse.move(...at(to), { steps: 5 });
        await page.mouse.up();
        if (shift)
            await page.keyboard.up("Shift");
    },
    /** Moves the pointer to a place of an element, given as drag() has it. */
    async hover({ on, at: [x, y] }) {
        const box = await page.locator(on).boundingBox();

        await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    },
    wheel: (pixels) => page.mouse.wheel(0, pixels),
    /** Drags with a finger, as drag(). */
    async touch({ on, from, to }) {
        const box = await page.locator(on).boundingBox(), cdp = await context.newCDPSession(page);
        const at = ([x, y]) => ({ x: box.x + x * box.width, y: box.y + y * box.height });

        await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: true });
        for (const [type, ...places] of [["touchStart", from], ["touchMove", to], ["touchEnd"]])
            await cdp.send("Input.dispatchTouchEvent", { type, touchPoints: places.map(at) });
        await cdp.detach();
    },
    /** Presses keys that save a file; returns its name and bytes, in base64. */
    async save(keys) {
        const saved = page.waitForEvent("download");

        for (const key of keys)
            await page.keyboard.press(key);
        const file = await saved;

        return [file.suggestedFilename(), (await readFile(await file.path())).toString("base64")];
    },
    /** How many pages of paper it prints. */
    pages: async () => (await page.pdf({ format: "A4", landscape: true })).toString("latin1")
        .match(/\/Type \/Page\b/g).length,
    /** Also of pages that are opened later. */
    async resize([width, height]) {
        size = { width, height };
        await page.setViewportSize(size);
    },
    /** The browser's Back and Forward: -1 and 1. */
    travel: (steps) => page.evaluate((count) => history.go(count), steps),
    text: (selector) => page.locator(selector).innerText(),
    texts: (selector) => page.locator(selector).allInnerTexts(),
    /** How many colours a canvas has between two of its corners, in CSS px. */
    colours: ({ on, from, to }) => page.locator(on).evaluate((canvas, [[left, top], [right, bottom]]) => {
        const scale = devicePixelRatio, { data } = canvas.getContext("2d").getImageData(left * scale,
            top * scale, (right - left) * scale, (bottom - top) * scale);

        return new Set(new Uint32Array(data.buffer)).size;
    }, [from, to]),
    /** What axe finds wrong for screen readers and keyboards: "serious color-contrast #status". */
    async wrong() {
        await page.evaluate(await readFile(
            new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8"));
        const { violations } = await page.evaluate(() => window.axe.run());

        return violations.flatMap(({ impact, id, nodes }) =>
            nodes.map(({ target }) => `${impact} ${id} ${target}`));
    },
    /** Writes what is in sight into a file. */
    shot: (path) => page.screenshot({ path }),
    /** How far the page is wider than the window, px. */
    excess: () => page.evaluate(() => document.body.scrollWidth - innerWidth),
    /** The placeholders of visible fields that are wider than their field, with its button that clears it. */
    cutPlaceholders: () => page.locator("input[placeholder]:visible").evaluateAll((fields) => {
        const context = document.createElement("canvas").getContext("2d");

        return fields.filter((field) => {
            const style = getComputedStyle(field);

            context.font = `${style.fontSize} ${style.fontFamily}`;
            return context.measureText(field.placeholder).width > field.clientWidth
                - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
                - parseFloat(style.fontSize);
        }).map(({ placeholder }) => placeholder);
    }),
    /** The texts of elements that do not fit into them. */
    clipped: (selector) => page.locator(selector).evaluateAll((all) => all
        .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText)),
    attribute: ([selector, name]) => page.locator(selector).getAttribute(name),
    wait: (ms) => page.waitForTimeout(ms),
    box: (selector) => page.locator(selector).boundingBox(),
    scroll: (selector) => page.locator(selector).scrollIntoViewIfNeeded(),
    visible: (selector) => page.locator(selector).isVisible(),
    url: async () => page.url(),
};

/* Waits for tables and heatmap: they are shown in a later task than the graph. */
const settle = () => page.evaluate(() => new Promise((resolve) =>
    requestAnimationFrame(() => setTimeout(resolve, 30))));

for await (const line of createInterface({ input: process.stdin })) {
    const [[name, argument]] = Object.entries(JSON.parse(line));
    let answer;

    try {
        answer = { value: await steps[name](argument) ?? null };
        await settle();
    } catch (error) {
        answer = { error: String(error) };
    }
    console.log(JSON.stringify(answer));
}
await browser.close();
