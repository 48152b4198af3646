// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffKit
import Testing

@MainActor @Suite("What is said of a payload that does not fit")
struct PayloadErrorTests {
    private struct Box<Content: Codable>: Codable { var content: Content }
    private struct Colours: Codable { var list: [Colour] }
    private enum Colour: String, Codable { case red }
    private enum Shape: Codable {
        case round(Int)
        case flat
    }
    private enum Refusal: Error { case wrong }

    private static let remedy = "Use the same version of the application on both devices."

    /// What is said if `Wanted` is read from `value`, which is in a dictionary as `content`.
    private static func said<Wanted: Codable>(_ type: Wanted.Type, _ value: UserInfoValue) throws -> String {
        let activity = UserActivity(activityType: edit, application: nil)
        activity.userInfo = ["content": value]
        let error = try #require(throws: HandoffError.self) { try activity.typedPayload(Box<Wanted>.self) }
        #expect(error.code == .invalidArguments && error.message.hasSuffix(". \(remedy)"))
        // No name of a type, neither of Swift's nor of the application's.
        let names = ["Dictionary", "Array", "Value", "Int", "String", "<", "Swift", "Colour", "Shape", "Box"]
        for name in names {
            #expect(!error.message.contains(name), "\(error.message)")
        }
        return error.message
    }

    @Test("what is there and what is expected are named in the same plain words")
    func kinds() throws {
        let date = Date(timeIntervalSince1970: 0)
        let table: [(String, String)] = [
            (try Self.said(String.self, 1), "a whole number where a text is"),
            (try Self.said(Bool.self, "x"), "a text where yes or no is"),
            (try Self.said(Int8.self, 128), "a whole number where a whole number from -128 to 127 is"),
            (try Self.said(UInt8.self, .date(date)), "a date where a whole number from 0 to 255 is"),
            (try Self.said(Double.self, "x"), "a text where a number is"),
            (try Self.said(Date.self, true), "yes or no where a date is"),
            (try Self.said(URL.self, .double(1)), "a number where a URL is"),
            (try Self.said(Data.self, .null), "nothing where data is"),
            (try Self.said([String].self, ["a": 1]), "a dictionary where an array is"),
            (try Self.said([String: String].self, [1]), "an array where a dictionary is"),
            (try Self.said(Box<Int>.self, .set([])), "a set where a dictionary is"),
            (try Self.said(String.self, .variant(.variant(1))), "a whole number where a text is"),
        ]
        for (said, part) in table {
            #expect(said.hasPrefix("The payload has, at “content”, \(part) expected."), "\(said)")
        }
    }

    @Test("what is missing, unknown, or too short is said without what the application calls it")
    func others() throws {
        #expect(try Self.said(Box<Int>.self, [:]).contains("nothing called “content” at “content”"))
        #expect(
            try Self.said(Colours.self, ["list": ["red", "blue"]])
                .contains("at “content.list.1”, a value that this application does not know"))
        #expect(try Self.said(Shape.self, [:]).contains("at “content”, something that does not fit."))
    }

    @Test("names in the payload of somebody else are shown as text, and not at any length")
    func names() throws {
        let long = String(repeating: "x", count: 10_000) + "\u{202E}\n"
        let said = try Self.said([String: Int].self, .dictionary([long: "y"]))
        #expect(said.count < 600 && !said.contains("\u{202E}") && !said.contains("\n"))
    }

    @Test("an error of the application's own coding is told in its own words, if it has any")
    func own() throws {
        struct Refusing: Encodable {
            func encode(to encoder: any Encoder) throws { throw Refusal.wrong }
        }
        struct Objecting: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(
                    self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "Objecting")
                )
            }
        }
        let activity = UserActivity(activityType: edit, application: nil)
        let refused = try #require(throws: HandoffError.self) { try activity.setTypedPayload(Refusing()) }
        #expect(
            refused.message
                == "The payload was refused by the application itself. Change what it objects to.")
        let objected = try #require(throws: HandoffError.self) { try activity.setTypedPayload(Objecting()) }
        #expect(
            objected.message
                == "The payload has, at its top, a value that cannot be sent. Change it, or leave it out.")
    }
}
