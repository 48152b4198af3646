// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffAgent

@Suite("The clipboard of Wayland")
struct WaylandProtocolTests {
    @Test("each message says of each of its arguments what it is", arguments: WaylandProtocol.Kind.allCases)
    func eachMessageFits(_ kind: WaylandProtocol.Kind) {
        let (requests, events) = WaylandProtocol.messages(of: kind)
        for message in requests + events {
            let arguments = message.signature.filter(\.isLetter)
            #expect(arguments.count == message.objects.count, "\(message.name)")
            for (argument, object) in zip(arguments, message.objects) {
                #expect((object != .none) == "no".contains(argument), "\(message.name)")
            }
        }
    }

    @Test("what is asked and received by number is what has that number")
    func numbersAreThoseOfNames() {
        func names<Number: CaseIterable>(_: Number.Type) -> [String] {
            // createDataSource is create_data_source.
            Number.allCases.map { number in
                "\(number)".map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
            }
        }
        let (manager, device) = (
            WaylandProtocol.messages(of: .manager), WaylandProtocol.messages(of: .device)
        )
        let (source, offer) = (WaylandProtocol.messages(of: .source), WaylandProtocol.messages(of: .offer))
        #expect(manager.requests.map(\.name) == names(WaylandProtocol.ManagerRequest.self))
        #expect(manager.events.isEmpty)
        #expect(device.requests.map(\.name) == names(WaylandProtocol.DeviceRequest.self))
        #expect(device.events.map(\.name) == names(WaylandProtocol.DeviceEvent.self))
        #expect(source.requests.map(\.name) == names(WaylandProtocol.SourceRequest.self))
        #expect(source.events.map(\.name) == names(WaylandProtocol.SourceEvent.self))
        #expect(offer.requests.map(\.name) == names(WaylandProtocol.OfferRequest.self))
        #expect(offer.events.map(\.name) == names(WaylandProtocol.OfferEvent.self))
    }

    @Test("the interfaces are named as compositors name them")
    func interfacesHaveNames() {
        #expect(WaylandProtocol.zwlr.name(of: .manager) == "zwlr_data_control_manager_v1")
        #expect(WaylandProtocol.ext.name(of: .offer) == "ext_data_control_offer_v1")
    }

    @Test("of the types of an offer each counts once, and none that is too long; too many count as none")
    func typesAreLimited() {
        var offer = WaylandOffer()
        for type in ["text/plain", "", "text/plain", String(repeating: "x", count: 257)] { offer.add(type) }
        #expect(offer.types == ["text/plain"] && offer.mark == nil)
        for number in 1..<ClipboardTypes.maximum { offer.add("text/x-\(number)") }
        offer.add("\(WaylandOffer.markPrefix)1-1")
        #expect(offer.types.count == ClipboardTypes.maximum)
        for number in 0..<1000 { offer.add("text/y-\(number)") }
        #expect(offer.types.isEmpty)
        #expect(offer.mark == "\(WaylandOffer.markPrefix)1-1")
    }
}

@Suite("Which offers of a Wayland clipboard are one's own")
struct WaylandOwnershipTests {
    private var ownership = WaylandOwnership(secret: 42)

    private func offer(_ types: String...) -> WaylandOffer {
        var offer = WaylandOffer()
        for type in types { offer.add(type) }
        return offer
    }

    @Test("what others offer is told, and so is that there is nothing")
    mutating func othersAreTold() {
        #expect(ownership.selected(offer("a", "b")) == ["a", "b"])
        #expect(ownership.selected(nil) == [])
    }

    @Test("what is owned is not told, and what comes after it is")
    mutating func ownIsNotTold() {
        let own = offer("a", ownership.mark(of: ownership.own()))
        #expect(ownership.isOwned(own))
        #expect(ownership.selected(own) == nil)
        #expect(ownership.selected(own) == nil)
        #expect(ownership.cancelled(1) == nil)
        #expect(!ownership.isOwned(own))
        #expect(ownership.selected(offer("b")) == ["b"])
    }

    @Test("what was there before something was owned is not told any more")
    mutating func olderIsNotTold() {
        let number = ownership.own()
        #expect(ownership.selected(offer("older")) == nil)
        #expect(ownership.selected(nil) == nil)
        #expect(ownership.selected(offer(ownership.mark(of: number))) == nil)
        #expect(ownership.selected(nil) == nil)
        #expect(ownership.selected(offer("newer")) == ["newer"])
    }

    @Test("what others offer is told if the source is cancelled only afterwards")
    mutating func cancelledLate() {
        let number = ownership.own()
        #expect(ownership.selected(offer("a")) == nil)
        #expect(ownership.cancelled(number) == ["a"])
        #expect(ownership.cancelled(number) == nil)
    }

    @Test("what was owned before is not told, neither when it was replaced nor when it was given up")
    mutating func replacedIsNotTold() {
        let (first, second) = (ownership.own(), ownership.own())
        #expect(ownership.selected(offer(ownership.mark(of: first))) == nil)
        #expect(ownership.cancelled(first) == nil && ownership.owned == second)
        ownership.disown()
        #expect(ownership.selected(offer(ownership.mark(of: second))) == nil)
        #expect(ownership.selected(nil) == [])
    }

    @Test("a mark that others have copied does not make theirs one's own")
    mutating func copiedMarks() {
        let number = ownership.own()
        let copied = offer("a", ownership.mark(of: number))
        #expect(ownership.selected(copied) == nil)
        #expect(ownership.cancelled(number) == nil)
        #expect(ownership.selected(copied) == ["a"])
        var others = WaylandOwnership(secret: 43)
        #expect(ownership.selected(offer("b", others.mark(of: others.own()))) == ["b"])
        for mark in ["\(WaylandOffer.markPrefix)2a-", "\(WaylandOffer.markPrefix)2a-99999999999999999999"] {
            #expect(ownership.selected(offer("c", mark)) == ["c"])
        }
    }

    @Test("nothing is owned any more once the connection is lost")
    mutating func lostWithTheConnection() {
        let number = ownership.own()
        ownership.lose()
        #expect(ownership.owned == nil)
        #expect(ownership.selected(offer("a", ownership.mark(of: number))) == ["a"])
    }
}
