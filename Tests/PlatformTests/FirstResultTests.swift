// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import Testing

struct FirstResultTests {
    @Test("the first result is what was found, though nothing would be found when asked again")
    func once() {
        var asked: [Int] = []
        let found = [1, 2, 3].firstResult { number -> Int? in
            defer { asked.append(number) }
            return number == 2 && !asked.contains(2) ? 20 : nil
        }
        #expect(found == 20 && asked == [1, 2])
        #expect([Int]().firstResult { $0 } == nil)
    }
}
