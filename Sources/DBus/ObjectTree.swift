// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// The objects of a connection, and the path of a call to its handler: object, standard interfaces, access
/// policy, signature, handler.
@MainLoop
package final class ObjectTree {
    weak var connection: Connection?
    var policy: any AccessPolicy = DenyAll()
    var objects: [ObjectPath: ExportedObject] = [:]
    /// How many listed objects are below each path.
    private var descendants: [ObjectPath: Int] = [:]
    /// The object managers, and to whom each tells what is added and removed.
    var managers: [ObjectPath: [BusName: Caller]] = [:]

    /// The interfaces whose readers are told of changes, and who these are.
    var followed: [FollowedInterface: [BusName: Caller]] = [:]

    /// Whether `Introspectable`, `Peer`, `Properties` and `ObjectManager` are served. A link serves none of
    /// them.
    package var servesStandardInterfaces = true

    /// Gives the error that answers a call of this member if the object does not exist, or not for this
    /// caller; nil for a plain `UnknownObject`.
    package var explainAbsence: (@MainLoop (Caller, ObjectPath, _ member: String) -> DBusError?)?

    init() {}

    // MARK: Exporting

    /// Serves `interfaces` at `path`, in place of what was there.
    ///
    /// The subscribers of an object manager above it are told. `owner` is the connection that the object belongs
    /// to; `access` replaces the classes that the interfaces name.
    package func export(
        _ path: ObjectPath, _ interfaces: [any InterfaceBinding], owner: BusName? = nil,
        access: AccessClass? = nil, isListed: Bool = true
    ) {
        unexport(path)
        let object = ExportedObject(path, interfaces, owner: owner, access: access, isListed: isListed)
        objects[path] = object
        if isListed {
            path.forEachAncestor { descendants[$0, default: 0] += 1 }
            tellAdded(object)
        }
    }

    /// Stops serving anything at `path`; harmless if nothing was served there.
    package func unexport(_ path: ObjectPath) {
        guard let object = objects.removeValue(forKey: path), object.isListed else { return }
        path.forEachAncestor {
            let left = (descendants[$0] ?? 1) - 1
            descendants[$0] = left == 0 ? nil : left
        }
        tellRemoved(object)
    }

    /// The connection has ended, and nobody calls anything any more.
    func end() { (objects, descendants, managers, followed) = ([:], [:], [:], [:]) }

    /// Makes `path` an object manager of what is below it.
    package func manage(_ path: ObjectPath) { managers[path] = managers[path] ?? [:] }

    /// From now on whoever reads all properties of `interface` at `path` at once, outside of sandboxes, is a subscriber of that
    /// interface, told of its changes and of nothing else.
    package func tellReaders(of interface: InterfaceName, at path: ObjectPath) {
        let key = FollowedInterface(path: path, interface: interface)
        followed[key] = followed[key] ?? [:]
    }

    /// Forgets a connection that has left the bus.
    package func forget(_ name: BusName) {
        for path in managers.keys { managers[path]?[name] = nil }
        for interface in followed.keys { followed[interface]?[name] = nil }
    }

    /// Whether there is something below `path` that `caller` may know of.
    func isAncestor(_ path: ObjectPath, for caller: Caller) -> Bool {
        path == .root
            || descendants[path] != nil
                && objects.values.contains {
                    $0.isListed && $0.path.isBelow(path) && isVisible($0, to: caller)
                }
    }

    // MARK: Calls

    /// What becomes of a call that is begun.
    enum Begun {
        /// It has run, and this is its reply.
        case done(Message)
        /// It waits for something; this runs it, and returns its reply.
        case waits(@MainLoop () async throws -> Message)
    }

    /// Begins the call `message`. `began` is given the call once that is let through to a handler.
    func begin(
        _ message: Message, from caller: Caller, began: (MethodCall) -> Void
    ) throws -> Begun {
        guard let path = message.path, let member = message.member else {
            throw DBusError.unknownMethod("The call names no object or no method.")
        }
        if servesStandardInterfaces, message.isStandard {
            return try handleStandard(message, path, member, from: caller, began: began)
        }
        guard let object = objects[path] else { throw unknownObject(path, caller, member) }
        guard let (binding, index) = find(member, message, on: object) else {
            guard isVisible(object, to: caller) else { throw unknownObject(path, caller, member) }
            throw DBusError.unknownMethod(
                "\(path) has no method \(member)\(message.interface.map { " of \($0)" } ?? "").")
        }
        let description = type(of: binding).description
        let method = description.methods[index]
        try authorize(caller, object, description.name, method.name, method.access)
        guard message.hasSignature(method.input) else {
            throw DBusError.invalidArgs(
                "\(description.name).\(method.name) takes “\(method.input)”, not “\(message.signature)”.")
        }
        try message.checkBody()
        let call = MethodCall(message, from: caller)
        began(call)
        guard method.waits else { return .done(try binding.handle(index, call)) }
        return .waits { try await binding.handleWaiting(index, call) }
    }

    private func find(_ member: String, _ message: Message, on object: ExportedObject) -> (
        any InterfaceBinding, Int
    )? {
        for binding in object.interfaces {
            let description = type(of: binding).description
            guard message.mayBeOf(description.name) else { continue }
            if let index = description.method(named: member) { return (binding, index) }
        }
        return nil
    }

    // MARK: Access

    func unknownObject(_ path: ObjectPath, _ caller: Caller, _ member: String) -> DBusError {
        explainAbsence?(caller, path, member) ?? .nothing(at: path)
    }

    func decide(
        _ caller: Caller, _ object: ExportedObject, _ interface: InterfaceName, _ member: String,
        _ access: AccessClass
    ) -> AccessDecision {
        policy.decide(
            AccessRequest(
                caller: caller, object: object, interface: interface, member: member,
                access: object.access ?? access))
    }

    func authorize(
        _ caller: Caller, _ object: ExportedObject, _ interface: InterfaceName, _ member: String,
        _ access: AccessClass
    ) throws {
        switch decide(caller, object, interface, member, access) {
        case .allow: return
        case .deny(let error): throw error
        case .hide: throw unknownObject(object.path, caller, member)
        }
    }

    /// Whether there is anything in `binding` that is not hidden from `caller`.
    func isVisible(_ binding: any InterfaceBinding, of object: ExportedObject, to caller: Caller) -> Bool {
        decides(on: binding, of: object, for: caller) { if case .hide = $0 { false } else { true } }
    }

    /// Whether there is anything in `binding` that `caller` may use, which is what an object manager lists.
    func isUsable(_ binding: any InterfaceBinding, of object: ExportedObject, by caller: Caller) -> Bool {
        decides(on: binding, of: object, for: caller) { if case .allow = $0 { true } else { false } }
    }

    /// Whether any member of `binding` is decided on for `caller` in such a way.
    private func decides(
        on binding: any InterfaceBinding, of object: ExportedObject, for caller: Caller,
        _ matches: (AccessDecision) -> Bool
    ) -> Bool {
        let description = type(of: binding).description
        return description.methods.contains {
            matches(decide(caller, object, description.name, $0.name, $0.access))
        }
            || description.properties.contains {
                matches(decide(caller, object, description.name, $0.name, $0.access))
            }
    }

    func isUsable(_ object: ExportedObject, by caller: Caller) -> Bool {
        object.interfaces.contains { isUsable($0, of: object, by: caller) }
    }

    func isVisible(_ object: ExportedObject, to caller: Caller) -> Bool {
        object.interfaces.contains { isVisible($0, of: object, to: caller) }
    }
}
