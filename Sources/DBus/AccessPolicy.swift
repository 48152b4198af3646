// SPDX-License-Identifier: LGPL-2.1-or-later
public import MainLoop

/// What somebody wants to do with a member of an object.
public struct AccessRequest {
    /// Who wants it.
    public let caller: Caller
    /// The object that is called.
    public let object: ExportedObject
    /// The interface that the member belongs to.
    public let interface: InterfaceName
    /// The method or property.
    public let member: String
    /// The class that the interface's XML demands for this member and for this use of it.
    public let access: AccessClass
}

/// The answer to an ``AccessRequest``.
public enum AccessDecision {
    case allow
    /// The caller may know of the object or member but not use it; the error says why.
    case deny(DBusError)
    /// For this caller, the object or member does not exist.
    case hide
}

/// The one place that decides who may do what, before any handler runs.
@MainLoop
public protocol AccessPolicy: AnyObject {
    func decide(_ request: AccessRequest) -> AccessDecision
}

/// Denies everything. Every connection starts with this policy.
@MainLoop
final class DenyAll: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision {
        .deny(.accessDenied("\(request.interface).\(request.member) is not open to anybody."))
    }
}
