// SPDX-License-Identifier: Apache-2.0
/* The kinds of frames, for the colours of the graph, and their names. */

/** @typedef {import("../types").Recording} Recording */

export const ROOT = 0;
const ERLANG = 1, NATIVE = 4, ELIXIR = 7, COLLECTION = 8;

/** Names by kind (src/output/svg/style.c names the kinds of the recording). */
export const KINDS = ["process", "Erlang", "BIF, NIF", "JIT runtime", "native", "kernel", "mark",
    "Elixir", "garbage collection"];

/* Functions of erl_gc.c (OTP 24 to 29), also with a compiler's suffix: "do_minor.isra.0". */
const COLLECTOR = new RegExp("^(?:(?:erts_)?garbage_collect|minor_collection|major_collection|" +
    "do_minor|full_sweep_heaps|sweep_(?:new_heap|heaps|rootset|off_heap|literals_to_old_heap)|" +
    "erts_gc_after_bif_call|adjust_after_fullsweep|erts_sweep_)");

/**
 * Kinds by frame id. A native frame is garbage collection if its own name is a function of the
 * collector. The collector's callees, such as memmove, stay native code.
 *
 * @param {Recording} recording
 */
export function kindsOfFrames({ frames, strings }) {
    const kinds = Uint8Array.from(frames.kind);

    for (let id = 1; id < kinds.length; id++) {
        if (kinds[id] === ERLANG && frames.elixir[id])
            kinds[id] = ELIXIR;
        else if (kinds[id] === NATIVE && COLLECTOR.test(strings[frames.symbol[id]]))
            kinds[id] = COLLECTION;
    }
    return kinds;
}
