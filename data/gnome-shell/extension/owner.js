// SPDX-License-Identifier: LGPL-2.1-or-later
// Who owns a bus name.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import {BUS, call} from './calls.js';
import {isFree} from './sandbox.js';

// The connection that owns `name`, if it runs in no sandbox. Owning a name gives a sandboxed program nothing: it is taken for
// nobody, is told nothing, and nothing that it says is shown.
export class Owner {
    // `changed` is called with the unique name of a new owner, and with null when there is none any more.
    constructor(connection, name, changed) {
        this._connection = connection;
        this._name = name;
        this._changed = changed;
        this._owner = null;
    }

    begin() {
        this._watch = Gio.bus_watch_name_on_connection(this._connection, this._name, Gio.BusNameWatcherFlags.NONE,
            (_connection, _name, owner) => this._appeared(owner), () => this._vanished());
    }

    end() {
        if (this._watch)
            Gio.bus_unwatch_name(this._watch);
        this._watch = 0;
        this._cancellable?.cancel();
        this._cancellable = null;
        this._owner = null;
    }

    async _appeared(owner) {
        this._vanished();
        const cancellable = new Gio.Cancellable();
        this._cancellable = cancellable;
        const trusted = await this._isTrusted(owner, cancellable).catch(() => false);
        // What was found out of a former owner is worth nothing.
        if (!trusted || cancellable.is_cancelled())
            return;
        this._owner = owner;
        this._changed(owner);
    }

    _vanished() {
        this._cancellable?.cancel();
        this._cancellable = null;
        if (!this._owner)
            return;
        this._owner = null;
        this._changed(null);
    }

    async _isTrusted(owner, cancellable) {
        const reply = await call(this._connection, BUS, '/org/freedesktop/DBus', BUS, 'GetConnectionCredentials',
            new GLib.Variant('(s)', [owner]), cancellable);
        const {UnixUserID: user, ProcessID: process} = reply.recursiveUnpack()[0];
        return user === new Gio.Credentials().get_unix_user() && process > 0 && await isFree(process, cancellable);
    }
}
