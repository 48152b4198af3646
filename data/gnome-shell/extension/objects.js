// SPDX-License-Identifier: LGPL-2.1-or-later
// What a daemon shows on the bus.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import {BUS, errorName, isCancelled} from './calls.js';

// How long, in milliseconds, a daemon that has not answered is left alone: twice as long each time, up to a limit.
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 60000;
// What a daemon says of a property that its version does not have.
const ABSENT = ['UnknownInterface', 'UnknownProperty', 'InvalidArgs'].map(name => `${BUS}.Error.${name}`);

// The objects below the root of one daemon and some properties of the root itself, as its signals change them.
//
// Gio's own proxies end when they are collected as garbage; this ends when it is told to.
export class Objects {
    // Follows the connection `owner`, a unique name. `properties` are those of the root that are wanted, by their interfaces.
    // `changed` is called for each change, and first when it is known what there is; with the path and the properties if
    // those of an object have changed.
    constructor(connection, owner, root, properties, changed) {
        this.owner = owner;
        this.objects = new Map();
        this.root = {};
        this._connection = connection;
        this._path = root;
        this._properties = properties;
        this._changed = changed;
        this._isKnown = false;
        this._pauses = new Set();
    }

    begin() {
        this._cancellable = new Gio.Cancellable();
        // Both are addressed to whoever has asked for the objects. What comes before the answer is in it.
        this._subscriptions = [`${BUS}.ObjectManager`, `${BUS}.Properties`].map(name =>
            this._connection.signal_subscribe(this.owner, name, null, null, null, Gio.DBusSignalFlags.NONE,
                (_connection, _sender, path, _interface, member, parameters) => {
                    if (this._isKnown || path === this._path)
                        this._received(path, member, parameters);
                }));
        this._ask('org.freedesktop.DBus.ObjectManager', 'GetManagedObjects', null, ([objects]) => {
            this.objects = new Map(Object.entries(objects));
            this._isKnown = true;
        });
        for (const [name, wanted] of Object.entries(this._properties)) {
            for (const property of wanted) {
                this._ask(`${BUS}.Properties`, 'Get', new GLib.Variant('(ss)', [name, property]), ([value]) => {
                    (this.root[name] ??= {})[property] = value;
                });
            }
        }
    }

    end() {
        for (const subscription of this._subscriptions ?? [])
            this._connection.signal_unsubscribe(subscription);
        this._subscriptions = [];
        this._cancellable?.cancel();
        for (const pause of this._pauses)
            GLib.source_remove(pause);
        this._pauses.clear();
        this._changed = () => {};
    }

    // All objects that have `interfaceName`: their paths and its properties.
    all(interfaceName) {
        return [...this.objects].filter(([, interfaces]) => interfaces[interfaceName])
            .map(([path, interfaces]) => [path, interfaces[interfaceName]]);
    }

    _ask(interfaceName, method, parameters, answered, pause = FIRST_PAUSE) {
        // The answer is taken in before any signal that was sent after it.
        this._connection.call(this.owner, this._path, interfaceName, method, parameters, null,
            Gio.DBusCallFlags.NO_AUTO_START, 10000, this._cancellable, (source, result) => {
                let reply;
                try {
                    reply = source.call_finish(result);
                } catch (error) {
                    // Without an answer nothing is shown. What keeps it busy now says nothing of later, but what it does not
                    // have it will not have later either.
                    const isAbsent = method === 'Get' && ABSENT.includes(errorName(error));
                    if (!isCancelled(error) && !isAbsent) {
                        this._afterPause(pause, () => this._ask(interfaceName, method, parameters, answered,
                            Math.min(2 * pause, LONGEST_PAUSE)));
                    }
                    return;
                }
                answered(reply.recursiveUnpack());
                this._changed();
            });
    }

    _afterPause(time, body) {
        const pause = GLib.timeout_add(GLib.PRIORITY_DEFAULT, time, () => {
            this._pauses.delete(pause);
            body();
            return GLib.SOURCE_REMOVE;
        });
        this._pauses.add(pause);
    }

    _received(path, member, parameters) {
        const type = parameters.get_type_string();
        if (member === 'InterfacesAdded' && type === '(oa{sa{sv}})') {
            const [object, interfaces] = parameters.recursiveUnpack();
            this.objects.set(object, {...this.objects.get(object), ...interfaces});
        } else if (member === 'InterfacesRemoved' && type === '(oas)') {
            const [object, names] = parameters.recursiveUnpack();
            const left = {...this.objects.get(object)};
            for (const name of names)
                delete left[name];
            if (Object.keys(left).length === 0)
                this.objects.delete(object);
            else
                this.objects.set(object, left);
        } else if (member === 'PropertiesChanged' && type === '(sa{sv}as)') {
            const [name, properties] = parameters.recursiveUnpack();
            const place = path === this._path ? this.root[name] : this.objects.get(path)?.[name];
            if (!place)
                return;
            Object.assign(place, properties);
            this._changed(path, properties);
            return;
        } else {
            return;
        }
        this._changed();
    }
}
