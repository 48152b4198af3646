// SPDX-License-Identifier: LGPL-2.1-or-later
// Text that somebody else chose, fit to be shown in a place of its own.

// What could end a line, reverse the direction of what stands beside it, or not be seen at all.
const UNFIT = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]+', 'gu');
// More marks than this on one letter would reach into other lines.
const TOWER = new RegExp('(\\p{M}{4})\\p{M}+', 'gu');

// `text` as one line of at most `limit` characters; empty if it is none.
export function line(text, limit) {
    if (typeof text !== 'string')
        return '';
    // What is far too long is not worth looking at as a whole.
    const characters = Array.from(text.slice(0, limit * 16).replace(UNFIT, ' ').replace(TOWER, '$1').trim());
    if (characters.length <= limit && text.length <= limit * 16)
        return characters.join('');
    return `${characters.slice(0, limit - 1).join('').trimEnd()}…`;
}

// What could be taken for the end of a quotation.
const QUOTES = new RegExp('["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u2039\u203a\u275d\u275e\u301d-\u301f\uff02]+', 'gu');

// `text` as such a line in quotation marks, which is where it ends; empty if it is none.
export function quoted(text, limit) {
    const words = line(text, limit).replace(QUOTES, "'");
    return words ? `\u201c${words}\u201d` : '';
}
