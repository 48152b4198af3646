// SPDX-License-Identifier: LGPL-2.1-or-later
// The windows of an editor, and what one hands to another because it belongs there.

'use strict';

const {randomBytes} = require('crypto');
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');

// How long a text may be that was not saved, and a line of Handoff or a request of another window, in bytes.
const LONGEST_TEXT = 96 * 1024;
const LONGEST_LINE = 1024 * 1024;
const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;
// The last line, and the last column, that a text can have.
const LAST = 10000000;
// After how many milliseconds no window that is there takes a request any more.
const WINDOW_PATIENCE = 300;
// For how many milliseconds a request is of use to whoever has asked, and after how many it is old in any case.
const REQUEST_PATIENCE = 9000;
const OLD = 60000;
const REQUEST = /^(pending|taken|refused|new)-([0-9a-f]{32})\.json$/;
// What may not be in a name: what steers a console, ends a line or turns the direction of writing, and what is no character.
const CONTROL = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

// Checks of what comes from outside

const isText = value => typeof value === 'string' && Buffer.byteLength(value) <= LONGEST_TEXT && !/[\0\p{Cs}]/u.test(value);
const isPlace = value => Number.isInteger(value) && value >= 1 && value <= LAST;
const isPlain = (value, longest) => typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= longest
    && !CONTROL.test(value);
const isPath = value => isPlain(value, LONGEST_PATH) && value.startsWith('/');

// What is to be shown, if all that `message` says of it can be; else nothing.
function request(message) {
    const {file, name, line, column, text, folder} = message ?? {};
    const isNamed = file === undefined ? isPlain(name, LONGEST_NAME) && text !== undefined : name === undefined && isPath(file);
    if (!isNamed || !isPlace(line) || !isPlace(column) || !(text === undefined || isText(text))
        || !(folder === undefined || isPath(folder)))
        return undefined;
    return {file: file && path.resolve(file), name, line, column, text, folder: folder && path.resolve(folder)};
}

// The folders of this window that are on the disk.
function folders() {
    return (vscode.workspace.workspaceFolders ?? []).map(one => one.uri).filter(uri => uri.scheme === 'file')
        .map(uri => uri.fsPath);
}

// The windows of the editor, which hand one another what belongs into another of them. Each request is a file of one folder.
class Windows {
    // Calls `show` with what another window hands to this one.
    constructor(folder, show) {
        this._folder = folder;
        this._show = show;
        this._handed = new Set();
        try {
            fs.mkdirSync(folder, {recursive: true, mode: 0o700});
            this._watcher = fs.watch(folder, () => this.look());
            this._watcher.on('error', () => this.close());
        } catch {
            // This window stands alone then.
        }
        this.look();
    }

    // Whether it hears of other windows.
    get isWatching() {
        return this._watcher !== undefined;
    }

    close() {
        this._watcher?.close();
        this._watcher = undefined;
        for (const {finish} of this._handed)
            finish(false);
    }

    // Takes what belongs into this window, and sees what has become of what was handed to others.
    look() {
        for (const {check} of this._handed)
            check();
        let names = [];
        try {
            names = fs.readdirSync(this._folder);
        } catch {
            // It is gone.
        }
        for (const name of names) {
            const [, kind, id] = REQUEST.exec(name) ?? [];
            if (id && !this._removeIfOld(name) && kind === 'pending')
                void this._take(id);
        }
    }

    _path(kind, id) {
        return path.join(this._folder, `${kind}-${id}.json`);
    }

    _removeIfOld(name) {
        try {
            const file = path.join(this._folder, name);
            if (Math.abs(Date.now() - fs.lstatSync(file).mtimeMs) > OLD)
                fs.unlinkSync(file);
            else
                return false;
        } catch {
            // Somebody else was faster, or it is no file.
        }
        return true;
    }

    // The request in a file; nothing if that is none.
    _read(file) {
        let descriptor;
        try {
            const {O_RDONLY, O_NOFOLLOW, O_NONBLOCK} = fs.constants;
            descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
            const status = fs.fstatSync(descriptor);
            if (status.isFile() && status.uid === process.getuid() && status.size <= LONGEST_LINE)
                return request(JSON.parse(fs.readFileSync(descriptor, 'utf8')));
        } catch {
            // It is none.
        } finally {
            if (descriptor !== undefined)
                fs.closeSync(descriptor);
        }
        return undefined;
    }

    async _take(id) {
        const wanted = this._read(this._path('pending', id));
        if (!wanted?.folder || !folders().includes(wanted.folder))
            return;
        const taken = this._path('taken', id);
        try {
            // Only one window can do this.
            fs.renameSync(this._path('pending', id), taken);
            if (await this._show(wanted))
                fs.unlinkSync(taken);
            else
                fs.renameSync(taken, this._path('refused', id));
        } catch {
            // Another window was faster, or it was taken back.
        }
    }

    // Has another window show something, a new one if none has its folder: whether it does.
    hand(wanted) {
        const id = randomBytes(16).toString('hex');
        const is = kind => fs.existsSync(this._path(kind, id));
        return new Promise(resolve => {
            const finish = isShown => {
                this._handed.delete(handed);
                clearTimeout(opening);
                clearTimeout(ending);
                for (const kind of ['new', 'pending', 'taken', 'refused'])
                    fs.rmSync(this._path(kind, id), {force: true});
                resolve(isShown);
            };
            const check = () => {
                if (!is('pending') && !is('taken'))
                    finish(!is('refused'));
            };
            const handed = {check, finish};
            const opening = setTimeout(() => {
                if (is('pending')) {
                    const folder = vscode.Uri.file(wanted.folder);
                    vscode.commands.executeCommand('vscode.openFolder', folder, {forceNewWindow: true})
                        .then(undefined, () => finish(false));
                }
            }, WINDOW_PATIENCE);
            const ending = setTimeout(() => finish(false), REQUEST_PATIENCE);
            try {
                // Whoever sees it sees all of it.
                fs.writeFileSync(this._path('new', id), JSON.stringify(wanted), {flag: 'wx', mode: 0o600});
                fs.renameSync(this._path('new', id), this._path('pending', id));
                this._handed.add(handed);
            } catch {
                finish(false);
            }
        });
    }
}

module.exports = {Windows, folders, isText, request, LONGEST_LINE};
