// SPDX-License-Identifier: Apache-2.0
/* Reads the recording of the page and shows it, or shows why it can't. */
import { readRecording } from "#recording/recording";
import { byId } from "#view/dom";
import { Page } from "#view/page";

try {
    const recording = await readRecording(document);

    byId("recording").remove(); /* frees its text, which is large */
    new Page(recording);
    byId("opening").hidden = true;
} catch (error) {
    byId("opening").textContent = `This recording can't be shown: ${
        error instanceof Error ? error.message : error}`;
    throw error;
}
