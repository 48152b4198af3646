# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a desktop brings along to a root in which somebody logs in: a session with systemd, and one without."""

from __future__ import annotations

from pathlib import Path

from bare_roots import USER

# What has a display, with nothing but what every desktop sets.
DISPLAY = """#!/bin/sh
set -e
cd
mkfifo "$XDG_RUNTIME_DIR/display"
Xvfb -displayfd 3 -screen 0 1000x700x24 -nolisten tcp 3<>"$XDG_RUNTIME_DIR/display" >/dev/null 2>&1 &
read number <"$XDG_RUNTIME_DIR/display"
rm "$XDG_RUNTIME_DIR/display"
export DISPLAY=":$number" GDK_BACKEND=x11 GSK_RENDERER=cairo LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y=atspi GTK_USE_PORTAL=0
export GSETTINGS_BACKEND=memory
# A Debian on which nobody has chosen a locale; systemd sets one all the same.
unset LANG
"""
# As GNOME and Plasma do it: a target of theirs brings graphical-session.target, and is stopped when the user logs out.
WITH_SYSTEMD = DISPLAY + """
systemctl --user unset-environment LANG
dbus-update-activation-environment --systemd DISPLAY GDK_BACKEND GSK_RENDERER LIBGL_ALWAYS_SOFTWARE GTK_A11Y GTK_USE_PORTAL \\
    GSETTINGS_BACKEND
env >"$XDG_RUNTIME_DIR/environment"
systemctl --user start desktop.target
trap 'systemctl --user stop desktop.target; kill $!; exit 0' TERM
wait $!
"""
# As a small window manager does it: the entries for autostart. It ends with its input, and its bus with it.
WITHOUT_SYSTEMD = DISPLAY + """
env >"$XDG_RUNTIME_DIR/environment.new"
dbus-update-activation-environment DISPLAY GDK_BACKEND GSK_RENDERER LIBGL_ALWAYS_SOFTWARE GTK_A11Y GTK_USE_PORTAL \\
    GSETTINGS_BACKEND
dex --autostart
mv "$XDG_RUNTIME_DIR/environment.new" "$XDG_RUNTIME_DIR/environment"
cat >/dev/null
kill $!
"""
TARGET = """[Unit]
Description=A desktop
BindsTo=graphical-session.target
Wants=xdg-desktop-autostart.target
"""
# What a display manager does once somebody has said who they are.
SERVICE = f"""[Unit]
Description=The session of a user who has logged in
After=systemd-user-sessions.service systemd-logind.service dbus.service

[Service]
User={USER}
PAMName=desktop
Environment=XDG_SESSION_TYPE=x11
ExecStart=/usr/local/bin/with-systemd
"""
PAM = """auth required pam_permit.so
account required pam_permit.so
session required pam_unix.so
session required pam_systemd.so
"""
FILES = {
    "usr/local/bin/with-systemd": WITH_SYSTEMD, "usr/local/bin/without-systemd": WITHOUT_SYSTEMD,
    "etc/systemd/user/desktop.target": TARGET, "etc/systemd/system/desktop.service": SERVICE, "etc/pam.d/desktop": PAM}


def put(root: Path) -> None:
    """Puts this into a root."""
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if "/bin/" in name else 0o644)
