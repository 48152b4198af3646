// SPDX-License-Identifier: LGPL-2.1-or-later
// A window of an editor like VS Code, with the extension in it. The argument is JSON: "extension" is its file, "storage" the
// folder that it may keep things in, and "folders", "focused" and "environment" are those of the window. Each line of the
// standard input is what the user does, {"do": …}, a method of Host, and is answered by {"reply": …}; “evaluate” runs JavaScript that
// knows `vscode`. At “quit”, or at the end of the input, the extension ends, and the process with it as soon as nothing of the
// extension is left. The standard output tells of mistakes besides, and of the folders that the window is to open.

'use strict';

const Module = require('module');
const {createInterface} = require('readline');
const checked = require('./checked');
const {Uri} = require('./documents');
const {Host} = require('./host');

const tell = message => process.stdout.write(`${JSON.stringify(message)}\n`);
checked.onMistake = text => tell({mistake: text});
for (const event of ['uncaughtException', 'unhandledRejection'])
    process.on(event, error => tell({mistake: `${event}: ${error?.stack ?? error}`}));

const options = JSON.parse(process.argv[2]);
const host = new Host(options, tell);
const vscode = checked.wrap(host, 'vscode');
const context = checked.wrap({globalStorageUri: Uri.file(options.storage), subscriptions: []}, 'ExtensionContext');
const load = Module._load;
Module._load = (name, ...rest) => name === 'vscode' ? vscode : load(name, ...rest);

async function act(line) {
    const {do: what, ...rest} = JSON.parse(line);
    try {
        const reply = what === 'evaluate' ? new Function('vscode', `return ${rest.code}`)(vscode) : host[what](rest);
        tell({reply: await reply ?? null});
    } catch (error) {
        tell({error: String(error)});
    }
}

const extension = require(options.extension);
const lines = createInterface({input: process.stdin});
let last = Promise.resolve();
lines.on('line', line => {
    if (JSON.parse(line).do === 'quit')
        lines.close();
    else
        last = last.then(() => act(line));
});
lines.on('close', async () => {
    await last;
    await extension.deactivate();
    context.subscriptions.forEach(one => one.dispose());
    process.stdin.destroy();
});
extension.activate(context);
tell({reply: 'ready'});
