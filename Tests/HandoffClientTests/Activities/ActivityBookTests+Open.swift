// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import HandoffClient

extension ActivityBookTests {
    @Test("what was opened is open with the next broker too, current or not, until it is resigned")
    func opening() {
        var book = Self.begun()
        book.becomeOpen(Self.one)
        book.becomeOpen(Self.one)
        #expect(book.current == nil && book.take() == [.becomeOpen(Self.one, Self.path)])
        book.accepted(Self.one, .becomeOpen)
        _ = book.becomeCurrent(Self.one)
        _ = book.leaveCurrent(Self.one)
        _ = book.take()
        _ = book.registered()
        #expect(book.take() == [.create(Self.one, type: "", properties: [:])])
        _ = book.created(Self.one, at: Self.path)
        #expect(book.take() == [.becomeOpen(Self.one, Self.path)])
        book.accepted(Self.one, .becomeOpen)
        book.becomeOpen(Self.one)
        _ = book.resignCurrent(Self.one)
        #expect(book.take() == [.resignCurrent(Self.one, Self.path)])
        book.accepted(Self.one, .resignCurrent)
        _ = book.resignCurrent(Self.one)
        book.becomeOpen(Self.one)
        _ = book.leaveCurrent(Self.one)
        #expect(book.take() == [.becomeOpen(Self.one, Self.path), .leaveCurrent(Self.one, Self.path)])
        _ = book.resignCurrent(Self.one)
        _ = book.registered()
        _ = book.take()
        _ = book.created(Self.one, at: Self.path)
        #expect(book.take().isEmpty)
    }

    @Test(
        "with the next broker what was used last is opened last, and what was left before the first one is open there"
    )
    func orderOfUse() {
        var book = ActivityBook()
        for key in [Self.one, Self.other] { book.create(key, type: "", properties: [:]) }
        for key in [Self.other, Self.one] {
            _ = book.becomeCurrent(key)
            _ = book.leaveCurrent(key)
        }
        _ = book.registered()
        _ = book.take()
        _ = book.created(Self.one, at: Self.path)
        _ = book.created(Self.other, at: Self.otherPath)
        #expect(book.take() == [.becomeOpen(Self.other, Self.otherPath), .becomeOpen(Self.one, Self.path)])
    }

    @Test("what was opened while its creation was refused is open once it is created")
    func openingRefused() {
        var book = ActivityBook()
        book.create(Self.one, type: "", properties: [:])
        _ = book.registered()
        _ = book.take()
        book.becomeOpen(Self.one)
        _ = book.refused(Self.one, .create, Self.refusal)
        #expect(book.take().isEmpty)
        book.update(Self.one, ["Title": .string("a")])
        #expect(book.take() == [.create(Self.one, type: "", properties: ["Title": .string("a")])])
        _ = book.created(Self.one, at: Self.path)
        #expect(book.take() == [.becomeOpen(Self.one, Self.path)])
    }
}
