// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// A small file of the broker's own, by which it knows again after its end what it knew before. It is read and written where
/// nobody waits for that.
@MainLoop
final class RememberedFile {
    nonisolated private let path: String
    /// What is lost without it, in a message.
    private let what: String
    /// What is to be written once the former is.
    private var next: (@Sendable () -> [UInt8])?
    private var isWriting = false

    /// How many bytes are read of it.
    nonisolated private let maximumSize: Int

    /// The file at `path`, which holds `what`, and of which `maximumSize` bytes are read.
    init(_ path: String, _ what: String, maximumSize: Int = 1 << 20) {
        (self.path, self.what, self.maximumSize) = (path, what, maximumSize)
    }

    /// Reads the file, and calls `body` with what `decode` makes of it; of nothing, if it cannot be read.
    func read<Content: Sendable>(
        _ decode: @escaping @Sendable ([UInt8]) -> Content,
        _ body: @escaping @MainLoop @Sendable (Content) -> Void
    ) {
        let (path, maximumSize) = (self.path, self.maximumSize)
        do throws(GLibError) {
            try BackgroundThread.start("memory") {
                let content = decode((try? SmallFile.read(path, maximumSize: maximumSize)) ?? [])
                MainLoop.start { body(content) }
            }
        } catch {
            brokerLog.debug("\(path) is not read: \(error.message)")
            MainLoop.start { body(decode([])) }
        }
    }

    /// Writes to the file, for the user alone, what `make` makes on a thread. Of several, the latest stays.
    func write(_ make: @escaping @Sendable () -> [UInt8]) {
        next = make
        writeNext()
    }

    private func writeNext() {
        guard !isWriting, let make = next else { return }
        let path = self.path
        do throws(GLibError) {
            try BackgroundThread.start("memory") { [self] in
                var complaint: String?
                do throws(KeyFileError) { try SmallFile.write(make(), to: path) } catch {
                    complaint = error.description
                }
                MainLoop.start { [complaint] in self.written(complaint) }
            }
            (next, isWriting) = (nil, true)
        } catch {
            brokerLog.debug("\(path) is not written: \(error.message)")
        }
    }

    private func written(_ complaint: String?) {
        if let complaint { brokerLog.info("\(what) is forgotten at the end of this program: \(complaint)") }
        isWriting = false
        writeNext()
    }
}
