// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the requests and events of Wayland's data control are, by which a program without a window has the clipboard.
///
/// It is known by two names with the same content: `zwlr_data_control_manager_v1`, which wlroots has brought, and
/// `ext_data_control_manager_v1`, under which it was taken over by all.
enum WaylandProtocol: String, CaseIterable {
    /// The one that is taken if a compositor has both.
    case ext
    /// The older one.
    case zwlr

    /// The version that is spoken at most.
    var version: UInt32 { self == .ext ? 1 : 2 }

    /// The kinds of objects that there are.
    enum Kind: String, CaseIterable {
        case manager
        case device
        case source
        case offer
    }

    /// The name of the interface that objects of this kind have.
    func name(of kind: Kind) -> String { "\(rawValue)_data_control_\(kind.rawValue)_v1" }

    /// A request or an event.
    struct Message {
        /// Its name.
        let name: String
        /// What its arguments are (`wl_message`, wayland-util.h).
        let signature: String
        /// For each of its arguments, of which kind the object is that it names.
        let objects: [Object]
    }

    /// What an argument names.
    enum Object: Equatable {
        /// It is no object.
        case none
        /// An object of this protocol.
        case of(Kind)
        /// A seat, of which the core of Wayland tells.
        case seat
    }

    /// The requests and the events of objects of this kind, in the order of their numbers.
    static func messages(of kind: Kind) -> (requests: [Message], events: [Message]) {
        let destroy = Message(name: "destroy", signature: "", objects: [])
        switch kind {
        case .manager:
            return (
                [
                    Message(name: "create_data_source", signature: "n", objects: [.of(.source)]),
                    Message(name: "get_data_device", signature: "no", objects: [.of(.device), .seat]),
                    destroy,
                ], []
            )
        case .device:
            return (
                [
                    Message(name: "set_selection", signature: "?o", objects: [.of(.source)]), destroy,
                    Message(name: "set_primary_selection", signature: "2?o", objects: [.of(.source)]),
                ],
                [
                    Message(name: "data_offer", signature: "n", objects: [.of(.offer)]),
                    Message(name: "selection", signature: "?o", objects: [.of(.offer)]),
                    Message(name: "finished", signature: "", objects: []),
                    Message(name: "primary_selection", signature: "2?o", objects: [.of(.offer)]),
                ]
            )
        case .source:
            return (
                [Message(name: "offer", signature: "s", objects: [.none]), destroy],
                [
                    Message(name: "send", signature: "sh", objects: [.none, .none]),
                    Message(name: "cancelled", signature: "", objects: []),
                ]
            )
        case .offer:
            return (
                [Message(name: "receive", signature: "sh", objects: [.none, .none]), destroy],
                [Message(name: "offer", signature: "s", objects: [.none])]
            )
        }
    }

    // What is used of them, by the numbers.

    /// Requests of `wl_display`.
    enum DisplayRequest: UInt32 {
        case sync
        case getRegistry
    }

    /// Requests of `wl_registry`.
    enum RegistryRequest: UInt32 {
        case bind
    }

    /// Events of `wl_registry`.
    enum RegistryEvent: UInt32 {
        case global
        case globalRemove
    }

    /// Requests of a manager.
    enum ManagerRequest: UInt32, CaseIterable {
        case createDataSource
        case getDataDevice
        case destroy
    }

    /// Requests of a device.
    enum DeviceRequest: UInt32, CaseIterable {
        case setSelection
        case destroy
        case setPrimarySelection
    }

    /// Events of a device.
    enum DeviceEvent: UInt32, CaseIterable {
        case dataOffer
        case selection
        case finished
        case primarySelection
    }

    /// Requests of a source.
    enum SourceRequest: UInt32, CaseIterable {
        case offer
        case destroy
    }

    /// Events of a source.
    enum SourceEvent: UInt32, CaseIterable {
        case send
        case cancelled
    }

    /// Requests of an offer.
    enum OfferRequest: UInt32, CaseIterable {
        case receive
        case destroy
    }

    /// Events of an offer.
    enum OfferEvent: UInt32, CaseIterable {
        case offer
    }
}
