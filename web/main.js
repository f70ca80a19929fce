// SPDX-License-Identifier: Apache-2.0
/* The page: reads what was recorded, and says what that is. */
import { readRecording } from "#recording";

const recording = await readRecording(document);
const [part] = recording.header.parts;
const main = /** @type {HTMLElement} */ (document.querySelector("main"));

main.textContent = `${recording.samples.count} samples in ${(part.to - part.from) / 1000} s`;
