// SPDX-License-Identifier: Apache-2.0
/* Shortens labels to the width of their boxes. */

/** Measures texts in one font. Each distinct character is measured once. */
export class Labels {
    /**
     * @param {CanvasRenderingContext2D} context
     * @param {string} font
     */
    constructor(context, font) {
        this.context = context;
        this.font = font;
        /** @type {Map<string, number>} */
        this.advances = new Map();
        this.dots = 0;
        this.dots = this.width("\u2026");
    }

    /** @param {string} character */
    advance(character) {
        let advance = this.advances.get(character);

        if (advance === undefined) {
            this.context.font = this.font;
            advance = this.context.measureText(character).width;
            this.advances.set(character, advance);
        }
        return advance;
    }

    /** The width in px, without kerning, which is small. @param {string} text */
    width(text) {
        let width = 0;

        for (const character of text)
            width += this.advance(character);
        return width;
    }

    /**
     * The text if it fits. Else the text without its module, which says less than the function, cut
     * at the end if necessary. "" if fewer than two characters fit.
     *
     * @param {string} text
     * @param {number} room
     */
    fit(text, room) {
        if (room < 3 * this.dots)
            return "";
        if (text.length * this.dots < room && this.width(text) <= room)
            return text;

        const cut = this.cut(text, room);

        if (cut === text)
            return text;
        const bare = withoutModule(text);

        return bare === text ? cut : this.cut(bare, room);
    }

    /**
     * @param {string} text
     * @param {number} room
     */
    cut(text, room) {
        let width = 0, end = 0, fits = 0;

        for (const character of text) {
            width += this.advance(character);
            end += character.length;
            if (width > room)
                return fits > 1 ? text.slice(0, fits) + "\u2026" : "";
            if (width <= room - this.dots)
                fits = end;
        }
        return text;
    }
}

/**
 * "map/2" of "lists:map/2", "update/3" of "Elixir.Map.update/3"; other texts are unchanged.
 *
 * @param {string} text
 */
function withoutModule(text) {
    const match = /^(?:'[^']*'|[\w@.]+)::?(.+)$/.exec(text) ?? /^[A-Z][\w.]*\.([^.].*)$/.exec(text);

    return match ? match[1] : text;
}
