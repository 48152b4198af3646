// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the extension for GNOME Shell 45 and later against stubs. Each line of the standard input is an expression; what it
// is comes back as a line of JSON.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import HandoffExtension from '../extension.js';
import * as report from '../report.js';
import * as sandbox from '../sandbox.js';
import * as text from '../text.js';
import * as stubs from './stubs.js';

Object.assign(globalThis, {GLib, Gio, extension: new HandoffExtension(), ...report, ...sandbox, ...text, ...stubs});
const loop = new GLib.MainLoop(null, false);
const input = new Gio.DataInputStream({base_stream: Gio.UnixInputStream.new(0, false)});

function read() {
    input.read_line_async(GLib.PRIORITY_DEFAULT, null, async (_source, result) => {
        const [line] = input.read_line_finish_utf8(result);
        if (line === null) {
            loop.quit();
            return;
        }
        let answer;
        try {
            answer = {value: await (0, eval)(line) ?? null};
        } catch (error) {
            answer = {error: `${error}\n${error.stack}`};
        }
        print(JSON.stringify(answer));
        read();
    });
}

read();
loop.run();
