// SPDX-License-Identifier: LGPL-2.1-or-later

/// An interface of one object, whose readers are told of changes.
struct FollowedInterface: Hashable {
    /// The object.
    let path: ObjectPath
    /// The interface.
    let interface: InterfaceName
}

/// Those who are told of the changes of one interface because they have read it. The signals are unicast, since a broadcast
/// would pass through the filters of sandboxes.
extension ObjectTree {
    /// `caller` has read all properties of `interface` at `path`.
    func hasRead(_ interface: InterfaceName, at path: ObjectPath, _ caller: Caller) {
        let key = FollowedInterface(path: path, interface: interface)
        guard followed[key] != nil, let name = caller.name, caller.sandbox == nil else { return }
        followed[key]?[name] = caller
        connection?.observer?.subscribed(name)
    }

    /// Who is told of changes of `interface` at `path`.
    func subscribers(of interface: InterfaceName, at path: ObjectPath) -> [BusName: Caller] {
        let readers = followed[FollowedInterface(path: path, interface: interface)] ?? [:]
        return subscribers(above: path).merging(readers) { first, _ in first }
    }
}
