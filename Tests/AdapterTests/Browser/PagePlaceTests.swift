// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import DBus
import Testing

@testable import BrowserAdapter

@Suite("Places in pages")
struct PagePlaceTests {
    private let told: JSONValue = [
        "x": .number(1.5), "y": .integer(2400), "height": .integer(9000),
        "fields": [
            ["name": "subject", "number": .integer(0), "text": "Hello\nthere"],
            ["name": "copy", "number": .integer(2), "ticked": .boolean(true)],
        ],
    ]

    @Test("a place goes to the other device and arrives as it was")
    func roundTrip() throws {
        let place = PagePlace(told)
        #expect(place.fields.count == 2)
        #expect(PagePlace(userInfo: place.userInfo) == place)
        #expect(PagePlace(place.json) == place)
        #expect(place.json == told)
        #expect(place.userInfo["ScrollY"] == .double(2400))
        #expect(PagePlace(nil).userInfo["Fields"] == nil)
    }

    @Test(
        "numbers that no page has become some that it could have",
        arguments: [
            (JSONValue.number(-5), 0.0), (.number(1e300), 1e8), ("12", 0), (.null, 0), (.array([]), 0),
            (.number(12.25), 12.25),
        ])
    func numbers(y: JSONValue, expected: Double) { #expect(PagePlace(["y": y]).scroll.y == expected) }

    @Test(
        "a peer that lies about numbers is not believed",
        arguments: [Double.nan, .infinity, -.infinity, -1, 1e9])
    func peer(number: Double) {
        let place = PagePlace(userInfo: [
            "ScrollX": .double(number), "ScrollY": .string("1"), "Height": .double(number),
            "Fields": .string("x"),
        ])
        #expect([0, PagePlace.maximumLength].contains(place.scroll.x) && place.scroll.y == 0)
        #expect([0, PagePlace.maximumLength].contains(place.height) && place.fields.isEmpty)
    }

    @Test(
        "what is no field is left out",
        arguments: [
            [:], ["name": "a", "number": .integer(0)], ["name": "", "number": .integer(0), "text": "x"],
            ["name": "a", "number": .integer(-1), "text": "x"],
            ["name": "a", "number": .integer(1000), "text": "x"],
            ["name": "a", "number": .number(0.5), "text": "x"], ["name": "a", "text": "x"], "a", .null,
            ["name": .string(String(repeating: "n", count: 257)), "number": .integer(0), "text": "x"],
            ["name": "a", "number": .integer(0), "text": .string(String(repeating: "x", count: 16385))],
        ] as [JSONValue])
    func noField(value: JSONValue) {
        let good: JSONValue = ["name": "a", "number": .integer(0), "text": "x"]
        #expect(PagePlace(["fields": [value, good]]).fields.count == 1)
    }

    @Test("there are only so many fields, and they take only so much")
    func bounded() {
        func fields(_ count: Int, _ length: Int) -> JSONValue {
            let field: JSONValue = [
                "name": "a", "number": .integer(0), "text": .string(String(repeating: "x", count: length)),
            ]
            return ["fields": .array(Array(repeating: field, count: count))]
        }
        #expect(PagePlace(fields(10_000, 1)).fields.count == PagePlace.maximumFields)
        let large = PagePlace(fields(64, 16_000))
        #expect(large.fields.count == 4)
        #expect(MarshalledSize.ofBody(large.userInfo) < 131_072)
    }
}
