// SPDX-License-Identifier: LGPL-2.1-or-later
// What of the API of VS Code the extension may use: each member with its types, as in vscode.d.ts of VS Code 1.75. All else is
// refused. “typeof” stands before what is a namespace, a class or an enumeration itself.

'use strict';

exports.MEMBERS = {
    'vscode': [
        'commands: typeof commands', 'env: typeof env', 'window: typeof window', 'workspace: typeof workspace',
        'EndOfLine: typeof EndOfLine', 'Position: typeof Position', 'Range: typeof Range', 'Selection: typeof Selection',
        'TextEditorRevealType: typeof TextEditorRevealType', 'UIKind: typeof UIKind', 'Uri: typeof Uri',
        'WorkspaceEdit: typeof WorkspaceEdit',
    ],
    'typeof commands': ['executeCommand(command: string, ...rest: any): Thenable<any>'],
    'typeof env': ['appName: string', 'remoteName: string | undefined', 'uiKind: number', 'uriScheme: string'],
    'typeof window': [
        'activeTextEditor: TextEditor | undefined',
        'onDidChangeActiveTextEditor: Event<TextEditor | undefined>',
        'onDidChangeWindowState: Event<WindowState>',
        'showTextDocument(document: TextDocument, options?: TextDocumentShowOptions): Thenable<TextEditor>',
        'showTextDocument(document: TextDocument, column?: number, preserveFocus?: boolean): Thenable<TextEditor>',
        'showTextDocument(uri: Uri, options?: TextDocumentShowOptions): Thenable<TextEditor>',
        'state: WindowState',
    ],
    'typeof workspace': [
        'applyEdit(edit: WorkspaceEdit): Thenable<boolean>',
        'getWorkspaceFolder(uri: Uri): WorkspaceFolder | undefined',
        'onDidChangeWorkspaceFolders: Event<WorkspaceFoldersChangeEvent>',
        'openTextDocument(uri: Uri): Thenable<TextDocument>',
        'openTextDocument(fileName: string): Thenable<TextDocument>',
        'openTextDocument(options?: DocumentOptions): Thenable<TextDocument>',
        'textDocuments: TextDocument[]',
        'workspaceFolders: WorkspaceFolder[] | undefined',
    ],
    'typeof EndOfLine': ['LF: number', 'CRLF: number'],
    'typeof TextEditorRevealType': ['Default: number', 'InCenter: number', 'InCenterIfOutsideViewport: number', 'AtTop: number'],
    'typeof UIKind': ['Desktop: number', 'Web: number'],
    'typeof Position': ['new(line: number, character: number): Position'],
    'typeof Range': [
        'new(start: Position, end: Position): Range',
        'new(startLine: number, startCharacter: number, endLine: number, endCharacter: number): Range',
    ],
    'typeof Selection': [
        'new(anchor: Position, active: Position): Selection',
        'new(anchorLine: number, anchorCharacter: number, activeLine: number, activeCharacter: number): Selection',
    ],
    'typeof Uri': ['file(path: string): Uri'],
    'typeof WorkspaceEdit': ['new(): WorkspaceEdit'],
    'Disposable': ['dispose(): any'],
    'ExtensionContext': ['globalStorageUri: Uri', 'subscriptions: any'],
    'Position': ['character: number', 'line: number'],
    'Range': ['end: Position', 'isEmpty: boolean', 'start: Position'],
    'Selection': ['active: Position', 'anchor: Position'],
    'TextDocument': [
        'eol: number', 'fileName: string', 'getText(range?: Range): string', 'isClosed: boolean', 'isDirty: boolean',
        'isUntitled: boolean', 'lineAt(line: number): TextLine', 'lineAt(position: Position): TextLine', 'lineCount: number',
        'uri: Uri', 'version: number',
    ],
    'TextEditor': ['document: TextDocument', 'revealRange(range: Range, revealType?: number): void', 'selection: Selection'],
    'TextLine': ['lineNumber: number', 'text: string'],
    'Uri': ['authority: string', 'fsPath: string', 'path: string', 'scheme: string', 'toString(): string'],
    'WindowState': ['focused: boolean'],
    'WorkspaceEdit': ['replace(uri: Uri, range: Range, newText: string): void'],
    'WorkspaceFolder': ['index: number', 'name: string', 'uri: Uri'],
    'WorkspaceFoldersChangeEvent': ['added: WorkspaceFolder[]', 'removed: WorkspaceFolder[]'],
};

exports.BASES = {Selection: 'Range'};

// What can be set.
exports.WRITABLE = {TextEditor: ['selection']};

// What is handed over as plain objects.
exports.SHAPES = {
    DocumentOptions: {content: 'string | undefined', language: 'string | undefined'},
    TextDocumentShowOptions: {
        preserveFocus: 'boolean | undefined', preview: 'boolean | undefined', selection: 'Range | undefined',
        viewColumn: 'number | undefined',
    },
};
