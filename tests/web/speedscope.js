// SPDX-License-Identifier: Apache-2.0
/*
 * Loads a file into speedscope and prints what speedscope exports, in its own format.
 *
 * usage: node speedscope.js FILE
 */
import { readFile } from "node:fs/promises";

import { chromium } from "playwright-core";

const PAGE = new URL("node_modules/speedscope/dist/release/index.html", import.meta.url);
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
const page = await browser.newPage();
page.on("pageerror", error => { throw error; });
await page.goto(PAGE.href);
await page.locator("input[type=file]").setInputFiles(process.argv[2]);
/* The toolbar has these buttons as soon as a profile is shown. */
await page.getByText("Time Order").waitFor();
const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByText("Export").click(),
]);
process.stdout.write(await readFile(await download.path(), "utf8"));
await browser.close();
