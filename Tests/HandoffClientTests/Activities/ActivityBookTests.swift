// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport
import Testing

@testable import HandoffClient

@Suite("What a client's activities make it send")
struct ActivityBookTests {
    static let one = ActivityKey(1)
    static let other = ActivityKey(2)
    static let path: ObjectPath = "/org/example/Handoff/activities/1"
    static let otherPath: ObjectPath = "/org/example/Handoff/activities/2"
    static let refusal = DBusError.limitsExceeded("Too much.")

    /// A book whose first activity the broker has.
    static func begun(_ properties: [String: Value] = [:]) -> ActivityBook {
        var book = ActivityBook()
        book.create(one, type: "", properties: properties)
        _ = book.registered()
        _ = book.take()
        _ = book.created(one, at: path)
        return book
    }

    @Test("what is set in one turn is one update, with the latest values, at the place of the first")
    func coalescing() {
        var book = Self.begun()
        for number in 0..<1000 { book.update(Self.one, ["Title": .string("\(number)")]) }
        _ = book.becomeCurrent(Self.one)
        book.update(Self.one, ["NeedsSave": .boolean(true)])
        #expect(
            book.take() == [
                .update(Self.one, Self.path, ["Title": .string("999"), "NeedsSave": .boolean(true)]),
                .becomeCurrent(Self.one, Self.path),
            ])
    }

    @Test("what is set before the activity is created is created with it")
    func settingBefore() {
        var book = ActivityBook()
        _ = book.registered()
        book.create(Self.one, type: "t", properties: ["Title": .string("a")])
        book.update(Self.one, ["Title": .string("b")])
        #expect(book.take() == [.create(Self.one, type: "t", properties: ["Title": .string("b")])])
        #expect(book.take().isEmpty)
    }

    @Test("what needs the object waits for its name, and what was called after it waits with it")
    func order() {
        var book = ActivityBook()
        _ = book.registered()
        book.create(Self.one, type: "", properties: [:])
        book.create(Self.other, type: "", properties: [:])
        _ = book.becomeCurrent(Self.one)
        book.invalidate(Self.other)
        #expect(book.take().count == 1)
        #expect(book.take().isEmpty)
        #expect(book.created(Self.one, at: Self.path) == [.created(Self.one, Self.path)])
        #expect(book.take() == [.becomeCurrent(Self.one, Self.path)])
    }

    @Test("an activity that ends while it is being created is ended once the broker has named it")
    func endingWhileCreated() {
        var book = ActivityBook()
        _ = book.registered()
        book.create(Self.one, type: "", properties: [:])
        _ = book.take()
        book.invalidate(Self.one)
        #expect(book.take().isEmpty)
        #expect(book.created(Self.one, at: Self.path).isEmpty)
        #expect(book.take() == [.invalidate(Self.one, Self.path)])
        book.accepted(Self.one, .invalidate)
        #expect(book.isSettled)
    }

    @Test("only one update at a time is under way, and what is set meanwhile is the next one")
    func oneAtATime() {
        var book = Self.begun()
        book.update(Self.one, ["Title": .string("a")])
        #expect(book.take().count == 1)
        book.update(Self.one, ["Title": .string("b")])
        book.update(Self.one, ["Title": .string("c")])
        #expect(book.take().isEmpty)
        book.accepted(Self.one, .update)
        #expect(book.take() == [.update(Self.one, Self.path, ["Title": .string("c")])])
    }

    @Test("what is left is told as that, and so is what was resigned, though another one becomes current")
    func leaving() {
        var book = Self.begun()
        _ = book.becomeCurrent(Self.one)
        _ = book.take()
        book.accepted(Self.one, .becomeCurrent)
        _ = book.leaveCurrent(Self.one)
        #expect(book.current == nil && book.take() == [.leaveCurrent(Self.one, Self.path)])
        book.accepted(Self.one, .leaveCurrent)
        _ = book.becomeCurrent(Self.one)
        _ = book.leaveCurrent(Self.one)
        _ = book.resignCurrent(Self.one)
        _ = book.leaveCurrent(Self.one)
        book.create(Self.other, type: "t", properties: [:])
        _ = book.becomeCurrent(Self.other)
        #expect(
            book.take() == [
                .resignCurrent(Self.one, Self.path), .create(Self.other, type: "t", properties: [:]),
            ])
    }

    @Test("a broker that answers nothing is sent only so much")
    func backpressure() {
        var book = Self.begun()
        var sent = 0
        for _ in 0..<1000 {
            _ = book.becomeCurrent(Self.one)
            sent += book.take().count
            _ = book.resignCurrent(Self.one)
            sent += book.take().count
        }
        #expect(sent == ActivityBook.maximumUnderWay)
    }

    // MARK: Refusals

    @Test("a refused property has the value again that the broker still has, and the application is told")
    func refusedProperty() {
        var book = Self.begun(["Title": .string("a")])
        book.update(Self.one, ["Title": .string("b")])
        _ = book.take()
        #expect(
            book.refused(Self.one, .update, Self.refusal) == [
                .refused(Self.one, Self.refusal, restored: ["Title": .string("a")])
            ])
        #expect(book.activities[Self.one]?.properties == ["Title": .string("a")])
        #expect(book.take().isEmpty)
    }

    @Test("a property that was never set and is refused is not set again")
    func refusedFirst() {
        var book = Self.begun()
        book.update(Self.one, ["Title": .string("b")])
        _ = book.take()
        #expect(
            book.refused(Self.one, .update, Self.refusal)
                == [.refused(Self.one, Self.refusal, restored: ["Title": nil])])
        #expect(book.activities[Self.one]?.properties == [:])
    }

    @Test(
        "of several properties that are refused together, each is tried by itself: one does not cost the others"
    )
    func refusedTogether() {
        var book = Self.begun(["Title": .string("a")])
        book.update(Self.one, ["Title": .string("b"), "WebpageURL": .string("nonsense")])
        _ = book.take()
        #expect(book.refused(Self.one, .update, Self.refusal).isEmpty)
        #expect(book.take() == [.update(Self.one, Self.path, ["Title": .string("b")])])
        #expect(book.take().isEmpty)
        book.accepted(Self.one, .update)
        #expect(book.take() == [.update(Self.one, Self.path, ["WebpageURL": .string("nonsense")])])
        #expect(book.refused(Self.one, .update, Self.refusal).count == 1)
        #expect(book.take().isEmpty)
        #expect(book.isSettled)
        #expect(book.activities[Self.one]?.properties == ["Title": .string("b")])
    }

    @Test("what was set again since is not undone by the refusal of what was there before")
    func refusedAndSetAgain() {
        var book = Self.begun(["Title": .string("a")])
        book.update(Self.one, ["Title": .string("b")])
        _ = book.take()
        book.update(Self.one, ["Title": .string("c")])
        _ = book.refused(Self.one, .update, Self.refusal)
        #expect(book.take() == [.update(Self.one, Self.path, ["Title": .string("c")])])
    }

    @Test(
        "an activity that was refused is tried again once something changes, and nothing else is sent for it")
    func refusedCreation() {
        var book = ActivityBook()
        _ = book.registered()
        book.create(Self.one, type: "", properties: ["Title": .string("a")])
        _ = book.becomeCurrent(Self.one)
        _ = book.take()
        #expect(book.refused(Self.one, .create, Self.refusal).count == 1)
        #expect(book.take().isEmpty)
        book.update(Self.one, ["Title": .string("b")])
        #expect(book.take() == [.create(Self.one, type: "", properties: ["Title": .string("b")])])
    }

    // MARK: New brokers

    @Test("a new broker gets everything that was set, also what no broker has heard of")
    func newBroker() {
        var book = Self.begun(["Title": .string("a")])
        book.update(Self.one, ["Title": .string("b")])
        _ = book.take()
        _ = book.ended()
        book.update(Self.one, ["Keywords": .strings(["k"])])
        book.create(Self.other, type: "o", properties: [:])
        #expect(book.take().isEmpty)
        _ = book.registered()
        #expect(
            book.take() == [
                .create(
                    Self.one, type: "", properties: ["Title": .string("b"), "Keywords": .strings(["k"])]),
                .create(Self.other, type: "o", properties: [:]),
            ])
    }

    @Test("only what was current as far as the application was told is made current again")
    func currentAgain() {
        var book = Self.begun()
        _ = book.becomeCurrent(Self.one)
        _ = book.take()
        book.accepted(Self.one, .becomeCurrent)
        #expect(
            book.changed(at: Self.path, ["Current": .boolean(true)]) == [.currentChanged(Self.one, true)])
        var displaced = book
        #expect(book.ended() == [.currentChanged(Self.one, false)])
        #expect(book.registered().isEmpty)
        #expect(book.take().count == 1)
        _ = book.created(Self.one, at: Self.otherPath)
        #expect(book.take() == [.becomeCurrent(Self.one, Self.otherPath)])
        book.accepted(Self.one, .becomeCurrent)
        #expect(
            book.changed(at: Self.otherPath, ["Current": .boolean(true)]) == [.currentChanged(Self.one, true)]
        )

        #expect(
            displaced.changed(at: Self.path, ["Current": .boolean(false)])
                == [.currentChanged(Self.one, false)])
        #expect(displaced.ended().isEmpty)
        _ = displaced.registered()
        _ = displaced.take()
        _ = displaced.created(Self.one, at: Self.otherPath)
        // It has not been closed.
        #expect(displaced.take() == [.becomeOpen(Self.one, Self.otherPath)])
    }

    @Test(
        "without a broker nothing is current, and what was resigned then is not made current at the next one")
    func resignedWithoutBroker() {
        var book = Self.begun()
        _ = book.becomeCurrent(Self.one)
        _ = book.take()
        book.accepted(Self.one, .becomeCurrent)
        _ = book.changed(at: Self.path, ["Current": .boolean(true)])
        #expect(book.ended() == [.currentChanged(Self.one, false)])
        #expect(book.resignCurrent(Self.one).isEmpty)
        #expect(book.registered().isEmpty)
        _ = book.take()
        _ = book.created(Self.one, at: Self.path)
        #expect(book.take().isEmpty)
    }

    @Test("of activities that were made, made current and ended again and again nothing stays")
    func nothingStays() {
        var book = ActivityBook()
        _ = book.registered()
        let fresh = book
        for number in 1...10_000 as ClosedRange<UInt64> {
            let key = ActivityKey(number)
            book.create(key, type: "", properties: ["Title": .string("\(number)")])
            _ = book.becomeCurrent(key)
            // Some end before the broker has been asked for them, some before and some after it has made them.
            if number % 3 > 0 { _ = book.take() }
            if number % 3 == 1 { book.invalidate(key) }
            if number % 3 > 0 { _ = book.created(key, at: Self.path) }
            if number % 3 == 2 {
                for call in book.take() { book.accepted(key, call.step) }
            }
            book.invalidate(key)
            for call in book.take() { book.accepted(key, call.step) }
        }
        #expect(book == fresh)
    }

    @Test("a report that is older than what the broker is about to be told does not change what is wanted")
    func olderReport() {
        var book = Self.begun()
        _ = book.becomeCurrent(Self.one)
        _ = book.changed(at: Self.path, ["Current": .boolean(false)])
        #expect(book.current == Self.one)
        book.update(Self.one, ["NeedsSave": .boolean(true)])
        #expect(book.changed(at: Self.path, ["NeedsSave": .boolean(false)]).isEmpty)
        #expect(book.activities[Self.one]?.properties["NeedsSave"] == .boolean(true))
    }

    @Test("NeedsSave that the broker has reset is not set at the next one")
    func needsSave() {
        var book = Self.begun(["NeedsSave": .boolean(true)])
        #expect(
            book.changed(at: Self.path, ["NeedsSave": .boolean(false)])
                == [.needsSaveChanged(Self.one, false)])
        _ = book.ended()
        _ = book.registered()
        #expect(book.take() == [.create(Self.one, type: "", properties: ["NeedsSave": .boolean(false)])])
    }
}
