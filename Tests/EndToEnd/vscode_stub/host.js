// SPDX-License-Identifier: LGPL-2.1-or-later
// One window of an editor like VS Code, as far as the extension uses it, and what its user does there.

'use strict';

const fs = require('fs');
const {posix} = require('path');
const documents = require('./documents');

const {CRLF, LF, Position, Range, Selection, TextDocument, TextEditor, Uri, WorkspaceEdit} = documents;

// For how many milliseconds there is no editor while one gives way to another.
const MOMENT = 20;

class Emitter {
    constructor() {
        this.listeners = new Set();
    }

    add(listener) {
        this.listeners.add(listener);
        return {dispose: () => this.listeners.delete(listener)};
    }

    fire(value) {
        for (const listener of [...this.listeners])
            listener(value);
    }
}

// What the driver is told to do has the name of a method here, which gets what else the driver is told.
class Host {
    constructor({folders = [], focused = true, environment = {}}, tell) {
        this.tell = tell;
        this.open = [];
        this.editors = [];
        this.untitled = 0;
        this.changedEditor = new Emitter();
        this.changedState = new Emitter();
        this.changedFolders = new Emitter();
        // What opening a file waits for.
        this.held = undefined;
        const host = this;
        this.env = {appName: 'Visual Studio Code', uriScheme: 'vscode', remoteName: undefined, uiKind: 1, ...environment};
        this.window = {
            activeTextEditor: undefined, state: {focused}, onDidChangeActiveTextEditor: this.changedEditor,
            onDidChangeWindowState: this.changedState,
            showTextDocument: (document, options) => host.showTextDocument(document, options),
        };
        this.workspace = {
            workspaceFolders: this.namedFolders(folders), onDidChangeWorkspaceFolders: this.changedFolders,
            get textDocuments() {
                return host.open;
            },
            applyEdit: edit => host.applyEdit(edit),
            getWorkspaceFolder: uri => host.folderOf(uri),
            openTextDocument: what => host.openTextDocument(what),
        };
        this.commands = {executeCommand: (...values) => host.executeCommand(...values)};
        Object.assign(this, {Position, Range, Selection, Uri, WorkspaceEdit, EndOfLine: {LF, CRLF},
            TextEditorRevealType: {Default: 0, InCenter: 1, InCenterIfOutsideViewport: 2, AtTop: 3}, UIKind: {Desktop: 1, Web: 2}});
    }

    // A folder is a path, or else "scheme:path".
    namedFolders(folders) {
        const uris = folders.map(one => one.startsWith('/') ? Uri.file(one) : new Uri(...one.split(':')));
        return uris.length ? uris.map((uri, index) => ({uri, index, name: posix.basename(uri.path)})) : undefined;
    }

    folderOf(uri) {
        const holds = one => one.uri.scheme === uri.scheme && `${uri.path}/`.startsWith(`${one.uri.path}/`);
        return this.workspace.workspaceFolders?.filter(holds).sort((one, other) => other.uri.path.length - one.uri.path.length)[0];
    }

    async openTextDocument(what) {
        if (!(what instanceof Uri)) {
            this.untitled += 1;
            return this.add(new TextDocument(new Uri('untitled', `Untitled-${this.untitled}`), what?.content ?? ''));
        }
        const there = this.open.find(one => String(one.uri) === String(what));
        if (there)
            return there;
        await this.held;
        const text = await fs.promises.readFile(what.path, 'utf8');
        if (text.includes('\0'))
            throw new Error('cannot open it: the file seems to be binary');
        return this.open.find(one => String(one.uri) === String(what)) ?? this.add(new TextDocument(what, text));
    }

    add(document) {
        this.open.push(document);
        return document;
    }

    async applyEdit({edits}) {
        for (const {uri, range, text} of edits)
            (await this.openTextDocument(uri)).replace(range, text);
        return true;
    }

    async showTextDocument(what, options = {}) {
        const document = what instanceof Uri ? await this.openTextDocument(what) : what;
        let editor = this.editors.find(one => one.document === document);
        if (!editor)
            this.editors.push(editor = new TextEditor(document));
        if (options.selection)
            editor.selection = new Selection(document.valid(options.selection.start), document.valid(options.selection.end));
        await this.bringUp(editor);
        return editor;
    }

    // An editor that comes in the place of another leaves a moment with none.
    async bringUp(editor) {
        if (this.window.activeTextEditor === editor)
            return;
        for (const one of new Set([this.window.activeTextEditor && undefined, editor])) {
            this.window.activeTextEditor = one;
            this.changedEditor.fire(one);
            await new Promise(resolve => setTimeout(resolve, MOMENT));
        }
    }

    async executeCommand(command, ...values) {
        if (command !== 'vscode.openFolder' || !(values[0] instanceof Uri))
            throw new Error(`command “${command}” not found`);
        this.tell({command, folder: values[0].path, options: values[1]});
    }

    get active() {
        return this.window.activeTextEditor;
    }

    // Has files open only after “release”.
    hold() {
        this.held = new Promise(resolve => (this.release = resolve));
    }

    // What the user does

    async show({file}) {
        await this.showTextDocument(Uri.file(file));
    }

    async write({text}) {
        await this.showTextDocument(await this.openTextDocument({content: text}));
    }

    // Looks at something that is no file: the settings, an output, a version of git, a cell of a notebook.
    async look({scheme, path}) {
        await this.bringUp(scheme && new TextEditor(new TextDocument(new Uri(scheme, path), 'text\n')));
    }

    place({line, character}) {
        this.active.selection = new Selection(line, character, line, character);
    }

    type({text}) {
        const {document, selection} = this.active;
        const begin = document.offset(selection.start);
        document.replace(selection, text);
        const lines = document.getText().slice(0, begin + text.length).split(/\r?\n/);
        this.place({line: lines.length - 1, character: lines.at(-1).length});
    }

    undo() {
        this.active.document.undo();
    }

    save() {
        fs.writeFileSync(this.active.document.uri.path, this.active.document.getText());
        this.active.document.isDirty = false;
    }

    async close() {
        const {document} = this.active;
        document.isClosed = true;
        this.editors = this.editors.filter(one => one.document !== document);
        this.open = this.open.filter(one => one !== document);
        await this.bringUp(this.editors.at(-1));
    }

    focus({focused}) {
        this.window.state = {focused};
        this.changedState.fire(this.window.state);
    }

    folders({folders}) {
        const removed = this.workspace.workspaceFolders ?? [];
        this.workspace.workspaceFolders = this.namedFolders(folders);
        this.changedFolders.fire({added: this.workspace.workspaceFolders ?? [], removed});
    }

    state() {
        const {document, selection, revealed} = this.active ?? {};
        const listeners = [this.changedEditor, this.changedState, this.changedFolders].map(one => one.listeners.size);
        const before = selection && document.lineAt(selection.active.line).text.slice(0, selection.active.character);
        return {
            file: document?.uri.scheme === 'file' ? document.uri.path : null, name: document?.name ?? null,
            line: selection ? selection.active.line + 1 : null, column: selection ? [...before].length + 1 : null,
            text: document?.getText() ?? null, modified: document?.isDirty ?? null, centred: revealed?.type === 1,
            documents: this.open.map(one => one.name), listeners: listeners.reduce((sum, one) => sum + one),
        };
    }
}

exports.Host = Host;
