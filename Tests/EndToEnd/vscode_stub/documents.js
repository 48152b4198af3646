// SPDX-License-Identifier: LGPL-2.1-or-later
// Texts and places in them, as VS Code has them: columns count halves of characters (UTF-16), and a text has one kind of line ends.

'use strict';

const {posix} = require('path');

const LF = 1, CRLF = 2;

function whole(number) {
    if (!Number.isInteger(number) || number < 0)
        throw new Error('illegal argument: neither lines nor characters are negative');
    return number;
}

class Position {
    constructor(line, character) {
        this.line = whole(line);
        this.character = whole(character);
    }

    isAfter(other) {
        return this.line > other.line || (this.line === other.line && this.character > other.character);
    }
}

function ends(values) {
    return values.length === 2 ? values : [new Position(values[0], values[1]), new Position(values[2], values[3])];
}

class Range {
    constructor(...values) {
        const [one, other] = ends(values);
        [this.start, this.end] = one.isAfter(other) ? [other, one] : [one, other];
    }

    get isEmpty() {
        return !this.end.isAfter(this.start);
    }
}

class Selection extends Range {
    constructor(...values) {
        super(...values);
        [this.anchor, this.active] = ends(values);
    }
}

class Uri {
    constructor(scheme, path) {
        Object.assign(this, {scheme, path, authority: ''});
    }

    static file(path) {
        return new Uri('file', path.startsWith('/') ? path : `/${path}`);
    }

    get fsPath() {
        return this.path;
    }

    toString() {
        return `${this.scheme}:${this.path}`;
    }
}

class TextDocument {
    constructor(uri, text) {
        this.uri = uri;
        this.eol = text.includes('\r\n') ? CRLF : LF;
        this.lines = text.split(/\r\n|\r|\n/);
        this.version = 1;
        this.isDirty = this.isUntitled && text !== '';
        this.isClosed = false;
        // What can be undone: each text before a change.
        this.former = [];
    }

    get isUntitled() {
        return this.uri.scheme === 'untitled';
    }

    get fileName() {
        return this.uri.path;
    }

    get lineCount() {
        return this.lines.length;
    }

    lineAt(line) {
        const lineNumber = line instanceof Position ? line.line : line;
        if (!(lineNumber in this.lines))
            throw new Error('Illegal value for `line`');
        return {lineNumber, text: this.lines[lineNumber]};
    }

    valid({line, character}) {
        if (line >= this.lines.length)
            return new Position(this.lines.length - 1, this.lines.at(-1).length);
        return new Position(line, Math.min(character, this.lines[line].length));
    }

    getText(range) {
        const all = this.lines.join(this.eol === CRLF ? '\r\n' : '\n');
        return range ? all.slice(this.offset(range.start), this.offset(range.end)) : all;
    }

    offset(position) {
        const {line, character} = this.valid(position);
        const end = this.eol === CRLF ? 2 : 1;
        return this.lines.slice(0, line).reduce((sum, one) => sum + one.length + end, character);
    }

    replace(range, text) {
        const all = this.getText();
        this.former.push(all);
        this.put(all.slice(0, this.offset(range.start)) + text + all.slice(this.offset(range.end)));
    }

    put(text) {
        this.lines = text.split(/\r\n|\r|\n/);
        this.version += 1;
        this.isDirty = true;
    }

    undo() {
        if (this.former.length)
            this.put(this.former.pop());
    }

    get name() {
        return posix.basename(this.uri.path);
    }
}

class TextEditor {
    constructor(document) {
        this.document = document;
        this.selection = new Selection(0, 0, 0, 0);
        this.revealed = null;
    }

    revealRange(range, type = 0) {
        this.revealed = {line: range.start.line, type};
    }
}

class WorkspaceEdit {
    constructor() {
        this.edits = [];
    }

    replace(uri, range, text) {
        this.edits.push({uri, range, text});
    }
}

module.exports = {LF, CRLF, Position, Range, Selection, Uri, TextDocument, TextEditor, WorkspaceEdit};
