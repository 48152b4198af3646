// SPDX-License-Identifier: LGPL-2.1-or-later

// Handoff for applications in JavaScript, on GJS. Copy this file beside your own.
//
//     const notes = new HandoffApplication('org.example.Notes', {activityTypes: ['org.example.notes.edit']});
//     notes.onContinue = (activity, device) => show(activity.userInfo.text);
//     notes.start();
//
//     const editing = new UserActivity('org.example.notes.edit', 'Shopping');
//     editing.onWillSave = activity => { activity.userInfo.text = currentText(); };
//     editing.becomeCurrent();
//     editing.needsSave = true;    // whenever the note has changed
//
// Nothing here waits. Brokers may come and go; without one, everything is accepted and does nothing. This file is long
// because it is to be copied as one file.
//
// What is refused is a warning on standard error, unless there is an onFailure; what your functions throw is there too. The end
// of the session bus does not end the application.
//
// A call that has come, also a refused one, takes about 2 KB until JavaScript's garbage is collected next.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const BROKER = 'org.example.Handoff';
const ROOT = '/org/example/Handoff';
const ERROR = `${BROKER}.Error`;
const DBUS_ERROR = 'org.freedesktop.DBus.Error';
const NO_LIMIT = 0x7fffffff;
// The bytes that the state of an activity may take, and how deep it may nest: by the rule, and by that of the bus, which cuts
// off who sends more.
const MAXIMUM_SIZE = 131072;
const MAXIMUM_DEPTH = 32;
const MAXIMUM_LEVELS = 58;
// In milliseconds since the Unix epoch; the earliest one is as long before that.
const LATEST_DATE = 8.64e15;
const APPLICATION = `<node><interface name="${BROKER}.Application">
    <method name="WillContinueActivity">
      <arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/></method>
    <method name="ContinueActivity">
      <arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/></method>
    <method name="DidFailToContinueActivity">
      <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/></method>
  </interface></node>`;
const DELEGATE = `<node><interface name="${BROKER}.ActivityDelegate">
    <method name="WillSave"><arg type="o" direction="in"/><arg type="a{sv}" direction="out"/></method>
    <method name="WasContinued"><arg type="o" direction="in"/><arg type="a{sv}" direction="in"/></method>
    <method name="DidReceiveStream"><arg type="o" direction="in"/><arg type="h" direction="in"/></method>
  </interface></node>`;

/** The type of an activity that is nothing but a web page. */
export const browsingWeb = `${BROKER}.BrowsingWeb`;

/** A refusal: `name` is the D-Bus name of the error, and `message` says what was wrong and what to do. */
export class HandoffError extends Error {
    constructor(name, message) {
        super(message);
        this.name = name;
    }

    static of(error) {
        const name = error instanceof GLib.Error ? Gio.DBusError.get_remote_error(error) : null;
        if (!name)
            return new HandoffError(`${ERROR}.ConnectionUnavailable`, `The session bus can't be reached: ${error.message}`);
        // A broker that ends takes its answers along.
        if (['NoReply', 'ServiceUnknown', 'NameHasNoOwner'].some(one => name === `${DBUS_ERROR}.${one}`))
            return brokerEnded();
        const prefix = `GDBus.Error:${name}: `;
        return new HandoffError(name, error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message);
    }
}

function brokerEnded() {
    return new HandoffError(`${ERROR}.ConnectionUnavailable`,
        'The broker of Handoff has ended. Continue the activity again.');
}

/** A URL in `userInfo`. One of the scheme file that points into a shared folder is translated for the other device. */
export class LinkedURL {
    constructor(href) {
        this.href = href;
    }

    toString() {
        return this.href;
    }
}

// Values

const tagged = (tag, value) => new GLib.Variant('(sv)', [tag, value]);

/** A value of `userInfo` as it travels. For an exact D-Bus type, give a GLib.Variant. */
export function toVariant(value) {
    if (value instanceof GLib.Variant)
        return value;
    if (value === null)
        return tagged('null', new GLib.Variant('b', false));
    if (typeof value === 'boolean')
        return new GLib.Variant('b', value);
    if (typeof value === 'number')
        return new GLib.Variant(Number.isSafeInteger(value) ? 'x' : 'd', value);
    if (typeof value === 'string')
        return new GLib.Variant('s', value);
    if (value instanceof Uint8Array)
        return GLib.Variant.new_from_bytes(new GLib.VariantType('ay'), new GLib.Bytes(value), true);
    if (value instanceof Date)
        return tagged('date', new GLib.Variant('x', value.getTime() * 1000));
    if (value instanceof LinkedURL)
        return tagged('url', new GLib.Variant('s', value.href));
    if (value instanceof Set)
        return tagged('set', new GLib.Variant('av', [...value].map(toVariant)));
    if (Array.isArray(value))
        return new GLib.Variant('av', value.map(toVariant));
    if (typeof value === 'object')
        return new GLib.Variant('a{sv}', Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toVariant(one)])));
    throw new TypeError(`userInfo can't hold ${value}; see org.example.Handoff.Activity`);
}

/** A value that has come, as JavaScript has it. */
export function fromVariant(variant) {
    const signature = variant.get_type_string();
    if (signature === 'v')
        return fromVariant(variant.get_variant());
    if (signature === '(sv)')
        return fromTagged(variant.get_child_value(0).get_string()[0], variant.get_child_value(1).get_variant());
    if (signature === 'ay')
        return variant.get_data_as_bytes().toArray();
    const places = Array.from({length: signature.startsWith('a') ? variant.n_children() : 0}, (_, place) => place);
    if (signature.startsWith('a{s'))
        return Object.fromEntries(Object.entries(entries(variant)).map(([key, value]) => [key, fromVariant(value)]));
    if (signature.startsWith('a'))
        return places.map(place => fromVariant(variant.get_child_value(place)));
    return variant.deepUnpack();
}

function fromTagged(tag, content) {
    const value = fromVariant(content);
    switch (`${tag} ${content.get_type_string()}`) {
    // Some legal ones are beyond what JavaScript can say.
    case 'date x': return new Date(Math.max(-LATEST_DATE, Math.min(LATEST_DATE, value / 1000)));
    case 'url s': return new LinkedURL(value);
    case 'set av': return new Set(value);
    case 'null b': return null;
    // A tag that says something else than its value is no more than a text beside that.
    default: return [tag, value];
    }
}

/** The entries of an a{sv}, whose values keep their types. */
function entries(dictionary) {
    const found = Object.create(null);
    for (let place = 0; place < dictionary.n_children(); place++) {
        const entry = dictionary.get_child_value(place);
        const value = entry.get_child_value(1);
        found[entry.get_child_value(0).get_string()[0]] = value.get_type_string() === 'v' ? value.get_variant() : value;
    }
    return found;
}

/** Why the broker, or the bus, would refuse this state, in the broker's words; null if neither does. */
function refusalOf(userInfo) {
    for (const [key, value] of Object.entries(entries(userInfo))) {
        const reason = reasonAgainst(value, 2, 0);
        if (reason)
            return new HandoffError(`${DBUS_ERROR}.InvalidArgs`, `UserInfo key "${key}" ${reason}`);
    }
    if (userInfo.get_size() <= MAXIMUM_SIZE / 8)
        return null;
    const message = Gio.DBusMessage.new_signal('/', 'a.b', 'C');
    message.set_body(GLib.Variant.new_tuple([userInfo]));
    const blob = message.to_blob(Gio.DBusCapabilityFlags.NONE);
    const isLittle = message.get_byte_order() === Gio.DBusMessageByteOrder.LITTLE_ENDIAN;
    const size = new DataView(blob.buffer, blob.byteOffset).getUint32(4, isLittle);
    return size <= MAXIMUM_SIZE ? null : new HandoffError(`${ERROR}.UserInfoTooLarge`,
        `UserInfo takes ${size} bytes, more than the ${MAXIMUM_SIZE} allowed. Send less, or the bulk of it through a stream.`);
}

/** Why a value that lies so deep is refused, in containers as the rule counts them, and in levels as a bus does. */
function reasonAgainst(value, containers, levels) {
    const signature = value.get_type_string();
    if (['o', 'g', 'h'].includes(signature))
        return `holds a value of type ${signature}, which means nothing on another device. Use a string.`;
    if (signature.length === 1 && signature !== 'v')
        return null;
    const isDictionary = signature.startsWith('a{');
    containers += 1;
    levels += isDictionary ? 2 : 1;
    if (containers > MAXIMUM_DEPTH || levels > MAXIMUM_LEVELS)
        return `nests more than ${MAXIMUM_DEPTH} containers. Flatten it.`;
    if (signature === 'v')
        return reasonAgainst(value.get_variant(), containers, levels);
    if (/[ogh]/.test(signature))
        return `holds values of type ${signature}, which mean nothing on another device. Use strings.`;
    if (signature.startsWith('(') && signature !== '(sv)')
        return `holds a structure of type ${signature}. Use a dictionary; only (sv) with a known tag is allowed.`;
    if (isDictionary && signature[2] !== 's')
        return `holds a dictionary of type ${signature}, whose keys are not strings. Use string keys.`;
    if (signature.startsWith('a') && signature.length === 2 && signature !== 'av')
        return null;
    for (let place = 0; place < value.n_children(); place++) {
        const child = value.get_child_value(place);
        const reason = reasonAgainst(isDictionary ? child.get_child_value(1) : child, containers, levels);
        if (reason)
            return reason;
    }
    return null;
}

function textOf(dictionary, key) {
    const type = dictionary[key]?.get_type_string();
    return type === 's' || type === 'o' ? dictionary[key].get_string()[0] : '';
}

/** The other device of a continuation. Its name was chosen by its user: it is plain text. */
const deviceOf = context => ({id: textOf(context, 'DeviceId'), name: textOf(context, 'DeviceName')});

/** All descriptors that have come with a message. */
function takenFrom(list) {
    // To take them is the only way to have them closed: what get() returns is a duplicate, and the other one stays open.
    return list ? list.steal_fds() : [];
}

function closeAll(descriptors) {
    descriptors.splice(0).forEach(descriptor => GLib.close(descriptor));
}

/** The stream among these descriptors, all of which are taken: a Gio.SocketConnection. */
function streamOf(descriptors, index) {
    const taken = descriptors.splice(0);
    taken.filter((_, place) => place !== index).forEach(descriptor => GLib.close(descriptor));
    let problem = 'No stream has come with the message.';
    if (index < taken.length) {
        try {
            const socket = Gio.Socket.new_from_fd(taken[index]);
            if (socket.type === Gio.SocketType.STREAM)
                return socket.connection_factory_create_connection();
            socket.close();
        } catch (error) {
            // What could not become a socket is closed already.
        }
        problem = 'What has come is no stream socket. Send one end of socketpair(AF_UNIX, SOCK_STREAM).';
    }
    throw new HandoffError(`${DBUS_ERROR}.InvalidArgs`, problem);
}

/**
 * What the user is doing, which can be continued on another device while it is current.
 *
 * The functions that it calls are null until they are set; the first may return a promise:
 *
 * - onWillSave(activity): the state is needed. `userInfo` is empty; what is put there is the whole new state. If nothing is,
 *   or this throws, the former stays. It has two seconds.
 * - onWasContinued(activity, device): it is continued there, and otherwise left as it is: resign or invalidate it, if that fits.
 * - onStream(activity, stream): the continuing application has opened a stream, a Gio.SocketConnection.
 * - onFailure(activity, error): the broker has refused something; what was set has its former value again.
 *
 * Plain assignment to a property sends it, together with whatever else is assigned in this turn: title, webpageURL,
 * documentURL, referrerURL, targetContentIdentifier, persistentIdentifier, keywords, requiredUserInfoKeys, expirationDate
 * (microseconds since the Unix epoch), isEligibleForHandoff, isEligibleForSearch, supportsContinuationStreams, and needsSave,
 * which is to be set to true whenever the user has changed something.
 */
export class UserActivity {
    constructor(activityType = '', title = '', application = HandoffApplication.shared) {
        if (!application)
            throw new Error('Make a HandoffApplication before its activities.');
        this.activityType = activityType;
        this.isCurrent = false;
        this.isValid = true;
        // Where it comes from, and the token to raise a window with; only for what was continued here.
        this.origin = null;
        this.activationToken = '';
        this.onWillSave = this.onWasContinued = this.onStream = this.onFailure = null;
        this._application = application;
        this._continuation = '';
        // Whether it is open while it is not current; with the next broker too.
        this._isOpen = false;
        this._isSaving = false;
        this._properties = {};
        this._userInfo = {};
        this._forgetBroker();
        if (title)
            this.title = title;
    }

    _forgetBroker() {
        this._path = '';
        this._isCreating = this._isUpdating = this._isRefused = false;
        // What the broker has, what it is to be sent, and what it has refused together and is to be sent alone.
        this._confirmed = {};
        this._changed = new Set();
        this._alone = [];
        this._ending = 0;
    }

    /** The state that the continuing application needs. Assign it, or change it in onWillSave. */
    get userInfo() {
        return this._userInfo;
    }

    set userInfo(value) {
        const variant = toVariant(value);
        if (this._isRefusedState(variant))
            return;
        this._set('UserInfo', variant);
        this._userInfo = value;
    }

    // Whether this can't be the state. Who has set it is told, after that; within a save it is what that fails with.
    _isRefusedState(variant) {
        const error = refusalOf(variant);
        if (!error)
            return false;
        if (this._isSaving)
            throw error;
        GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
            this._fail(error);
            return GLib.SOURCE_REMOVE;
        });
        return true;
    }

    /** Adds entries, which take the place of those with the same keys. */
    addUserInfoEntries(other) {
        const value = this._properties['UserInfo'];
        // What has come and is not replaced keeps its exact types.
        const variant = toVariant({...value ? entries(value) : {}, ...other});
        if (this._isRefusedState(variant))
            return;
        this._set('UserInfo', variant);
        this._userInfo = {...this._userInfo, ...other};
    }

    /** Makes this the session's current activity, which can be continued elsewhere. */
    becomeCurrent() {
        if (this._checkValid())
            this._application._becomeCurrent(this);
    }

    /**
     * It is open from now on, with the next broker too, without becoming current: whoever looks from another device at what is
     * open here finds it. `resignCurrent` or `invalidate` closes it.
     */
    becomeOpen() {
        if (this._checkValid())
            this._application._becomeOpen(this);
    }

    /** It is no longer current, as when another one becomes current, and stays open. */
    leaveCurrent() {
        if (this._checkValid())
            this._application._endCurrent(this, 'LeaveCurrent');
    }

    /** It is no longer current, and closed until it becomes current or open again. */
    resignCurrent() {
        if (!this._checkValid())
            return;
        this._isOpen = false;
        this._application._endCurrent(this, 'ResignCurrent');
    }

    /** Ends it everywhere; for what was continued here, its streams too. It can't be revived. */
    invalidate() {
        if (!this.isValid)
            return;
        this.isValid = this.isCurrent = false;
        this._application._invalidate(this);
    }

    /**
     * Opens a stream to the application that this was continued from.
     *
     * @returns {Promise<Gio.SocketConnection>} the stream, or a HandoffError. `get_socket().shutdown(false, true)` ends your
     * direction, `get_socket().get_fd()` is the descriptor.
     */
    async continuationStream() {
        if (!this._continuation || !this._application._connection) {
            throw new HandoffError(`${ERROR}.StreamsNotSupported`, 'Streams are opened by who has continued an activity that' +
                ' supports them, as long as its broker lives.');
        }
        return this._application._openStream(this._continuation);
    }

    _checkValid() {
        if (!this.isValid)
            this._tell(new HandoffError(`${DBUS_ERROR}.UnknownObject`, 'This activity has ended. Make a new one.'));
        return this.isValid;
    }

    _tell(error) {
        if (this.onFailure)
            this.onFailure(this, error);
        else
            console.warn(`The activity “${this.activityType}”: ${error.message}`);
    }

    // The broker has refused something. Once the activity has ended, that matters to nobody.
    _fail(error) {
        if (this.isValid)
            this._tell(error);
    }

    _set(name, value) {
        if (this._properties[name]?.equal(value))
            return;
        this._properties[name] = value;
        this._changed.add(name);
        this._alone = this._alone.filter(one => one !== name);
        this._application._flushSoon();
    }

    // A property has this value, as the broker knows.
    _note(name, value) {
        if (value) {
            this._properties[name] = this._confirmed[name] = value;
        } else {
            delete this._properties[name];
            delete this._confirmed[name];
        }
        if (name === 'UserInfo')
            this._userInfo = value ? fromVariant(value) : {};
    }

    // Sends what has changed: one message at a time, and after a refusal one property at a time.
    _flush() {
        if (!this.isValid)
            return;
        if (!this._path) {
            this._application._create(this);
            return;
        }
        if (this._isUpdating || !this._alone.length && !this._changed.size)
            return;
        const names = this._alone.length ? [this._alone.shift()] : [...this._changed];
        names.forEach(name => this._changed.delete(name));
        const sent = Object.fromEntries(names.filter(name => this._properties[name])
            .map(name => [name, this._properties[name]]));
        this._isUpdating = true;
        this._application._call(this._path, 'Activity', 'Update', new GLib.Variant('(a{sv})', [sent]),
            (_reply, error) => this._updated(sent, error));
    }

    _updated(sent, error) {
        this._isUpdating = false;
        const names = Object.keys(sent).filter(name => !this._changed.has(name));
        if (!error) {
            Object.assign(this._confirmed, sent);
        } else if (Object.keys(sent).length > 1) {
            // All or none was taken: one bad property must not cost the others.
            this._alone.push(...names);
        } else {
            names.forEach(name => this._note(name, this._confirmed[name]));
            this._fail(error);
        }
        this._flush();
    }

    // What onWillSave has changed.
    async _save() {
        const former = this._userInfo;
        const before = this._properties['UserInfo'];
        this._userInfo = {};
        this._isSaving = true;
        this._set('NeedsSave', new GLib.Variant('b', false));
        this._changed.delete('NeedsSave');
        try {
            await this.onWillSave?.(this);
            if (Object.keys(this._userInfo).length) {
                const variant = toVariant(this._userInfo);
                if (!this._isRefusedState(variant))
                    this._set('UserInfo', variant);
            }
        } catch (error) {
            this._changed.delete('UserInfo');
            if (before)
                this._set('UserInfo', before);
            else
                delete this._properties['UserInfo'];
            this._userInfo = former;
            throw error;
        } finally {
            this._isSaving = false;
        }
        // Nothing new, so the former state stays.
        if (this._properties['UserInfo'] === before)
            this._userInfo = former;
        const changes = Object.fromEntries([...this._changed].map(name => [name, this._properties[name]]));
        this._changed.clear();
        Object.assign(this._confirmed, changes);
        return changes;
    }
}

for (const [name, property, signature, initial] of [
    ['title', 'Title', 's', ''], ['webpageURL', 'WebpageURL', 's', ''], ['documentURL', 'DocumentURL', 's', ''],
    ['referrerURL', 'ReferrerURL', 's', ''], ['targetContentIdentifier', 'TargetContentIdentifier', 's', ''],
    ['persistentIdentifier', 'PersistentIdentifier', 's', ''], ['keywords', 'Keywords', 'as', []],
    ['requiredUserInfoKeys', 'RequiredUserInfoKeys', 'as', []], ['expirationDate', 'ExpirationDate', 'x', 0],
    ['isEligibleForHandoff', 'EligibleForHandoff', 'b', true], ['isEligibleForSearch', 'EligibleForSearch', 'b', false],
    ['supportsContinuationStreams', 'SupportsContinuationStreams', 'b', false], ['needsSave', 'NeedsSave', 'b', false],
]) {
    Object.defineProperty(UserActivity.prototype, name, {
        get() {
            // A list is the caller's: what is done to it must not become the default of all activities.
            return this._properties[property]?.deepUnpack() ?? (Array.isArray(initial) ? [...initial] : initial);
        },
        set(value) {
            this._set(property, new GLib.Variant(signature, value));
        },
    });
}

/**
 * This application, as Handoff knows it, which has to be kept. A process may have several, each with an id of its own.
 *
 * The functions that it calls are null until they are set, which is to be done before start(); the first may return a promise:
 *
 * - onContinue(activity, device) -> boolean: continue this; whether it was handled. What it throws is shown to the user.
 * - onWillContinue(activityType, device) -> boolean: something is coming; whether the application shows that.
 * - onFailure(activityType, error): what was coming does not come.
 */
export class HandoffApplication {
    /** The id is the name of the desktop entry without .desktop, and what that declares counts too. */
    constructor(id, options = {}) {
        const known = ['activityTypes', 'team', 'documentTypes', 'domains'];
        const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
        const unknown = isObject ? Object.keys(options).filter(name => !known.includes(name)) : [];
        if (!isObject || unknown.length)
            throw new TypeError(`The options of ${id} are an object with ${known.join(', ')}, not ${unknown[0] ?? options}`);
        const {activityTypes = [], team = '', documentTypes = {}, domains = []} = options;
        this.id = id;
        this.onContinue = this.onWillContinue = this.onFailure = null;
        // Why the broker has refused the application.
        this.registrationError = null;
        this._types = activityTypes;
        this._options = {
            ...team ? {Team: new GLib.Variant('s', team)} : {},
            ...Object.keys(documentTypes).length ? {DocumentTypes: new GLib.Variant('a{ss}', documentTypes)} : {},
            ...domains.length ? {Domains: new GLib.Variant('as', domains)} : {},
        };
        this._hasStarted = this._isFlushing = this._registered = false;
        this._connection = null;
        this._objects = [];
        this._signals = [];
        this._watch = 0;
        // The broker's unique name, and what ends with it.
        this._owner = '';
        this._cancellable = new Gio.Cancellable();
        this._activities = [];
        // The one that is current or is to be, and whether the broker has yet to hear that.
        this._current = this._becoming = null;
        // What was announced and has not come, by continuation.
        this._announced = new Map();
        HandoffApplication.shared = this;
    }

    /** Whether there is a broker, and it knows the application. */
    get isAvailable() {
        return this._registered;
    }

    /** Registers from now on, again with each new broker. Throws if another application of this process has this id. */
    start() {
        if (this._hasStarted)
            return;
        if (started.has(this.id))
            throw new Error(`There is another HandoffApplication “${this.id}” in this process. Use that one, or stop it.`);
        this._hasStarted = true;
        const finish = whenMade => (_source, result) => this._orNone(() => this._connected(whenMade(result)));
        // A connection has one registration.
        if (!started.size) {
            Gio.bus_get(Gio.BusType.SESSION, null, finish(result => Gio.bus_get_finish(result)));
        } else {
            this._orNone(() => {
                const flags = Gio.DBusConnectionFlags;
                Gio.DBusConnection.new_for_address(Gio.dbus_address_get_for_bus_sync(Gio.BusType.SESSION, null),
                    flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, null, null,
                    finish(result => Gio.DBusConnection.new_for_address_finish(result)));
            });
        }
        started.set(this.id, this);
    }

    // Without a session bus there is no Handoff, which is no error.
    _orNone(work) {
        try {
            work();
        } catch (error) {
            if (!(error instanceof GLib.Error))
                throw error;
        }
    }

    /** Takes the registration and all activities back. */
    stop() {
        const connection = this._connection;
        if (connection && this._owner) {
            // Also if the registration was not answered yet: calls of one connection take effect in their order. The
            // connection is kept until this is answered: it may be nobody else's.
            connection.call(this._owner, ROOT, `${BROKER}.Manager`, 'UnregisterApplication', null, null,
                Gio.DBusCallFlags.NO_AUTO_START, -1, null, () => connection);
        }
        this._hasStarted = false;
        if (started.get(this.id) === this)
            started.delete(this.id);
        if (connection) {
            Gio.bus_unwatch_name(this._watch);
            this._signals.forEach(number => connection.signal_unsubscribe(number));
            this._objects.forEach(object => object.unexport());
        }
        this._connection = null;
        this._endBroker();
        this._owner = '';
        this._activities = [];
        this._current = this._becoming = null;
    }

    _connected(connection) {
        if (!this._hasStarted || this._connection)
            return;
        this._connection = connection;
        // GLib would end the process together with the bus.
        connection.set_exit_on_close(false);
        this._objects = [APPLICATION, DELEGATE].map(xml => Gio.DBusExportedObject.wrapJSObject(xml, this));
        this._objects.forEach(object => object.export(connection, `${ROOT}/client`));
        const none = Gio.DBusSignalFlags.NONE;
        this._signals = [
            connection.signal_subscribe(null, 'org.freedesktop.DBus.Properties', 'PropertiesChanged', null,
                `${BROKER}.Activity`, none,
                (_connection, sender, path, _interface, _signal, values) => this._propertiesChanged(sender, path, values)),
            connection.signal_subscribe(null, `${BROKER}.Manager`, 'RegistrationEnded', null, null, none,
                (_connection, sender) => this._registrationEnded(sender)),
        ];
        this._watch = Gio.bus_watch_name_on_connection(connection, BROKER, Gio.BusNameWatcherFlags.AUTO_START,
            (_connection, _name, owner) => this._appeared(owner), () => this._vanished());
    }

    // Brokers

    _appeared(owner) {
        this._owner = owner;
        this._cancellable = new Gio.Cancellable();
        const values = new GLib.Variant('(sasoa{sv})', [this.id, this._types, `${ROOT}/client`, this._options]);
        this._call(ROOT, 'Manager', 'RegisterApplication', values, (_reply, error) => {
            this.registrationError = error;
            this._registered = !error;
            if (error)
                console.warn(`The application ${this.id} is refused: ${error.message}`);
            this._flush();
        });
    }

    _fail(activityType, error) {
        if (this.onFailure)
            this.onFailure(activityType, error);
        else
            console.warn(`What was coming to ${this.id}, of type ${activityType}, does not come: ${error.message}`);
    }

    _vanished() {
        this._endBroker();
        this._owner = '';
    }

    _registrationEnded(sender) {
        if (sender === this._owner && this._registered) {
            this._endBroker();
            this._appeared(sender);
        }
    }

    // What the broker had of this application is worth nothing from now on.
    _endBroker() {
        this._cancellable.cancel();
        this._registered = false;
        this._becoming = null;
        for (const activity of this._activities) {
            activity.isCurrent = false;
            activity._forgetBroker();
        }
        const announced = [...this._announced.values()];
        this._announced.clear();
        announced.forEach(activityType => this._fail(activityType, brokerEnded()));
    }

    // Activities

    _flushSoon() {
        if (this._isFlushing)
            return;
        this._isFlushing = true;
        GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
            this._isFlushing = false;
            this._flush();
            return GLib.SOURCE_REMOVE;
        });
    }

    _flush() {
        if (this._registered)
            [...this._activities].forEach(activity => activity._flush());
    }

    _keepOpen(activity) {
        // The last one is the one that was used last, for the next broker too.
        this._activities = [...this._activities.filter(one => one !== activity), activity];
        activity._isRefused = false;
        activity._isOpen = true;
        if (this._registered)
            activity._flush();
    }

    _becomeCurrent(activity) {
        this._current = this._becoming = activity;
        this._keepOpen(activity);
        this._sayCurrent(activity);
    }

    _sayCurrent(activity) {
        if (!activity._path)
            return;
        this._becoming = activity;
        this._call(activity._path, 'Activity', 'BecomeCurrent', null, (_reply, error) => {
            if (this._becoming === activity)
                this._becoming = null;
            if (!error)
                return;
            if (this._current === activity)
                this._current = null;
            activity._isOpen = false;
            activity._fail(error);
        });
    }

    _becomeOpen(activity) {
        this._keepOpen(activity);
        this._sayOpen(activity);
    }

    _sayOpen(activity) {
        if (!activity._path)
            return;
        this._call(activity._path, 'Activity', 'BecomeOpen', null, (_reply, error) => {
            if (!error)
                return;
            activity._isOpen = false;
            activity._fail(error);
        });
    }

    _forgetCurrent(activity) {
        if (this._current === activity)
            this._current = null;
        if (this._becoming === activity)
            this._becoming = null;
    }

    _endCurrent(activity, method) {
        this._forgetCurrent(activity);
        if (!activity._path)
            return;
        activity._ending++;
        activity._flush();
        this._call(activity._path, 'Activity', method, null, (_reply, error) => {
            activity._ending--;
            if (error)
                activity._fail(error);
        });
    }

    _invalidate(activity) {
        this._activities = this._activities.filter(one => one !== activity);
        this._forgetCurrent(activity);
        if (activity._path)
            this._call(activity._path, 'Activity', 'Invalidate');
        if (activity._continuation)
            this._call(activity._continuation, 'Continuation', 'Release');
        activity._path = activity._continuation = '';
    }

    _create(activity) {
        if (!activity.isValid || activity._isCreating || activity._isRefused && !activity._changed.size)
            return;
        activity._isCreating = true;
        activity._isRefused = false;
        activity._changed.clear();
        const sent = {...activity._properties};
        const values = new GLib.Variant('(sa{sv})', [activity.activityType, sent]);
        this._call(ROOT, 'Manager', 'CreateActivity', values, (reply, error) => {
            activity._isCreating = false;
            if (error) {
                activity._isRefused = true;
                this._becoming = this._becoming === activity ? null : this._becoming;
                activity._fail(error);
                this._flush();
                return;
            }
            const [path] = reply.deepUnpack();
            if (!activity.isValid) {
                this._call(path, 'Activity', 'Invalidate');
                return;
            }
            activity._path = path;
            activity._confirmed = sent;
            activity._flush();
            // Only what was current, or was to be: another application may have what is now.
            if (this._current === activity)
                this._sayCurrent(activity);
            else if (activity._isOpen)
                this._sayOpen(activity);
        });
    }

    _propertiesChanged(sender, path, values) {
        const activity = this._activities.find(one => one._path === path);
        if (sender !== this._owner || !activity || values.get_type_string() !== '(sa{sv}as)')
            return;
        const changed = entries(values.get_child_value(1));
        if (changed['Current']?.get_type_string() === 'b') {
            activity.isCurrent = changed['Current'].get_boolean();
            // What the broker said before it heard of the latest wish is older than that.
            if (!this._becoming && !activity._ending) {
                if (activity.isCurrent)
                    this._current = activity;
                else if (this._current === activity)
                    this._current = null;
            }
        }
        if (changed['NeedsSave']?.get_type_string() === 'b' && !activity._changed.has('NeedsSave') && !activity._isUpdating)
            activity._note('NeedsSave', changed['NeedsSave']);
    }

    // Calls to the broker

    // Calls the broker of the moment. If that ends before it answers, `then` is not called.
    _call(path, iface, method, values = null, then = null) {
        if (!this._connection || !this._owner)
            return;
        const cancellable = this._cancellable;
        // Without a limit of time: the wait ends with the broker.
        this._connection.call(this._owner, path, `${BROKER}.${iface}`, method, values, null, Gio.DBusCallFlags.NO_AUTO_START,
            NO_LIMIT, cancellable, (connection, result) => {
                let reply = null, error = null;
                try {
                    reply = connection.call_finish(result);
                } catch (failure) {
                    error = HandoffError.of(failure);
                }
                if (!cancellable.is_cancelled())
                    then?.(reply, error);
            });
    }

    _openStream(path) {
        return new Promise((resolve, reject) => {
            this._connection.call_with_unix_fd_list(this._owner || BROKER, path, `${BROKER}.Continuation`, 'OpenStream', null,
                new GLib.VariantType('(h)'), Gio.DBusCallFlags.NO_AUTO_START, NO_LIMIT, null, this._cancellable,
                (connection, result) => {
                    try {
                        const [reply, descriptors] = connection.call_with_unix_fd_list_finish(result);
                        resolve(streamOf(takenFrom(descriptors), reply.get_child_value(0).get_handle()));
                    } catch (error) {
                        reject(error instanceof HandoffError
                            ? new HandoffError(`${ERROR}.ConnectionUnavailable`, error.message) : HandoffError.of(error));
                    }
                });
        });
    }

    // Calls of the broker

    async _answer(invocation, work) {
        const descriptors = takenFrom(invocation.get_message().get_unix_fd_list());
        try {
            if (invocation.get_sender() !== this._owner)
                throw new HandoffError(`${DBUS_ERROR}.AccessDenied`, `Only the owner of ${BROKER} may call this.`);
            const answer = work(invocation.get_parameters(), descriptors);
            // Whatever was not taken is of no use, also while the application thinks.
            closeAll(descriptors);
            invocation.return_value(await answer);
        } catch (error) {
            closeAll(descriptors);
            // Whatever is wrong in the application, its user is told, and its author where.
            if (!(error instanceof HandoffError))
                logError(error, `${invocation.get_method_name()} of ${this.id} has failed`);
            const name = error instanceof HandoffError ? error.name : `${ERROR}.ApplicationFailed`;
            invocation.return_dbus_error(name, error.message || String(error));
        }
    }

    WillContinueActivityAsync(_values, invocation) {
        return this._answer(invocation, async values => {
            const activityType = values.get_child_value(0).get_string()[0];
            const context = entries(values.get_child_value(1));
            this._announced.set(textOf(context, 'Continuation'), activityType);
            const shows = await this.onWillContinue?.(activityType, deviceOf(context));
            return new GLib.Variant('(b)', [!!shows]);
        });
    }

    ContinueActivityAsync(_values, invocation) {
        return this._answer(invocation, async values => {
            const [properties, context] = [0, 1].map(place => entries(values.get_child_value(place)));
            this._announced.delete(textOf(context, 'Continuation'));
            if (!this.onContinue)
                throw new HandoffError(`${DBUS_ERROR}.UnknownMethod`, 'This application continues nothing.');
            const activity = new UserActivity(textOf(properties, 'ActivityType'), '', this);
            activity.origin = deviceOf(context);
            activity.activationToken = textOf(context, 'ActivationToken');
            delete properties['ActivityType'];
            delete properties['ApplicationId'];
            Object.entries(properties).forEach(([name, value]) => activity._note(name, value));
            if (activity.supportsContinuationStreams)
                activity._continuation = textOf(context, 'Continuation');
            return new GLib.Variant('(b)', [!!await this.onContinue(activity, activity.origin)]);
        });
    }

    DidFailToContinueActivityAsync(_values, invocation) {
        return this._answer(invocation, values => {
            const [activityType, name, message] = values.deepUnpack();
            const found = [...this._announced].find(([, one]) => one === activityType);
            if (found)
                this._announced.delete(found[0]);
            this._fail(activityType, new HandoffError(name, message));
            return null;
        });
    }

    _activity(values) {
        const path = values.get_child_value(0).get_string()[0];
        const activity = this._activities.find(one => one._path === path);
        if (!activity) {
            throw new HandoffError(`${DBUS_ERROR}.UnknownObject`,
                `${path} is not an activity of this application, or no longer.`);
        }
        return activity;
    }

    WillSaveAsync(_values, invocation) {
        return this._answer(invocation, async values =>
            new GLib.Variant('(a{sv})', [await this._activity(values)._save()]));
    }

    WasContinuedAsync(_values, invocation) {
        return this._answer(invocation, values => {
            const activity = this._activity(values);
            activity.onWasContinued?.(activity, deviceOf(entries(values.get_child_value(1))));
            return null;
        });
    }

    DidReceiveStreamAsync(_values, invocation) {
        return this._answer(invocation, (values, descriptors) => {
            const activity = this._activity(values);
            if (!activity.onStream)
                throw new HandoffError(`${DBUS_ERROR}.UnknownMethod`, 'This activity takes no streams.');
            activity.onStream(activity, streamOf(descriptors, values.get_child_value(1).get_handle()));
            return null;
        });
    }
}

// Those that have started, by id.
const started = new Map();

/** The application of this process: the one that was made last. */
HandoffApplication.shared = null;
