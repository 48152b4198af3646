// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform

@testable import HandoffBridge

extension Vectors {
    /// What goes over streams.
    func frames() -> JSON {
        let (hello, most) = (Array("Hello".utf8), StreamFrame.maximumSize)
        let cases: [(String, [UInt8])] = [
            ("two bytes, and the end", frame(Array("Hi".utf8)) + frame([])),
            ("two frames, and the end", frame([0]) + frame(hello) + frame([])), ("the end alone", frame([])),
            ("no end", frame(hello)), ("an end that is cut off", frame(hello) + [0, 0, 0]),
            ("a frame that is cut off", frame(hello).dropLast()),
            ("the longest frame, of which a byte has come", header(most) + [7]),
            ("a longer frame, of which a byte has come", header(most + 1) + [7]),
            ("the greatest length", header(Int(UInt32.max))),
            ("something behind the end", frame(hello) + frame([]) + [0]),
            ("a frame behind the end", frame([]) + frame(hello)), ("nothing", []),
        ]
        return [
            "ready": .bytes([1]),
            "streams": .list(
                cases.map { name, bytes in
                    let (data, isInOrder) = received(bytes)
                    return [
                        "name": .text(name), "bytes": .bytes(bytes), "data": .bytes(data),
                        "result": isInOrder ? "ended" : "broken",
                    ]
                }),
            "documents": .list(
                [hello, []].map { document in
                    let digest = Digest.sha256(document)
                    let body = document.isEmpty ? [] : frame(document)
                    return [
                        "document": .bytes(document), "digest": .bytes(digest),
                        "stream": .bytes(body + frame(digest) + frame([])),
                    ]
                }),
        ]
    }

    private func header(_ size: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: StreamFrame.headerSize)
        bytes.withUnsafeMutableBytes { StreamFrame.write(size, into: $0) }
        return bytes
    }

    private func frame(_ data: [UInt8]) -> [UInt8] { header(data.count) + data }

    /// What of `bytes`, behind which the connection ends, is data, and whether the direction has ended in order.
    private func received(_ bytes: [UInt8]) -> (data: [UInt8], isInOrder: Bool) {
        var (reader, place, data) = (StreamFrameReader(), 0, [UInt8]())
        return bytes.withUnsafeBytes { raw in
            while let piece = reader.next(raw, from: place) {
                switch piece {
                case .data(let range):
                    data += raw[range]
                    place = range.upperBound
                case .end(let end): return (data, end == raw.count)
                case .tooLong: return (data, false)
                }
            }
            return (data, false)
        }
    }
}
