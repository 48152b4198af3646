// SPDX-License-Identifier: LGPL-2.1-or-later

// An application whose functions delete the activity that calls them. It is called with its id, the activity type, and which
// function does: willSave, wasContinued, stream, failure, or continue, which also takes itself away. A line on the standard
// input sets a property; the line “end” ends the activity and makes it current, and “deep” sets a state that is refused.

#include "handoff.hpp"

#include <QtCore/QCoreApplication>
#include <QtCore/QSocketNotifier>

#include <cstdio>
#include <stdexcept>

#include <unistd.h>

int main(int count, char **arguments)
{
    QCoreApplication program(count, arguments);
    const QStringList words = program.arguments();
    const QString which = words.value(3);
    HandoffApplication application(words.value(1), {words.value(2)});
    QPointer<HandoffUserActivity> activity(new HandoffUserActivity(&application, words.value(2), QStringLiteral("Shopping")));
    // What it says is its own, so it may be read only for as long as the function itself is there.
    const QString said = QStringLiteral("deleted by ") + which;
    const auto deletes = [said](HandoffUserActivity *doomed) {
        delete doomed;
        puts(qPrintable(said));
        fflush(stdout);
    };
    HandoffUserActivity *doomed = activity;
    if (which == QLatin1String("willSave"))
        activity->onWillSave = [deletes, doomed](QVariantMap *, QString *) { deletes(doomed); };
    else if (which == QLatin1String("wasContinued"))
        activity->onWasContinued = [deletes, doomed](const HandoffDevice &) { deletes(doomed); };
    else if (which == QLatin1String("stream"))
        activity->onStream = [deletes, doomed](int stream) {
            close(stream);
            deletes(doomed);
        };
    else if (which == QLatin1String("failure")) {
        activity->onFailure = [deletes, doomed](const HandoffError &) { deletes(doomed); };
        activity->onWillSave = [](QVariantMap *, QString *) { throw std::runtime_error("nokey"); };
    }
    application.onContinue = [&application, deletes](HandoffUserActivity *received, const HandoffDevice &, QString *) {
        application.onContinue = nullptr;
        deletes(received);
        return true;
    };
    QSocketNotifier notifier(0, QSocketNotifier::Read);
    QObject::connect(&notifier, &QSocketNotifier::activated, &program, [&] {
        char some[100];
        const QByteArray line(some, int(qMax<ssize_t>(read(0, some, sizeof some), 0)));
        notifier.setEnabled(!line.isEmpty());
        if (activity && line.startsWith("end")) {
            activity->invalidate();
            activity->becomeCurrent();
        } else if (activity && line.startsWith("deep")) {
            QVariantList list;
            for (int level = 0; level < 40; level++)
                list = QVariantList{QVariant(list)};
            activity->setUserInfo({{QStringLiteral("a"), list}});
        } else if (activity) {
            activity->set(QStringLiteral("WebpageURL"), QStringLiteral("https://example.com/"));
        }
    });
    application.start();
    activity->becomeCurrent();
    return program.exec();
}
