// SPDX-License-Identifier: Apache-2.0
/*
 * Measures how fast a page is in Chromium without a GPU. Prints JSON: times in ms, `heap` in bytes.
 *
 * usage: node page_speed.js PAGE
 */
import { chromium } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--enable-precise-memory-info"];
const FRAMES = 240;

/* The measured changes, as fragments of the URL. Before each one the page shows group=name. */
const CHANGES = {
    "another weight": "panel=none&weight=reductions",
    "another group": "panel=none&group=status,name",
    "no group": "panel=none&group=none",
    "merged from the leaf": "panel=none&form=callers",
    "a range of time": "panel=none&range=10000-60000",
    "a search": "panel=none&search=erts",
};

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });

await page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => window.longTasks.push(
        ...list.getEntries().map((entry) => entry.duration)))
        .observe({ type: "longtask", buffered: true });
});

/** Runs in the page: the time until the view of a fragment is painted. */
async function until(fragment) {
    const start = performance.now();

    location.hash = fragment;
    await new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - start;
}

/** Runs in the page: sorted times between animation frames, with a zoom or scroll step in each. */
async function frames([selector, kind, count]) {
    const target = document.querySelector(selector), box = target.getBoundingClientRect();
    const times = [];

    window.longTasks.length = 0;
    for (let i = 0; i < count; i++) {
        times.push(await new Promise(requestAnimationFrame));
        if (kind === "zoom")
            target.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 120 < 60 ? -20 : 20,
                ctrlKey: true, bubbles: true, cancelable: true,
                clientX: box.left + box.width / 2, clientY: box.bottom - 30 }));
        else
            target.scrollBy(kind === "down" ? { top: i % 120 < 60 ? -40 : 40 }
                : { left: i % 120 < 60 ? 40 : -40 });
    }
    return times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
}

async function smooth(selector, kind) {
    const times = await page.evaluate(frames, [selector, kind, FRAMES]);

    return { median: times[times.length >> 1], slowest: times[times.length - 1],
        longTask: await page.evaluate(() => Math.max(0, ...window.longTasks)) };
}

const figures = { changes: {} }, start = performance.now();

await page.goto(`file://${process.argv[2]}`);
await page.locator("#opening").waitFor({ state: "hidden" });
await page.evaluate(() => new Promise((resolve) =>
    requestAnimationFrame(() => setTimeout(resolve))));
figures.opened = performance.now() - start;
for (const [name, fragment] of Object.entries(CHANGES)) {
    await page.evaluate(until, "panel=none&group=name");
    await page.waitForTimeout(1000);
    figures.changes[name] = await page.evaluate(until, fragment);
    await page.waitForTimeout(1000);
}
await page.evaluate(until, "panel=none&group=pid,status,name&scale=second");
await page.waitForTimeout(1000);
figures.zoom = await smooth("#flamegraph canvas", "zoom");
figures.scroll = await smooth("#flamegraph", "down");
figures.scrollHeatmap = await smooth("#heatmap", "sideways");
figures.heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
await browser.close();
console.log(JSON.stringify(figures));
