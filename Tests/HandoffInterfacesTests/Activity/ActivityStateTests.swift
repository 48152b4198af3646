// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@Suite("The properties of an activity")
struct ActivityStateTests {
    private static let all: [String: Value] = [
        "Title": .string("Shopping"), "UserInfo": .properties(["b": .int32(2), "a": .strings(["x"])]),
        "RequiredUserInfoKeys": .strings(["a"]), "WebpageURL": .string("https://Example.com/list"),
        "DocumentURL": .string("file:///home/me/list.txt"), "ReferrerURL": .string("http://example.org"),
        "TargetContentIdentifier": .string("target"), "PersistentIdentifier": .string("persistent"),
        "Keywords": .strings(["milk", "", "eggs"]), "ExpirationDate": .int64(-1),
        "EligibleForHandoff": .boolean(false), "EligibleForSearch": .boolean(true),
        "SupportsContinuationStreams": .boolean(true),
    ]

    @Test("what is set is what is shared, and what is not set is not")
    func shared() throws {
        var state = ActivityState()
        #expect(state.shared == [:])
        let needsSave = try state.apply(Self.all, Sample.fileNameTypes)
        #expect(needsSave == nil)
        #expect(state.shared == Self.all)
        #expect(state.userInfo.properties == ["b": .int32(2), "a": .strings(["x"])])
        #expect(state.keywords == ["milk", "", "eggs"] && state.requiredUserInfoKeys == ["a"])
        #expect(state.webpageHost == "example.com" && state.documentType == "text/plain")
        try state.apply([
            "Title": .string(""), "UserInfo": .properties([:]), "RequiredUserInfoKeys": .strings([]),
            "WebpageURL": .string(""), "DocumentURL": .string(""), "ReferrerURL": .string(""),
            "TargetContentIdentifier": .string(""), "PersistentIdentifier": .string(""),
            "Keywords": .strings([]), "ExpirationDate": .int64(0), "EligibleForHandoff": .boolean(true),
            "EligibleForSearch": .boolean(false), "SupportsContinuationStreams": .boolean(false),
        ])
        #expect(state.shared == [:] && state.webpageHost == nil && state.documentType == nil)
    }

    @Test("NeedsSave and Delegate are the origin's own")
    func own() throws {
        var state = ActivityState()
        let needsSave = try state.apply(["NeedsSave": .boolean(true), "Delegate": .objectPath("/a")])
        #expect(needsSave == true)
        #expect(state.shared == [:])
        #expect(state.delegate == "/a")
    }

    @Test(
        "a known key of a wrong type is refused, naming it, and nothing is taken over",
        arguments: all.keys.sorted() + ["NeedsSave", "Delegate"])
    func types(_ key: String) throws {
        var state = ActivityState()
        try state.apply(["Title": .string("Former")])
        let former = state
        let values = Self.all.merging([key: .byte(1)]) { $1 }
        let failure = failure { try state.apply(values) }
        #expect(failure?.code == .invalidArguments)
        #expect(failure?.message.hasPrefix("\(key) must have the type ") == true)
        #expect(state == former)
    }

    @Test("a key that is not known is ignored, and a path that D-Bus keeps for itself is refused")
    func others() throws {
        var state = ActivityState()
        try state.apply(["Colour": .string("red")])
        #expect(state.shared == [:])
        let failure = failure {
            try state.apply(["Delegate": .objectPath("/org/freedesktop/DBus/Local")])
        }
        #expect(failure?.code == .invalidArguments && state.delegate == .root)
    }

    @Test("its size is told before it is taken over, and whoever is told may refuse it")
    func holding() throws {
        var state = ActivityState()
        var told: [Int] = []
        try state.apply(["UserInfo": .properties(["a": .int32(1)])]) { told.append($0) }
        let size = MarshalledSize.ofBody(["a": .int32(1)])
        #expect(state.userInfo.size == size && state.size == size && told == [size])
        try state.apply(["Title": .string("Shopping")]) { told.append($0) }
        #expect(state.userInfo.size == size && told.last == state.size && state.size > size)
        let former = state
        let failure = failure {
            try state.apply(["UserInfo": .properties([:])]) { (_) throws(HandoffFailure) in
                throw HandoffFailure(.limitsExceeded, "no")
            }
        }
        #expect(failure?.code == .limitsExceeded && state == former)
    }

    /// The first 128 KiB are those of the `UserInfo`.
    @Test("all properties together take 256 KiB at most")
    func sum() throws {
        var state = ActivityState()
        let userInfo = Value.properties(["a": .bytes([UInt8](repeating: 0, count: 131_000))])
        let fitting = Value.string(String(repeating: "x", count: 130_800))
        try state.apply(["UserInfo": userInfo, "PersistentIdentifier": fitting])
        #expect(MarshalledSize.ofBody(state.shared) <= ActivityState.maximumSize)
        let former = state
        let failure = failure {
            try state.apply(["TargetContentIdentifier": .string(String(repeating: "x", count: 1000))])
        }
        #expect(failure?.code == .limitsExceeded && state == former)
        #expect(failure?.message.contains("262144") == true)
    }

    @Test("a title takes 4 KiB at most")
    func title() throws {
        var state = ActivityState()
        try state.apply(["Title": .string(String(repeating: "x", count: 4096))])
        let failure = failure { try state.apply(["Title": .string(String(repeating: "x", count: 4097))]) }
        #expect(failure?.code == .limitsExceeded && state.title.utf8.count == 4096)
    }
}
