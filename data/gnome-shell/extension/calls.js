// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls over D-Bus. None of them waits, and each can be cancelled.

import Gio from 'gi://Gio';

export const BUS = 'org.freedesktop.DBus';

// The reply to a call of `name`, as a variant, for which it waits `patience` milliseconds. It starts nothing, unless the
// `flags` say so.
export function call(connection, name, path, interfaceName, method, parameters, cancellable,
    flags = Gio.DBusCallFlags.NO_AUTO_START, patience = 10000) {
    return new Promise((resolve, reject) => {
        connection.call(name, path, interfaceName, method, parameters, null, flags, patience, cancellable,
            (source, result) => {
                try {
                    resolve(source.call_finish(result));
                } catch (error) {
                    reject(error);
                }
            });
    });
}

// Whether `error` only says that the call was cancelled.
export function isCancelled(error) {
    return Boolean(error?.matches?.(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED));
}

// The name that D-Bus gives `error`; empty if it is none of D-Bus.
export function errorName(error) {
    if (error?.matches?.(Gio.IOErrorEnum, Gio.IOErrorEnum.TIMED_OUT))
        return `${BUS}.Error.NoReply`;
    return error?.matches && Gio.DBusError.get_remote_error(error) || '';
}

// What `error` says to a person, without that name.
export function message(error) {
    if (error?.matches)
        Gio.DBusError.strip_remote_error(error);
    return `${error?.message ?? error}`;
}
