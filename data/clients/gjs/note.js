// SPDX-License-Identifier: LGPL-2.1-or-later

// A note in a terminal: each line that is typed is the note from then on, and can be continued where its user goes.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import {HandoffApplication, UserActivity} from './handoff.js';

const type = 'org.example.Note.edit';
const application = new HandoffApplication('org.example.Note', {activityTypes: [type]});
let note = '';
let editing = null;

function edit(text) {
    note = text;
    if (!editing) {
        editing = new UserActivity(type);
        editing.onWillSave = activity => {
            activity.userInfo.text = note;
        };
        editing.onWasContinued = (activity, device) => {
            activity.resignCurrent();
            print(`Continued on ${device.name}.`);
        };
    }
    editing.title = text;
    editing.becomeCurrent();
    editing.needsSave = true;
}

application.onContinue = (activity, device) => {
    const {text} = activity.userInfo;
    if (typeof text !== 'string')
        throw new Error('This note is of a newer version of the application. Update it here.');
    print(`${text}\n  from ${device.name}`);
    // From now on it is the note of this device, and can be continued from here.
    edit(text);
    return true;
};
application.start();

const input = Gio.DataInputStream.new(new Gio.UnixInputStream({fd: 0, close_fd: false}));
function typed(_input, result) {
    const [line] = input.read_line_finish_utf8(result);
    if (line === null)
        return;
    edit(line);
    input.read_line_async(GLib.PRIORITY_DEFAULT, null, typed);
}
input.read_line_async(GLib.PRIORITY_DEFAULT, null, typed);
new GLib.MainLoop(null, false).run();
