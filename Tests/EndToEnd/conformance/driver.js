// SPDX-License-Identifier: LGPL-2.1-or-later

// An application that does what it is told, a line each, and tells what happens to it; see README.md.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';
import {HandoffApplication, UserActivity} from '../../../data/clients/gjs/handoff.js';

Gio._promisify(Gio.InputStream.prototype, 'read_bytes_async', 'read_bytes_finish');
Gio._promisify(Gio.OutputStream.prototype, 'write_bytes_async', 'write_bytes_finish');

const tell = (...words) => print(words.map(word => typeof word === 'boolean' ? Number(word) : word).join('\t'));
const [id, type] = ARGV;
const application = new HandoffApplication(id, {activityTypes: [type], team: 'org.example.team'});
const activities = {};
const others = [];
let answer = ['yes'];
let shows = false;
let isSilent = false;
let stops = false;

application.onWillContinue = (kind, device) => {
    tell('willContinue', kind, device.name);
    return shows;
};
application.onFailure = (kind, error) => {
    tell('failed', kind, error.name, error.message);
    if (stops)
        application.stop();
};
application.onContinue = (activity, device) => {
    const number = `c${Object.keys(activities).length}`;
    keep(number, activity);
    tell('continue', number, activity.activityType, activity.title, device.name);
    if (answer[0] === 'fail')
        throw new Error(answer[1]);
    return answer[0] === 'yes';
};

function keep(number, activity) {
    activities[number] = activity;
    if (!isSilent)
        activity.onFailure = (_activity, error) => tell('refused', number, error.name, error.message);
    activity.onWasContinued = (_activity, device) => tell('wasContinued', number, device.name);
}

function nested(levels) {
    let value = [];
    for (let level = 1; level < levels; level++)
        value = [value];
    return value;
}

function beginSecond(otherId) {
    const other = new HandoffApplication(otherId);
    HandoffApplication.shared = application;
    others.push(other);
    try {
        other.start();
        tell('second', 'ok');
    } catch (error) {
        tell('second', error.message);
    }
}

async function read(stream) {
    let text = '';
    for (;;) {
        // eslint-disable-next-line no-await-in-loop
        const bytes = await stream.get_input_stream().read_bytes_async(4096, GLib.PRIORITY_DEFAULT, null);
        if (!bytes.get_size())
            return text;
        text += new TextDecoder().decode(bytes.toArray());
    }
}

const write = (stream, text) => stream.get_output_stream().write_bytes_async(
    new GLib.Bytes(new TextEncoder().encode(text)), GLib.PRIORITY_DEFAULT, null);

async function echo(number, stream) {
    const text = await read(stream);
    await write(stream, 'pong');
    stream.close(null);
    tell('stream', number, text);
}

async function ask(number) {
    try {
        const stream = await activities[number].continuationStream();
        await write(stream, 'ping');
        stream.get_socket().shutdown(false, true);
        tell('opened', number, await read(stream));
        stream.close(null);
    } catch (error) {
        tell('notOpened', number, error.name, error.message);
    }
}

const commands = {
    start: () => application.start(),
    stop: () => application.stop(),
    make: (number, kind, title) => keep(number, new UserActivity(kind, title)),
    set: (number, name, value) => {
        const isFlag = name === 'needsSave' || name === 'supportsContinuationStreams';
        activities[number][name] = isFlag ? value === 'yes' : value;
    },
    userInfo: (number, key, value) => {
        activities[number].userInfo = {[key]: value};
    },
    deep: (number, levels) => {
        activities[number].userInfo = {a: nested(Number(levels))};
    },
    large: (number, bytes) => {
        activities[number].userInfo = {a: 'a'.repeat(Number(bytes))};
    },
    odd: number => {
        activities[number].userInfo = {a: new GLib.Variant('o', '/')};
    },
    stopsAtFailure: () => {
        stops = true;
    },
    silent: () => {
        isSilent = true;
        application.onFailure = null;
    },
    second: otherId => beginSecond(otherId),
    add: (number, key, value) => activities[number].addUserInfoEntries({[key]: value}),
    becomeCurrent: number => activities[number].becomeCurrent(),
    becomeOpen: number => activities[number].becomeOpen(),
    leaveCurrent: number => activities[number].leaveCurrent(),
    resignCurrent: number => activities[number].resignCurrent(),
    invalidate: number => activities[number].invalidate(),
    willSave: (number, what, value) => {
        activities[number].onWillSave = activity => {
            tell('saving', number, Object.keys(activity.userInfo).length);
            if (what === 'text')
                activity.userInfo.text = value;
            else if (what === 'deep')
                activity.userInfo.a = nested(Number(value));
            else if (what === 'raise')
                throw new Error('nokey');
            else if (what === 'fail')
                throw new Error('the disk is full');
        };
    },
    answer: (...words) => {
        answer = words;
    },
    shows: value => {
        shows = value === 'yes';
    },
    takeStreams: number => {
        activities[number].onStream = (_activity, stream) => {
            echo(number, stream).catch(logError);
        };
    },
    openStream: number => {
        ask(number).catch(logError);
    },
    get: number => {
        const activity = activities[number];
        const shown = Object.entries(activity.userInfo).filter(([, value]) => typeof value === 'string').sort()
            .map(([key, value]) => `${key}=${value}`).join(',');
        tell('got', number, activity.isCurrent, activity.isValid, activity.needsSave, activity.title, activity.webpageURL,
            shown);
    },
    available: () => tell('available', application.isAvailable),
};

const loop = new GLib.MainLoop(null, false);
const input = Gio.DataInputStream.new(new Gio.UnixInputStream({fd: 0, close_fd: false}));

// What has come together is done in one turn, as what an application does in one function is.
function told(_input, result) {
    const count = input.fill_finish(result);
    while (input.get_available()) {
        const [line] = input.read_line_utf8(null);
        if (line === null)
            break;
        const [command, ...words] = line.split('\t');
        commands[command](...words);
    }
    if (count > 0)
        input.fill_async(-1, GLib.PRIORITY_DEFAULT, null, told);
    else
        loop.quit();
}

input.fill_async(-1, GLib.PRIORITY_DEFAULT, null, told);
loop.run();
System.exit(0);
