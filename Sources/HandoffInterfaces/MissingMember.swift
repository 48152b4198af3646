// SPDX-License-Identifier: LGPL-2.1-or-later
public import DBus

extension DBusError {
    /// Whether whoever was called says in this way that it does not serve the member, whatever it is that is not there: the
    /// object, the interface or the method. Of an application this means that it has no opinion.
    public var saysThatMemberIsMissing: Bool {
        [.unknownMethod, .unknownInterface, .unknownObject].contains(name)
    }
}
