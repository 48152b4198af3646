// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

extension DBusError {
    /// Whether this error means that the callee does not implement the member, whether it is the object, the
    /// interface or the method that is missing. From an application, this means that it has no opinion.
    package var saysThatMemberIsMissing: Bool {
        [.unknownMethod, .unknownInterface, .unknownObject].contains(name)
    }
}
