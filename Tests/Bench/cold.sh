# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The application of a benchmark that the bus starts. To be sourced after machines.sh.

# install_cold_application: on the machine that is now; $source is the source tree.
install_cold_application() {
    mkdir -p -- "$home"/data/{applications,dbus-1/services}
    cat >"$home/data/dbus-1/services/org.example.Bench.Cold.service" <<END
[D-BUS Service]
Name=org.example.Bench.Cold
Exec=/usr/bin/python3 $source/Tests/Bench/cold_application.py
END
    cat >"$home/data/applications/org.example.Bench.Cold.desktop" <<END
[Desktop Entry]
Type=Application
Name=Cold
DBusActivatable=true
Implements=org.example.Handoff.Application;
X-Handoff-ActivityTypes=org.example.Bench.edit;
X-Handoff-Team=org.example.Bench
END
    gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
        --method org.freedesktop.DBus.ReloadConfig >/dev/null
}
