// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells the agent which window has the focus, and makes tokens for it.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Shell from 'gi://Shell';
import {call} from './calls.js';
import {Owner} from './owner.js';
import {line} from './text.js';
import {mint} from './tokens.js';

const AGENT = 'org.example.Handoff.Agent';
const AGENT_PATH = '/org/example/Handoff/Agent';
// How long, in milliseconds, a window has the focus before it is told, and how long titles that change are gathered.
const SETTLING = 30;
const TITLE_SETTLING = 500;

// What the agent is told of `window`: see FocusChanged in org.example.Handoff.Agent.xml.
function describe(window) {
    const about = {};
    if (!window)
        return about;
    const application = Shell.WindowTracker.get_default().get_window_app(window);
    const id = application && !application.is_window_backed() ? application.get_id().replace(/\.desktop$/, '') : '';
    // An id may also be the name of a file with other characters in it, which is none for Handoff.
    if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$/.test(id))
        about.ApplicationId = new GLib.Variant('s', id);
    about.Title = new GLib.Variant('s', line(window.get_title(), 256));
    if (window.get_pid() > 0)
        about.ProcessId = new GLib.Variant('i', window.get_pid());
    const name = window.get_gtk_unique_bus_name();
    const path = window.get_gtk_window_object_path();
    if (name && path && Gio.dbus_is_unique_name(name) && GLib.Variant.is_object_path(path)) {
        about.BusName = new GLib.Variant('s', name);
        about.WindowPath = new GLib.Variant('o', path);
    }
    return about;
}

// Everything goes as calls to the agent's owner by its unique name, and only if it runs in no sandbox. Nothing of it is a
// signal, a property or an object of the Shell's.
export class Focus {
    constructor(connection) {
        this._connection = connection;
        this._agent = null;
        this._window = null;
        this._told = '';
    }

    begin() {
        this._owner = new Owner(this._connection, AGENT, owner => this._agentChanged(owner));
        this._focusChange = global.display.connect('notify::focus-window', () => this._focusChanged());
        this._focusChanged();
        this._owner.begin();
    }

    end() {
        global.display.disconnect(this._focusChange);
        this._follow(null);
        if (this._settling)
            GLib.source_remove(this._settling);
        this._settling = 0;
        // It must not believe for as long as the screen is locked that the window still has the focus.
        this._tell('Detach', null);
        this._agentChanged(null);
        this._owner.end();
    }

    _agentChanged(owner) {
        this._cancellable?.cancel();
        this._cancellable = null;
        if (this._requests)
            this._connection.signal_unsubscribe(this._requests);
        this._requests = 0;
        this._agent = owner;
        this._told = '';
        if (!owner)
            return;
        this._cancellable = new Gio.Cancellable();
        this._requests = this._connection.signal_subscribe(owner, AGENT, 'TokenWanted', AGENT_PATH, null,
            Gio.DBusSignalFlags.NONE, (_connection, _sender, _path, _interface, _member, parameters) => {
                if (parameters.get_type_string() !== '(us)')
                    return;
                const [request, id] = parameters.recursiveUnpack();
                this._tell('ProvideToken', new GLib.Variant('(us)', [request, mint(id)]));
            });
        this._tell('Attach', null);
        this._tellFocus();
    }

    _focusChanged() {
        this._follow(global.display.focus_window);
        this._settle(SETTLING);
    }

    // Follows the title of `window` instead of that of the former one.
    _follow(window) {
        if (this._window)
            this._window.disconnect(this._titleChange);
        this._window = window;
        this._titleChange = window?.connect('notify::title', () => this._settle(TITLE_SETTLING)) ?? 0;
    }

    _settle(time) {
        // A change of the focus does not wait for titles that change.
        if (this._settling && time >= this._time)
            return;
        if (this._settling)
            GLib.source_remove(this._settling);
        this._time = time;
        this._settling = GLib.timeout_add(GLib.PRIORITY_DEFAULT, time, () => {
            this._settling = 0;
            this._tellFocus();
            return GLib.SOURCE_REMOVE;
        });
    }

    _tellFocus() {
        const focus = new GLib.Variant('(a{sv})', [describe(this._window)]);
        const text = focus.print(true);
        if (!this._agent || text === this._told)
            return;
        this._told = text;
        this._tell('FocusChanged', focus);
    }

    // The agent need not be there: whatever it answers changes nothing here.
    _tell(method, parameters) {
        if (this._agent)
            call(this._connection, this._agent, AGENT_PATH, AGENT, method, parameters, null).catch(() => {});
    }
}
