// SPDX-License-Identifier: LGPL-2.1-or-later

// A note in a terminal: each line that is typed is the note from then on, and can be continued where its user goes.

#include "handoff.hpp"
#include <QtCore/QCoreApplication>
#include <QtCore/QSocketNotifier>
#include <iostream>

const QString type = QStringLiteral("org.example.Note.edit");

struct Note {
    HandoffApplication application{QStringLiteral("org.example.Note"), {type}};
    HandoffUserActivity editing{&application, type};
    QString text;

    Note()
    {
        editing.onWillSave = [this](QVariantMap *userInfo, QString *) { (*userInfo)[QStringLiteral("text")] = text; };
        editing.onWasContinued = [this](const HandoffDevice &device) {
            editing.resignCurrent();
            std::cout << "Continued on " << qPrintable(device.name) << "." << std::endl;
        };
        application.onContinue = [this](HandoffUserActivity *activity, const HandoffDevice &device, QString *error) {
            activity->deleteLater();
            const QVariant state = activity->userInfo().value(QStringLiteral("text"));
            if (state.userType() != QMetaType::QString) {
                *error = QStringLiteral("This note is of a newer version of the application. Update it here.");
                return false;
            }
            std::cout << qPrintable(state.toString()) << "\n  from " << qPrintable(device.name) << std::endl;
            // From now on it is the note of this device, and can be continued from here.
            edit(state.toString());
            return true;
        };
        application.start();
    }

    void edit(const QString &newText)
    {
        text = newText;
        editing.setTitle(text);
        editing.becomeCurrent();
        editing.setNeedsSave(true);
    }
};

int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
    Note note;
    QSocketNotifier input(0, QSocketNotifier::Read);
    QObject::connect(&input, &QSocketNotifier::activated, &application, [&] {
        std::string line;
        if (!std::getline(std::cin, line))
            return input.setEnabled(false);
        note.edit(QString::fromStdString(line));
    });
    return application.exec();
}
