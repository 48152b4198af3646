// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// What somebody wants to do with a member of an object.
package struct AccessRequest {
    /// Who wants it.
    package let caller: Caller
    /// The object that is called.
    package let object: ExportedObject
    /// The interface that the member belongs to.
    package let interface: InterfaceName
    /// The method or property.
    package let member: String
    /// The class that the interface's XML demands for this member and for this use of it.
    package let access: AccessClass
}

/// The answer to an ``AccessRequest``.
package enum AccessDecision {
    case allow
    /// The caller may know of the object or member but not use it; the error says why.
    case deny(DBusError)
    /// For this caller, the object or member does not exist.
    case hide
}

/// The one place that decides who may do what, before any handler runs.
@MainLoop
package protocol AccessPolicy: AnyObject {
    func decide(_ request: AccessRequest) -> AccessDecision
}

/// Denies everything. Every connection starts with this policy.
@MainLoop
final class DenyAll: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision {
        .deny(.accessDenied("\(request.interface).\(request.member) is not open to anybody."))
    }
}
