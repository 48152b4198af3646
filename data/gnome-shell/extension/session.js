// SPDX-License-Identifier: LGPL-2.1-or-later
// Both daemons, as far as the indicator is concerned.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gettext from 'gettext';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {BUS, call, errorName, isCancelled, message} from './calls.js';
import {explained, explainedPasting, explainedSending, unframed} from './failures.js';
import {Objects} from './objects.js';
import {Owner} from './owner.js';
import {makeReport} from './report.js';
import {giveUp, mint} from './tokens.js';

const _ = text => Gettext.dgettext('handoff', text);
const BROKER = 'org.example.Handoff';
const BROKER_PATH = '/org/example/Handoff';
const BRIDGE = 'org.example.Handoff.Bridge';
const BRIDGE_PATH = '/org/example/Handoff/Bridge';
// What changes within this time, in milliseconds, is shown at once.
const GATHERING = 30;
// How long, in milliseconds, an answer may take; and pasting, for which much may have to come over from the other device.
const PATIENCE = 10000;
const PASTING = 120000;

// Follows the broker and the bridge, whoever they are at the time, and calls them. It starts neither.
export class Session {
    // `window` is the id of the Handoff window, and `changed` is called when `report` is another.
    constructor(connection, window, changed) {
        this.window = window;
        this.report = makeReport(null, null);
        this._connection = connection;
        this._changed = changed;
        this._broker = null;
        this._bridge = null;
        // The tokens of what is being continued for us, by the paths of the offers; empty where there is none.
        this._continuing = new Map();
        // The devices that something is on its way to.
        this._sending = new Set();
        // The ids of the devices that something is being pasted from.
        this._pasting = new Set();
    }

    begin() {
        this._cancellable = new Gio.Cancellable();
        const names = [
            [BROKER, BROKER_PATH, '_broker', {
                [`${BROKER}.Manager`]: ['Enabled'], [`${BROKER}.Preferences`]: ['ExcludedApplications', 'Clipboard'],
                [`${BROKER}.Clipboard`]: ['Desktop'], [`${BROKER}.Phones`]: ['Phones'],
            }],
            [BRIDGE, BRIDGE_PATH, '_bridge', {}],
        ];
        this._owners = names.map(([name, path, side, properties]) => new Owner(this._connection, name, owner => {
            this[side]?.end();
            if (side === '_broker')
                this._brokerEnded();
            this[side] = owner
                ? new Objects(this._connection, owner, path, properties, (object, values) => {
                    this._sent(object, values);
                    this._gather();
                })
                : null;
            this[side]?.begin();
            this._gather();
        }));
        for (const owner of this._owners)
            owner.begin();
        this._outcomes = this._connection.signal_subscribe(null, `${BROKER}.RemoteActivity`, 'ContinueFinished', null, null,
            Gio.DBusSignalFlags.NONE, (_connection, sender, path, _interface, _member, parameters) => {
                if (sender === this._broker?.owner && parameters.get_type_string() === '(sss)')
                    this._finished(path, ...parameters.recursiveUnpack());
            });
    }

    end() {
        this._cancellable?.cancel();
        for (const owner of this._owners ?? [])
            owner.end();
        this._broker?.end();
        this._bridge?.end();
        if (this._outcomes)
            this._connection.signal_unsubscribe(this._outcomes);
        if (this._gathering)
            GLib.source_remove(this._gathering);
        this._owners = [];
        this._broker = null;
        this._bridge = null;
        this._outcomes = 0;
        this._gathering = 0;
    }

    // Continues `offer` here, in the application that comes first.
    continueOffer(offer) {
        if (!this._broker)
            return;
        const token = mint(offer.application);
        const options = token ? {ActivationToken: new GLib.Variant('s', token)} : {};
        this._continuing.set(offer.path, token);
        this._call(this._broker, offer.path, `${BROKER}.RemoteActivity`, 'Continue', new GLib.Variant('(a{sv})', [options]),
            _('Could not continue'));
    }

    // Sends what is current here to `device`.
    send(device) {
        if (device.phone) {
            this._call(this._broker, BROKER_PATH, `${BROKER}.Phones`, 'Send', new GLib.Variant('(s)', [device.phone]),
                _('Could not send'), explained);
            return;
        }
        this._sending.add(device.path);
        this._call(this._bridge, device.path, `${BROKER}.Device`, 'Send', null, _('Could not send'), explainedSending);
    }

    // Puts what was copied on `device` into the clipboard here. That it is there is told by the agent.
    async paste(device) {
        // Pressed once more, it would only come twice.
        if (this._pasting.has(device.id))
            return;
        this._pasting.add(device.id);
        await this._call(this._broker, BROKER_PATH, `${BROKER}.Clipboard`, 'Paste', new GLib.Variant('(s)', [device.id]),
            _('Could not paste'), explainedPasting, PASTING);
        this._pasting.delete(device.id);
    }

    // Does that with the device that stands out, or says why it cannot be done. Returns false if the user has to choose one.
    pasteFromLatest() {
        const {source, obstacle} = this.report.pasting;
        if (obstacle)
            Main.notifyError(_('Could not paste'), explainedPasting(obstacle, ''));
        else if (source)
            this.paste(source);
        return Boolean(obstacle || source);
    }

    // Has `changed` called once more, a little later.
    showAgain() {
        this._gather();
    }

    // Shows what is open at `device`, in the Handoff window, which the bus starts if need be.
    async showEverything(device) {
        const token = mint(this.window);
        const text = value => new GLib.Variant('s', value);
        const data = token ? {'activation-token': text(token), 'desktop-startup-id': text(token)} : {};
        const parameters = new GLib.Variant('(sava{sv})', ['everything', [text(device.id)], data]);
        const path = `/${this.window.replaceAll('.', '/')}`;
        try {
            await call(this._connection, this.window, path, 'org.freedesktop.Application', 'ActivateAction', parameters,
                this._cancellable, Gio.DBusCallFlags.NONE);
        } catch (error) {
            if (token)
                giveUp(token);
            if (!isCancelled(error))
                Main.notifyError(_('The Handoff window cannot be opened'), explained(errorName(error), message(error)));
        }
    }

    // It is said at `path` what has become of what was sent there.
    _sent(path, properties) {
        if (properties?.Sending !== false || !this._sending.delete(path))
            return;
        if (properties.SendError)
            Main.notifyError(_('Could not send'), explainedSending(properties.SendErrorName, properties.SendError));
    }

    // The user's switch.
    setEnabled(isEnabled) {
        this._call(this._broker, BROKER_PATH, `${BUS}.Properties`, 'Set',
            new GLib.Variant('(ssv)', [`${BROKER}.Manager`, 'Enabled', new GLib.Variant('b', isEnabled)]),
            _('Could not switch Handoff'));
    }

    async _call(side, path, interfaceName, method, parameters, failure, explain = explained, patience = PATIENCE) {
        if (!side)
            return;
        try {
            await call(this._connection, side.owner, path, interfaceName, method, parameters, this._cancellable,
                Gio.DBusCallFlags.NO_AUTO_START, patience);
        } catch (error) {
            // With the broker a call to it ends too, and that has been said.
            const isSaid = method === 'Continue' && !this._continuing.has(path);
            this._giveUp(path);
            this._sending.delete(path);
            if (!isSaid && !isCancelled(error))
                Main.notifyError(failure, explain(errorName(error), message(error)));
        }
        // Whatever the user sees is what there is.
        this._gather();
    }

    _finished(path, application, error, text) {
        if (error)
            this._giveUp(path);
        this._continuing.delete(path);
        // Cancelling it was the user's own wish.
        if (error && !error.endsWith('.Cancelled'))
            Main.notifyError(_('Could not continue'), explained(error, unframed(text, application)));
        else if (!error && text)
            Main.notify(_('There are two versions now'), text);
    }

    // Nobody says any more what has become of what was being continued.
    _brokerEnded() {
        if (this._continuing.size === 0)
            return;
        for (const path of [...this._continuing.keys()])
            this._giveUp(path);
        Main.notifyError(_('Could not continue'), _('Handoff was ended meanwhile. Try again.'));
    }

    // No window will come of continuing the offer at `path`.
    _giveUp(path) {
        const token = this._continuing.get(path);
        if (token)
            giveUp(token);
        this._continuing.delete(path);
    }

    _gather() {
        if (this._gathering || !this._owners?.length)
            return;
        this._gathering = GLib.timeout_add(GLib.PRIORITY_DEFAULT, GATHERING, () => {
            this._gathering = 0;
            this.report = makeReport(this._broker, this._bridge);
            this._changed();
            return GLib.SOURCE_REMOVE;
        });
    }
}
